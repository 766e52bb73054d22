"""The formula on the page of a multivariate distribution is its log density."""

from itertools import product
from textwrap import indent

import numpy as np
import pytest

import ppl
from ppl.arrays import NUMPY
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.multivariate_formulas import MULTIVARIATE, OF_HIDDEN_STATES
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.library import standard
from ppl.stdlib.reference import PAGE_WIDTH, reference

BY_NAME = {d.name: d for d in DISTRIBUTIONS}
K, M, N = 3, 2, 4
SQUARE = (K, K)
HIDDEN = {"log_omega": (K, N), "Gamma": SQUARE, "rho": (K,)}
REGRESSION = {"y": (N,), "x": (N, K), "beta": (K,)}
SHAPES = {
    "bernoulli_logit_glm": REGRESSION,
    "binomial_logit_glm": {**REGRESSION, "N": (N,)},
    "categorical": {"theta": (K,)},
    "categorical_logit": {"beta": (K,)},
    "categorical_logit_glm": {**REGRESSION, "alpha": (K,), "beta": SQUARE},
    "dirichlet": {"theta": (K,), "alpha": (K,)},
    "dirichlet_multinomial": {"y": (K,), "alpha": (K,)},
    "gaussian_dlm_obs": {
        **{"y": (M, N), "F": (K, M), "G": SQUARE, "V": (M, M)},
        **{"W": SQUARE, "m0": (K,), "C0": SQUARE},
    },
    "hmm_latent": {"states": (N,), **HIDDEN},
    "inv_wishart": {"W": SQUARE, "S": SQUARE},
    "inv_wishart_cholesky": {"L_W": SQUARE, "L_S": SQUARE},
    "lkj_corr": {"Omega": SQUARE},
    "lkj_corr_cholesky": {"L": SQUARE},
    "lkj_cov": {"y": SQUARE, "mu": (K,), "sigma": (K,)},
    "multi_gp": {"y": (K, M), "Sigma": (M, M), "w": (K,)},
    "multi_gp_cholesky": {"y": (K, M), "L": (M, M), "w": (K,)},
    "multi_normal": {"y": (K,), "mu": (K,), "Sigma": SQUARE},
    "multi_normal_cholesky": {"y": (K,), "mu": (K,), "L": SQUARE},
    "multi_normal_prec": {"y": (K,), "mu": (K,), "Omega": SQUARE},
    "multi_student_t": {"y": (K,), "mu": (K,), "Sigma": SQUARE},
    "multi_student_t_cholesky": {"y": (K,), "mu": (K,), "L": SQUARE},
    "multinomial": {"y": (K,), "theta": (K,)},
    "multinomial_logit": {"y": (K,), "gamma": (K,)},
    "neg_binomial_2_log_glm": REGRESSION,
    "normal_id_glm": REGRESSION,
    "ordered_logistic": {"c": (K - 1,)},
    "ordered_logistic_glm": {**REGRESSION, "c": (K - 1,)},
    "ordered_probit": {"c": (K - 1,)},
    "poisson_log_glm": REGRESSION,
    "wiener": {},
    "wishart": {"W": SQUARE, "S": SQUARE},
    "wishart_cholesky": {"L_W": SQUARE, "L_S": SQUARE},
}
"""The shapes of the arguments that are no single numbers."""
COVARIANCES = {("gaussian_dlm_obs", "V")}
"""Arguments that are covariances here, and may be something else."""
BETWEEN = {("wiener", "y"): (0.6, 2.0), ("wiener", "tau"): (0.1, 0.5)}
WHOLE = {"binary": 2, "count": 4, "category": K}
"""How many values are tried of a whole number."""


def a_value(rng, name, arg, support):
    shape = SHAPES[name].get(arg, ())
    match support:
        case _ if (name, arg) in BETWEEN:
            return rng.uniform(*BETWEEN[name, arg])
        case _ if support == "cov_matrix" or (name, arg) in COVARIANCES:
            return covariance(rng, shape[0])
        case "cholesky_factor_cov":
            return np.linalg.cholesky(covariance(rng, shape[0]))
        case "corr_matrix" | "cholesky_factor_corr":
            sigma = covariance(rng, shape[0])
            scales = np.sqrt(np.diag(sigma))
            found = sigma / np.outer(scales, scales)
            return found if support == "corr_matrix" else np.linalg.cholesky(found)
        case "simplex" | "row_stochastic_matrix":
            return rng.dirichlet(np.ones(shape[-1]), shape[:-1])
        case "ordered":
            return np.sort(rng.standard_normal(shape))
        case "binary" | "count" | "category":
            most = rng.integers(WHOLE[support], size=shape) + (support == "category")
            return most + 4 if arg == "N" else most
        case "positive" | "nonnegative":
            return rng.uniform(0.5, 3.0, shape) + (K if arg == "nu" else 0)
        case "open_unit":
            return rng.uniform(0.2, 0.8, shape)
        case _:
            return rng.standard_normal(shape)


