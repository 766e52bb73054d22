"""The words that CmdStanR gives an executable, in its order, and what it takes from the comments of files.

CmdStanR puts what is common before the method, and reads each `key = value` of the comments into one flat
list, later ones over earlier ones unless they are empty.
"""

import pytest

HEAD = "id=1 random seed=123 init=2 data file=data.json output file={0}.csv refresh=0 sig_figs=8"
METHODS = {
    "variational": (
        "method=variational algorithm=meanfield iter=1000 grad_samples=1 elbo_samples=100 eta=1 "
        "tol_rel_obj=0.01 eval_elbo=100 output_samples=50 adapt engaged=1 iter=50",
        {"algorithm": "meanfield", "output_samples": "50", "engaged": "true"},
    ),
    "optimize": (
        "method=optimize iter=200 jacobian=1 save_iterations=0 algorithm=lbfgs init_alpha=0.001 "
        "tol_obj=1e-12 tol_rel_obj=10000 tol_grad=1e-8 tol_rel_grad=1e7 tol_param=1e-8 history_size=5",
        {"algorithm": "lbfgs", "iter": "200", "jacobian": "true", "history_size": "5"},
    ),
    "laplace": ("method=laplace mode=optimize.csv draws=40 jacobian=1", {"draws": "40", "jacobian": "true"}),
    "pathfinder": (
        "method=pathfinder init_alpha=0.001 tol_obj=1e-12 history_size=5 num_psis_draws=50 num_paths=2 "
        "save_single_paths=0 max_lbfgs_iters=100 num_draws=50 num_elbo_draws=25",
        {"num_paths": "2", "num_psis_draws": "50"},
    ),
    "sample": (
        "method=sample num_samples=40 num_warmup=50 save_warmup=0 thin=1 algorithm=hmc metric=diag_e "
        "stepsize=1 engine=nuts max_depth=10 adapt delta=0.8 engaged=1 init_buffer=15 term_buffer=10 "
        "window=25",
        {"algorithm": "hmc", "num_samples": "40", "num_warmup": "50", "thin": "1", "metric": "diag_e"},
    ),
    "generate_quantities": ("method=generate_quantities fitted_params=sample.csv", {}),
}
AFTER = {"laplace": "optimize", "generate_quantities": "sample"}
"""The method whose file another one takes."""


def flat(text):
    found = {}
    for line in text.splitlines():
        key, *values = line.removeprefix("#").replace("(Default)", "").split("=")
        if line.startswith("#") and len(values) == 1 and values[0].strip():
            found[key.strip()] = values[0].strip()
    return found


@pytest.mark.parametrize("method", METHODS)
def test_its_words_run_and_its_reader_finds_what_was_run(method, bernoulli):
    for name in filter(None, (AFTER.get(method), method)):
        words, _ = METHODS[name]
        bernoulli(f"{HEAD.format(name)} {words}")
    read, expected = flat(bernoulli.read(f"{method}.csv")), METHODS[method][1]
    common = {"method": method, "id": "1", "seed": "123", "init": "2", "model": "bernoulli_model"}
    assert {**common, **expected}.items() <= read.items()
