"""A posterior with directions in which it is flat without end is refused by name; a proper one is fitted."""

import numpy as np
import pytest

import ppl
from ppl.arrays import NUMPY
from ppl.errors import InferenceError
from ppl.results.fits.improper import endless_directions
from ppl.stdlib.constraints.table import CONSTRAINTS

TUPLES = "parameters { array[2] tuple(real, vector[1]) t; } model { t[1].1 + t[2].2[1] ~ normal(0, 1); }"
BY_HAND = (
    "parameters { real u; } transformed parameters { real p = inv_logit(u); jacobian += log(p * (1 - p)); }"
)


def endless(program, data=None):
    posterior = ppl.compile_model(program).condition(data or {})
    names = posterior.param_unc_names()
    return [names[k] for k in endless_directions(posterior)]


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("parameters { real x; } model { }", ["x"]),
        ("parameters { real x; real y; } model { y ~ normal(0, 1); }", ["x"]),
        ("parameters { vector[3] x; } model { x[2] ~ normal(0, 1); }", ["x.1", "x.3"]),
        ("parameters { real<lower=0> x; real<upper=0> y; } model { }", ["x", "y"]),
        ("parameters { real<lower=0, upper=positive_infinity()> x; } model { }", ["x"]),
        ("parameters { real<offset=1, multiplier=2> x; } model { }", ["x"]),
        ("parameters { ordered[2] x; } model { x[1] ~ normal(0, 1); }", ["x.2"]),
        ("parameters { cov_matrix[2] S; } model { }", ["S.1", "S.2", "S.3"]),
        ("parameters { sum_to_zero_vector[3] z; } model { }", ["z.1", "z.2"]),
        (TUPLES, ["t.1:2.1", "t.2:1"]),
    ],
)  # fmt: skip
def test_a_parameter_without_an_end_that_nothing_depends_on(program, names):
    assert endless(program) == names


@pytest.mark.parametrize(
    "program",
    [
        "parameters { real<lower=0, upper=1> p; } model { }",
        "parameters { real<lower=0, upper=2> a; real<lower=a, upper=a + 1> b; } model { }",
        "parameters { simplex[3] s; } model { s[1] ~ beta(2, 2); }",
        "parameters { cholesky_factor_corr[3] L; corr_matrix[3] C; unit_vector[3] v; } model { }",
        BY_HAND,
        # Flat where it is tried, not everywhere.
        "parameters { real x; } model { target += -square(fdim(abs(x), 20)); }",
        "parameters { real x; } model { if (abs(x) > 5) target += -abs(x); }",
        # Flat in a direction of no single parameter is for the verdict to find.
        "parameters { real a; real b; } model { target += normal_lpdf(a + b | 0, 1); }",
        "model { }",
    ],
)
def test_what_is_proper_or_not_flat_is_let_through(program):
    assert endless(program) == []


def test_a_point_that_is_impossible_says_nothing():
    assert endless("parameters { real x; } model { reject(\"never\"); }") == []  # fmt: skip


def test_many_parameters_take_a_few_evaluations():
    found = endless("parameters { vector[5000] x; } model { x[1:2500] ~ normal(0, 1); }")
    assert len(found) == 2500 and found[0] == "x.2501"


def test_a_fit_is_refused_with_the_names():
    posterior = ppl.compile_model("parameters { vector[20] x; } model { x[1] ~ normal(0, 1); }").condition({})
    with pytest.raises(
        InferenceError, match=r"(?s)improper.* `x\.2`, .*`x\.11` and 9 more.*x ~ normal"
    ) as refused:
        posterior.variational()
    assert refused.value.code == "PPL976"


def test_an_unused_probability_is_uniform():
    fit = (
        ppl.compile_model("parameters { real<lower=0, upper=1> p; } model { }")
        .condition({})
        .variational(draws=4000)
    )
    np.testing.assert_allclose(np.quantile(fit.draws(), [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.03)


BOUNDS = {"lower": (0.0,), "upper": (0.0,), "lower_upper": (0.0, 1.0), "offset_multiplier": (0.0, 1.0)}


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=lambda c: c.keyword)
def test_a_bounded_set_is_bounded(constraint):
    """However far out, values of a bounded set stay within 1."""
    shape = (3, 3) if "matrix" in constraint.keyword or "cholesky" in constraint.keyword else (3,)
    free = np.random.default_rng(1).uniform(-8, 8, (200, *constraint.free_shape(shape)))
    x, _ = constraint.constrain(NUMPY, free, shape, *BOUNDS.get(constraint.keyword, ()))
    inside = np.abs(x).max() <= 1 + 1e-9
    assert inside == (constraint.bounded or constraint.keyword == "lower_upper")