def covariance(rng, size):
    factor = rng.standard_normal((size, size))
    return factor @ factor.T / size + 0.3 * np.eye(size)


def values(name, seed):
    """Arguments of a family by their names."""
    rng = np.random.default_rng(seed)
    args = [
        (arg, support) for arg, support in BY_NAME[name].args if not arg.startswith(("var_", "precision"))
    ]
    return {arg: a_value(rng, name, arg, support) for arg, support in args}


def declared(given):
    """`vector[3] mu;` and so on of values."""
    for name, value in given.items():
        value = np.asarray(value)
        sizes = ", ".join(map(str, value.shape))
        match value.dtype.kind, value.ndim:
            case "i", 0:
                yield f"int {name};"
            case "i", _:
                yield f"array[{sizes}] int {name};"
            case _, n:
                yield f"{('real', 'vector', 'matrix')[n]}{f'[{sizes}]' if n else ''} {name};"


def program(formulas, given, kind="real"):
    """A model whose generated quantities are what each formula makes of data such as `given`."""
    arguments = ", ".join(f"data {unsized(line)} {line.rstrip(';').split()[-1]}" for line in declared(given))
    functions = "".join(
        f"{kind} formula_{k}({arguments}) {{ {as_body(formula)} }}" for k, formula in enumerate(formulas)
    )
    size = f"[{K}, {N}]" if kind == "matrix" else ""
    found = "".join(f"{kind}{size} f{k} = formula_{k}({', '.join(given)});" for k in range(len(formulas)))
    return ppl.compile_model(
        f"""functions {{ {functions} }}
        data {{ {" ".join(declared(given))} }}
        parameters {{ real u; }}
        model {{ u ~ std_normal(); }}
        generated quantities {{ {found} }}"""
    )


def as_body(formula):
    """Statements, then the expression behind the last of them, which may go over several lines, returned."""
    lines = formula.split("\n")
    end = max((k + 1 for k, line in enumerate(lines) if line.endswith((";", "}"))), default=0)
    return "\n".join([*lines[:end], "return", *lines[end:], ";"])


def computed(model, given):
    return model.condition(given).param_constrain(np.zeros(1), include_gq=True)[1:]


def unsized(declaration):
    """`array[3] int y;` as `array[] int`, `vector[3] y;` as `vector`."""
    if declaration.startswith("array"):
        return "array[] int"
    return declaration.split()[0].partition("[")[0]


@pytest.mark.parametrize("name", sorted(MULTIVARIATE.keys() - {"hmm_latent"}))
def test_the_formula_is_the_log_density(name):
    given = values(name, 0)
    first, *rest = given
    density = f"{name}_{'lpmf' if BY_NAME[name].discrete else 'lpdf'}({first} | {', '.join(rest)})"
    model = program([MULTIVARIATE[name], density], given)
    for seed in range(3):
        formula, known = computed(model, values(name, seed))
        assert np.isfinite(known) and formula == pytest.approx(known, rel=1e-9, abs=1e-9), seed


def test_the_formula_of_hidden_states_is_the_mass_of_each_path():
    """Which the language has no word for; those of all paths sum to one."""
    given = values("hmm_latent", 5)
    model, total = program([MULTIVARIATE["hmm_latent"]], given), 0.0
    for path in product(range(1, K + 1), repeat=N):
        here = {**given, "states": np.array(path)}
        (formula,) = computed(model, here)
        assert formula == pytest.approx(float(BY_NAME["hmm_latent"].log_density(NUMPY, *here.values())))
        total += np.exp(formula)
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("name", OF_HIDDEN_STATES)
def test_the_formula_of_a_function_of_hidden_states_is_its_value(name):
    given = {arg: value for arg, value in values("hmm_latent", 6).items() if arg in HIDDEN}
    kind = "matrix" if name == "hmm_hidden_state_prob" else "real"
    model = program([OF_HIDDEN_STATES[name], f"{name}({', '.join(given)})"], given, kind)
    formula, known = np.split(computed(model, given), 2)
    assert np.isfinite(known).all() and formula == pytest.approx(known)


def test_every_family_has_a_formula():
    missing = {d.name for d in DISTRIBUTIONS} - FORMULAS.keys() - MULTIVARIATE.keys()
    assert not missing, "add it to ppl/stdlib/distributions/formulas.py or multivariate_formulas.py"
    assert {*FORMULAS, *MULTIVARIATE} <= {d.name for d in DISTRIBUTIONS}
    assert not FORMULAS.keys() & MULTIVARIATE.keys()
    assert {n for n in standard().callees if n.startswith("hmm_")} == {*OF_HIDDEN_STATES, "hmm_latent_rng"}


def test_the_pages_show_them_as_they_stand():
    assert "  hmm_marginal(log_omega, Gamma, rho) =\n\n    vector[size(rho)] a" in reference()["hmm_marginal"]
    for name, formula in MULTIVARIATE.items():
        assert indent(formula, "  ") in reference()[name]
        assert max(map(len, formula.splitlines())) <= PAGE_WIDTH - 2
