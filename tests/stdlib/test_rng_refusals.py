"""Arguments that Stan's rngs refuse by the checks in their headers, and others at the edge that they take.

Asked of Stan 2.35, except where a comment says otherwise.
"""

import numpy as np
import pytest
from laws.every import every

import ppl
from ppl.errors import Rejection
from ppl.run.table import tabulate
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.drawing import drawn, rng_args
from ppl.stdlib.library import standard
from ppl.stdlib.signatures import parse_signature
from ppl.stdlib.supports import STRUCTURED, SUPPORTS

INF, NAN = np.inf, np.nan
FAMILIES = {d.name: d for d in DISTRIBUTIONS if d.rng is not None}

FINITE = ((-3.0, 0.0, 1e9), (NAN, INF, -INF))
POSITIVE = ((1e-3, 1e3), (0.0, -1.0, NAN, INF))
UNIT = ((0.0, 1.0), (-0.1, 1.1, NAN))
COUNT, SIZE = ((0, 1, 50), (-1,)), ((1, 4), (0, -1))
SIMPLEX = (([1.0, 0.0], [0.3, 0.7 + 5e-9]), ([-0.5, 3.0], [-0.5, 1.5], [0.3, 0.71], [NAN, 0.5], [INF, 0.0]))
WEIGHTS = (([1e-3, 1e3],), ([0.0, 1.0], [-0.5, 1.0], [NAN, 1.0], [1.0, INF]))
LOGITS = (([-700.0, 700.0],), ([NAN, 0.0], [-INF, 0.0], [0.0, INF]))
CUTPOINTS = (
    ([0.0, 1e-9, 1.0],),
    ([0.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, NAN, 1.0], [0.0, 1.0, NAN], [-INF, 0.0, 1.0], [0.0, 1.0, INF]),
)
COVARIANCE = (
    ([[2.0, 0.3], [0.3 + 5e-9, 1.0]],),
    (
        [[2.0, 0.3], [0.31, 1.0]],
        [[1.0, 1.0], [1.0, 1.0]],
        [[-1.0, 0.0], [0.0, 1.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[NAN, 0.0], [0.0, 1.0]],
        [[2.0, NAN], [NAN, 1.0]],
        [[2.0, INF], [INF, 1.0]],
        [[INF, 0.0], [0.0, 1.0]],  # some of Stan's rngs take it, and draw inf or nan
    ),
)
FACTOR = (
    ([[2.0, 0.0], [-3.0, 1.0]],),
    (
        [[2.0, 1e-9], [0.3, 1.0]],
        [[-2.0, 0.0], [0.3, 1.0]],
        [[2.0, 0.0], [0.3, 0.0]],
        [[NAN, 0.0], [0.3, 1.0]],
        [[2.0, NAN], [0.3, 1.0]],
    ),
)
LOCATION = (([-3.0, 1e9],), ([NAN, 0.0], [0.0, INF]))
DEGREES = ((1.01, 1e3), (1.0, 0.5, -1.0, NAN, INF))
S, L = [[2.0, 0.3], [0.3, 1.0]], [[2.0, 0.0], [0.3, 1.0]]
OMEGA, GAMMA = [[-0.1, -0.3], [-0.8, -0.2]], [[0.3, 0.7], [0.4, 0.6]]

USUAL = {
    "real": (0.1, FINITE),
    "positive": (1.2, POSITIVE),
    "unit_interval": (0.4, UNIT),
    "open_unit": (0.4, ((1e-3, 0.999), (0.0, 1.0, -0.1, 1.1, NAN))),
}
"""Of an argument's support: a value, and what is taken and refused."""

EXCEPTIONS = [
    ("lognormal", (0.1, 1.2), (((-3.0, 0.0), FINITE[1]), POSITIVE)),
    ("uniform", (0.1, 1.2), (((1.1,), (1.2, 1.3, NAN, INF, -INF)), ((0.2,), (0.1, 0.0, NAN, INF)))),
    ("von_mises", (0.1, 1.2), (((100.0,), (NAN, INF)), ((0.0, 1e9), (-1.0, NAN, INF)))),
    ("poisson", (0.3,), (((1e-9, 2.0**30 - 1.0), (0.0, -1.0, 2.0**30, NAN, INF)),)),
    ("poisson_log", (0.3,), (((-800.0, 20.79), (20.8, NAN, INF, -INF)),)),
    ("neg_binomial_2", (0.3, 0.4), (POSITIVE, POSITIVE)),
    ("neg_binomial_2", (1e-300, 1e-300), (((), ()), ((1e-300,), (1e300,)))),
    ("neg_binomial_2_log", (0.3, 0.4), (((-300.0, 3.0), (-800.0, 800.0, NAN, INF, -INF)), POSITIVE)),
    ("beta_neg_binomial", (3.0, 5.0, 1.2), (POSITIVE, ((2.0,), POSITIVE[1]), POSITIVE)),  # not in Stan 2.35
    ("yule_simon", (3.0,), (((1.0, 1e3), POSITIVE[1]),)),  # not in Stan 2.35
    ("binomial", (3, 0.4), (COUNT, UNIT)),
    ("beta_binomial", (3, 0.4, 0.6), (COUNT, POSITIVE, POSITIVE)),
    ("discrete_range", (1, 4), (((4, -9), (5,)), ((1,), (0,)))),
    ("hypergeometric", (3, 4, 5), (((1, 8), (0, -1, 10)), SIZE, SIZE)),
    ("categorical", ([0.3, 0.7],), (SIMPLEX,)),
    ("categorical_logit", ([0.3, 0.7],), (LOGITS,)),
    ("ordered_logistic", (0.3, [0.0, 1.0, 2.0]), (FINITE, CUTPOINTS)),
    ("ordered_probit", (0.3, [0.0, 1.0, 2.0]), (FINITE, CUTPOINTS)),
    ("dirichlet", ([0.3, 0.7],), (WEIGHTS,)),  # Stan checks nothing here, and draws nan or by what is left
    ("multinomial", ([0.3, 0.7], 3), (SIMPLEX, COUNT)),
    ("multinomial_logit", ([0.3, 0.7], 3), (LOGITS, COUNT)),
    ("dirichlet_multinomial", ([0.3, 0.7], 3), (WEIGHTS, COUNT)),
    ("multi_normal", ([0.1, 0.2], S), (LOCATION, COVARIANCE)),
    ("multi_normal_cholesky", ([0.1, 0.2], L), (LOCATION, FACTOR)),
    ("multi_student_t", (3.0, [0.1, 0.2], S), (POSITIVE, LOCATION, COVARIANCE)),
    ("multi_student_t_cholesky", (3.0, [0.1, 0.2], L), (POSITIVE, LOCATION, FACTOR)),
    ("wishart", (3.0, S), (DEGREES, COVARIANCE)),
    ("wishart_cholesky", (3.0, L), (DEGREES, FACTOR)),
    ("inv_wishart", (3.0, S), (DEGREES, COVARIANCE)),
    ("inv_wishart_cholesky", (3.0, L), (((1.5, 1e3), DEGREES[1]), FACTOR)),
    ("lkj_corr", (2, 1.5), (SIZE, POSITIVE)),
    ("lkj_corr_cholesky", (2, 1.5), (SIZE, POSITIVE)),
    (
        "hmm_latent",
        (OMEGA, GAMMA, [0.5, 0.5]),
        (
            (([[-INF, -0.3], [-0.8, -0.2]],), ([[NAN, -0.3], [-0.8, -0.2]],)),  # Stan draws by nan
            (([[0.0, 1.0], [0.4, 0.6]],), ([[0.31, 0.7], [0.4, 0.6]], [[-0.3, 1.3], [0.4, 0.6]])),
            SIMPLEX,
        ),
    ),
    (
        "bernoulli_logit_glm",
        ([[0.3, 0.2]], [0.7], [0.6, 0.1]),
        (
            (([[-9.0, 9.0]],), ([[0.3, NAN]],)),
            (([-3.0],), ([INF],)),
            LOCATION,
        ),
    ),
]
TABLE = [
    *EXCEPTIONS,
    *[
        (name, *zip(*(USUAL[support] for _, support in rng_args(d)), strict=True))
        for name, d in FAMILIES.items()
        if rng_args(d)
        and {support for _, support in rng_args(d)} <= USUAL.keys()
        and name not in {name for name, *_ in EXCEPTIONS}
    ],
]
"""Families whose arguments all have usual supports need no line."""
CASES = [
    (name, good, which, taken, refused)
    for name, good, sets in TABLE
    for which, (taken, refused) in enumerate(sets)
    if taken or refused
]
ONE_CALL_EACH = ("hmm_latent", "bernoulli_logit_glm")  # rows of these take axes in another way


def generator():
    return np.random.default_rng(1)


def value(x):
    return np.array(x) if isinstance(x, list) else x


def arguments(good, which, x):
    return [value(x if i == which else g) for i, g in enumerate(good)]


def same(one, other):
    return np.array_equal(one, other, equal_nan=True)


def test_every_rng_is_in_the_table():
    assert {name for name, _, _ in TABLE} == FAMILIES.keys() - {"std_normal"}
    assert all(len(good) == len(rng_args(FAMILIES[name])) == len(sets) for name, good, sets in TABLE)


@pytest.mark.parametrize("name", FAMILIES)
def test_each_argument_of_an_rng_has_a_name_and_a_support(name):
    args = rng_args(FAMILIES[name])
    assert {support for _, support in args} <= SUPPORTS.keys()
    assert {relation.name for relation in FAMILIES[name].relations} <= {arg for arg, _ in args}
    for overload in standard().callees[f"{name}_rng"].overloads:
        assert len(parse_signature(overload.signature).args) == len(args)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@every("name, good, which, taken, refused", CASES)
def test_alone(name, good, which, taken, refused):
    """What is taken gives the number that the family draws."""
    draw = drawn(FAMILIES[name])
    for x in taken:
        args = arguments(good, which, x)
        assert same(draw(generator(), *args), FAMILIES[name].rng(generator(), *args))
    for x in refused:
        with pytest.raises(Rejection, match=rf"^`{name}_rng`: "):
            draw(generator(), *arguments(good, which, x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@every(
    "name, good, which, taken, refused",
    [case for case in CASES if case[0] not in ONE_CALL_EACH and not ("lkj" in case[0] and case[2] == 0)],
)
def test_among_rows(name, good, which, taken, refused):
    draw, usual = drawn(FAMILIES[name]), good[which]
    args = arguments(good, which, [usual, *taken, usual])
    assert same(draw(generator(), *args), FAMILIES[name].rng(generator(), *args))
    for x in refused:
        with pytest.raises(Rejection):
            draw(generator(), *arguments(good, which, [usual, x, usual]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("normal_rng(0, -1)", "`normal_rng`: sigma is -1, but must be positive and finite."),
        ("normal_rng({0, not_a_number()}, 1)[1]", "`normal_rng`: mu[2] is nan, but must be finite."),
        ("uniform_rng(2, 1)", "`uniform_rng`: beta is 1, but must be greater than alpha."),
        ("poisson_rng(0)", "`poisson_rng`: lambda is 0, but must be positive and below 2^30."),
        (
            "categorical_rng([-0.5, 3]')",
            "`categorical_rng`: theta is not a simplex: element [1] is -0.5, but must be at least 0.",
        ),
        (
            "ordered_logistic_rng(0, [0, positive_infinity()]')",
            "`ordered_logistic_rng`: c must be strictly increasing and finite, and one at least.",
        ),
        (
            "ordered_probit_rng(0, [1, 0]')",
            "`ordered_probit_rng`: c is not ordered: element [2] is 0, "
            "but must be greater than the element before it, 1.",
        ),
        (
            "wishart_rng(1, identity_matrix(2))[1, 1]",
            "`wishart_rng`: nu is 1, but must be greater than K - 1 for K rows.",
        ),
        (
            "multi_normal_rng([0, 0]', [[negative_infinity(), 0], [0, 1]])[1]",
            "`multi_normal_rng`: Sigma has -inf at [1,1], but must be finite.",
        ),
        (
            "multi_normal_rng([0, 0]', [[-1, 0], [0, 1]])[1]",
            "`multi_normal_rng`: Sigma is not positive definite: its smallest eigenvalue is -1, "
            "but must be positive.",
        ),
    ],
)
def test_what_a_refusal_says(call, message):
    """In transformed data, in generated quantities, and in a function of the program, each at its line."""
    for program in (
        f"transformed data {{ real y = {call}; }}",
        f"functions {{ real f_rng() {{ return {call}; }} }} generated quantities {{ real y = f_rng(); }}",
        f"generated quantities {{ real y = {call}; }}",
    ):
        with pytest.raises(Rejection) as refusal:
            ppl.compile_model(program).condition({}, seed=1).param_constrain(
                [], include_tp=True, include_gq=True, rng=generator()
            )
        place, *_, last = str(refusal.value).split("\n")
        assert place.startswith("<string>:1:")
        assert last == message


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("neg_binomial", (9.0, 1e-9)),
        ("neg_binomial_2", (1e11, 9.0)),
        ("neg_binomial_2_log", (30.0, 9.0)),
        ("yule_simon", (0.01,)),
    ],
)
def test_a_count_that_needs_more_than_32_bits_is_refused(name, args):
    """Stan looks at the gamma variate that is the rate of the count."""
    with pytest.raises(
        Rejection, match=rf"^`{name}_rng`: the rate that it drew is .*, but must be below 2\^30"
    ):
        drawn(FAMILIES[name])(generator(), *args)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("log_omega", "gamma"),
    [([[-INF, -0.3], [-INF, -0.2]], GAMMA), ([[-0.1, -INF], [-INF, -0.2]], [[1.0, 0.0], [0.4, 0.6]])],
)
def test_states_that_no_path_leads_through_are_refused(log_omega, gamma):
    """Stan draws by probabilities that are nan."""
    with pytest.raises(Rejection, match="no path of states has a positive probability"):
        drawn(FAMILIES["hmm_latent"])(generator(), value(log_omega), value(gamma), np.array([0.5, 0.5]))


