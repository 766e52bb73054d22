"""A posterior with directions in which it is flat without end is refused by name; a proper one is fitted."""

import numpy as np
import pytest

import ppl
from ppl.arrays import NUMPY
from ppl.errors import InferenceError
from ppl.run.improper import flat_directions
from ppl.run.improper_lines import flat_lines, in_words
from ppl.run.posterior_target import PosteriorTarget
from ppl.stdlib.constraints.table import CONSTRAINTS

TUPLES = "parameters { array[2] tuple(real, vector[1]) t; } model { t[1].1 + t[2].2[1] ~ normal(0, 1); }"
BY_HAND = (
    "parameters { real u; } transformed parameters { real p = inv_logit(u); jacobian += log(p * (1 - p)); }"
)


def densities(posterior):
    return PosteriorTarget(posterior), PosteriorTarget(posterior, jacobian=False)


def endless(program, data=None):
    posterior = ppl.compile_model(program).condition(data or {})
    return [posterior.problem.names[k] for k in flat_directions(posterior.problem, *densities(posterior))]


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
        # Flat in a direction of no single parameter: see below.
        "parameters { real a; real b; } model { target += normal_lpdf(a + b | 0, 1); }",
        "model { }",
    ],
)
def test_what_is_proper_or_not_flat_is_let_through(program):
    assert endless(program) == []


def lines(program, data=None):
    posterior = ppl.compile_model(program).condition(data or {})
    whole, plain = densities(posterior)
    problem = posterior.problem
    return [in_words(problem.names, whole.kinds, line) for line in flat_lines(problem, whole, plain)]


FIVE = {"y": [1.0, 2.0, 0.5, 1.5, 3.0], "x": [0.1, 0.4, 0.2, 0.9, 1.3], "g": [1, 1, 2, 3, 3]}
ROWS = "data { vector[5] y; vector[5] x; array[5] int g; } "


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("parameters { real a; real b; } model { 1 ~ normal(a + b, 1); }", ["a - b"]),
        ("parameters { real a; real b; real<lower=0> s; } model { s ~ exponential(1); "
         "y ~ normal(a - b, s); }", ["a + b"]),
        ("parameters { real a; vector[3] b; } model { y ~ normal(a + b[g], 1); }", ["a - b.1 - b.2 - b.3"]),
        ("parameters { real a; real b; } model { y ~ normal(2 * a + b, 1); }", ["a - 2 b"]),
        ("parameters { real<lower=0> a; real<lower=0> b; } model { y ~ normal(0, a * b); }",
         ["log(a) - log(b)"]),
        ("parameters { vector[2] b; real c; } model { c ~ normal(0, 1); y ~ normal((b[1] + b[2]) * x, 1); }",
         ["b.1 - b.2"]),
    ],
)  # fmt: skip
def test_a_line_along_which_nothing_changes(program, found):
    reported = lines(ROWS + program, FIVE)
    assert reported == found


@pytest.mark.parametrize(
    "program",
    [
        "parameters { real a; real b; } model { a ~ normal(0, 1e7); y ~ normal(a + b, 1); }",
        "parameters { real a; real b; } model { b ~ cauchy(0, 1); y ~ normal(a + b, 1); }",
        "parameters { real a; real<lower=0, upper=1> p; } model { y ~ normal(a + logit(p), 1); }",
        "parameters { real a; real b; } model { y ~ normal(a + b * x, 1); }",
        "parameters { real a; real b; } model { y ~ normal(a + b, 1); target += -square(fdim(abs(a), 20)); }",
        "parameters { real<lower=0, upper=1> p; real<lower=0, upper=1> q; } model { 1 ~ bernoulli(0.5); }",
        "parameters { vector[2] b; } model { b ~ normal(0, 100); y ~ normal(b[1] * x + b[2] * x, 1); }",
    ],
)
def test_no_line_is_seen_where_there_is_none(program):
    assert lines(ROWS + program, FIVE) == []


def test_fits_and_chains_name_the_line():
    posterior = ppl.compile_model(ROWS + "parameters { real a; real b; } model { y ~ normal(a + b, 1); }")
    posterior = posterior.condition(FIVE)
    with pytest.raises(
        InferenceError, match=r"(?s)improper along `a - b`.*Give one of `a`, `b` a proper prior"
    ):
        posterior.variational()
    pytest.importorskip("nutpie")
    with pytest.raises(InferenceError, match="improper along `a - b`"):
        posterior.sample()


@pytest.mark.parametrize(("prior", "improper"), [("", True), ("b ~ normal(0, 1e7);", False)])
def test_a_line_through_many_groups(prior, improper):
    program = (
        "data { int J; array[2 * J] int g; vector[2 * J] y; } "
        "parameters { real a; vector[J] b; real<lower=0> s; } "
        f"model {{ y ~ normal(a + b[g], s); s ~ normal(0, 1); {prior} }}"
    )
    groups = 200
    data = {"J": groups, "g": np.repeat(np.arange(groups), 2) + 1, "y": np.arange(2.0 * groups)}
    assert [line[:17] for line in lines(program, data)] == ["a - b.1 - b.2 - b"] * improper


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
