"""A fit that would not fit in memory is refused before it begins."""

import pytest

import ppl
from ppl import memory
from ppl.cmdstan import main as executable
from ppl.errors import InferenceError
from ppl.methods.run.settings import SbcSettings, Settings
from ppl.results.calibration.sbc import calibrated
from ppl.results.calibration.simulations import simulations_of
from ppl.run import memory_needed as needs
from ppl.run.memory_needed import numbers_of


def conditioned(program):
    return ppl.compile_model(program).condition({})


@pytest.mark.parametrize(
    "program",
    [
        "parameters { real x; } model { }",
        "parameters { array[2] tuple(vector[3], array[2] real) t; simplex[4] s; } model { } "
        "generated quantities { matrix[2, 3] m; array[3] int k; }",
        "model { }",
    ],
)
def test_columns_are_counted_without_their_names(program):
    posterior = conditioned(program)
    assert posterior.extent.columns == posterior.param_num(include_tp=True, include_gq=True)


MANY = conditioned("parameters { vector[20000] x; } model { x ~ normal(0, 1); }")


def test_draws_matrices_and_columns_count():
    few, many = (numbers_of(MANY.extent, Settings(draws=n)) for n in (100, 1100))
    assert many - few == 1000 * (2 * 20_000 + 20_000)
    assert (
        numbers_of(MANY.extent, Settings(algorithm="fullrank")) - numbers_of(MANY.extent, Settings())
        == 6 * 20_000**2
    )


@pytest.mark.parametrize(
    ("settings", "advice"),
    [({"algorithm": "fullrank"}, 'algorithm="meanfield"'), ({"draws": 100_000}, "fewer draws than 100000")],
)
def test_a_fit_too_large_is_refused_at_once(settings, advice, monkeypatch):
    monkeypatch.setattr(memory, "limits", lambda: iter([4 << 30]))
    with pytest.raises(
        InferenceError, match=f"20000 unconstrained.*of memory, and 4.0 GiB are free[.]\n.*{advice}"
    ) as no:
        MANY.variational(**settings)
    assert no.value.code == "PPL977"


SMALL = conditioned("parameters { real<lower=0> x; } model { x ~ normal(0, 1); }")
DRAWN = ppl.compile_model(
    "data { vector[2] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }"
)
AT_ONCE = {
    "runs": (lambda: SMALL.variational(runs=10**8), "best of 100000000 fits.*runs"),
    "more runs than can be counted": (lambda: SMALL.variational(runs=10**30), r"\(runs\)"),
    "draws of a gradient": (lambda: SMALL.variational(grad_samples=10**9), "A fit by auto"),
    "draws of NUTS": (lambda: SMALL.sample(num_samples=10**9), "1000000000 draws of 1 columns.*num_samples"),
    "warmup of NUTS": (lambda: SMALL.sample(num_warmup=10**9), r"\(num_warmup\)"),
    "chains of NUTS": (lambda: SMALL.sample(num_chains=10**7), "10000000 chains.*num_chains"),
    "parameters of NUTS": (lambda: MANY.sample(num_samples=10**4), "NUTS on 20000 unconstrained parameters"),
    "simulations": (
        lambda: calibrated(simulations_of(DRAWN, {}), SbcSettings(simulations=10**9)),
        "ranks of 1000000000 simulations needs.*simulations",
    ),
    "predictions": (
        lambda: DRAWN.prior_predictive({}, draws=10**9),
        "1000000000 draws of 3 columns .2 of `y`.",
    ),
    "more draws": (lambda: fit_of_small().more(10**9), "1000000000 draws"),
    "columns": (lambda: SMALL_FOR_MANY.variational(draws=10**4), "100001 columns .100000 of `log_lik`."),
}
SMALL_FOR_MANY = conditioned(
    "parameters { real x; } model { x ~ normal(0, 1); } "
    "generated quantities { vector[100000] log_lik = rep_vector(x, 100000); }"
)


def fit_of_small():
    return SMALL.variational(algorithm="meanfield", draws=10, iter=10)


@pytest.mark.parametrize("what", AT_ONCE)
def test_every_run_too_large_is_refused_at_once(what, monkeypatch):
    monkeypatch.setattr(memory, "limits", lambda: iter([4 << 30]))
    run, message = AT_ONCE[what]
    with pytest.raises(InferenceError, match=f"(?s){message}") as no:
        run()
    assert no.value.code == "PPL977" and "of memory, and 4.0 GiB are free" in str(no.value)


@pytest.mark.parametrize(
    "words",
    [
        "sample num_samples=1000000000",
        "sample algorithm=fixed_param num_samples=1000000000",
        "laplace mode=m.json draws=1000000000",
        "pathfinder num_paths=1000000000",
        "pathfinder num_elbo_draws=1000000000",
        "variational output_samples=1000000000",
    ],
)
def test_an_executable_refuses_it_too(words, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(memory, "limits", lambda: iter([4 << 30]))
    monkeypatch.chdir(tmp_path)
    assert executable.main("small", SMALL.source.text, ["./small", *words.split()]) == 1
    assert "of memory, and 4.0 GiB are free" in capsys.readouterr().err


def test_a_fit_that_runs_out_of_memory_is_refused(monkeypatch):
    def fails(*_):
        raise MemoryError("Unable to allocate 8 GiB")

    monkeypatch.setattr("ppl.run.driver.fit", fails)
    with pytest.raises(
        InferenceError, match=r"too little memory: .* free[.] Unable to allocate 8 GiB[.]"
    ) as no:
        fit_of_small()
    assert no.value.code == "PPL977"


def test_what_a_path_keeps_is_what_the_search_for_a_start_allows():
    from ppl.methods.initialise import lbfgs_path

    assert lbfgs_path.LBFGS_PATH is needs.LBFGS_PATH