GUARDED = """
data { int N; vector[N] t; }
parameters { real x; }
model { x ~ normal(0, 1); }
generated quantities {
  vector[N] y;
  for (n in 1:N) { if (t[n] + x > 0) y[n] = normal_rng(0, t[n] + x); else y[n] = 0; }
  real z = x > 0 ? gamma_rng(x, 1) : -1;
}
"""


def test_a_branch_that_no_draw_takes_is_not_refused():
    posterior = ppl.compile_model(GUARDED).condition({"N": 3, "t": [0.5, -0.5, 1.0]})
    us = np.linspace(-1.0, 1.0, 8)[:, None]
    together = posterior.param_constrain_draws(us, generator())
    alone = [posterior.param_constrain(u, True, True, generator()) for u in us]
    np.testing.assert_array_equal(together[:, 1:4] == 0, np.array(alone)[:, 1:4] == 0)
    np.testing.assert_array_equal(together[:, 4] == -1, us[:, 0] <= 0)


def test_the_draws_that_are_refused_fail_alone():
    block = "generated quantities { real y = normal_rng(0, x); }"
    program = f"parameters {{ real x; }} model {{ x ~ normal(0, 1); }} {block}"
    us = np.array([0.5, -1.0, 2.0, np.nan, 1.0])[:, None]
    table = tabulate(ppl.compile_model(program).condition({}), list(us), seed=1)
    np.testing.assert_array_equal(np.isnan(table.rows[:, 1]), [False, True, False, True, False])
    assert table.failed == 2
    assert "sigma is -1, but must be positive and finite" in table.reason


@pytest.mark.parametrize("support", [s for s in STRUCTURED if s.name in CONSTRAINT_BY_KEYWORD])
def test_the_check_of_many_values_is_that_of_each(support):
    draws = generator()
    shape = {1: (3,), 2: (3, 3)}[support.axes]
    x = support.sample(draws, (60, *shape))
    x[20:40] += draws.choice([0.0, 1e-9, 0.1, -2.0], (20, *shape), p=[0.6, 0.2, 0.1, 0.1])
    x.reshape(60, -1)[np.arange(40, 50), draws.integers(0, x[0].size, 10)] = np.nan
    check = CONSTRAINT_BY_KEYWORD[support.name].check
    found = support.contains(x)
    np.testing.assert_array_equal(found, [check(one, shape) is None for one in x])
    np.testing.assert_array_equal(found, [support.contains(one) for one in x])
    assert 20 <= found.sum() < 50


def test_correlations_of_small_shapes():
    """Gamma variates underflow: the correlation of two is then -1 or 1, each in half of the draws."""
    draws = FAMILIES["lkj_corr"].rng(generator(), 2, np.full(10_000, 1e-3))
    assert np.isfinite(draws).all()
    np.testing.assert_allclose(np.mean(draws[:, 0, 1]), 0.0, atol=0.05)
    assert np.mean(np.abs(draws[:, 0, 1]) > 0.999) > 0.98
