"""Laws of the families that take vectors and matrices: reference value, score, leading axes, draws."""

import itertools

import numpy as np
import pytest
import scipy.stats as st
from laws.every import every
from numpy.testing import assert_allclose
from scipy.special import expit, gammaln, log_softmax, logsumexp, softmax

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.supports import SUPPORTS

FAMILIES = {d.name: d for d in DISTRIBUTIONS if d.batch != "elementwise"}

SHAPES = {
    "multi_normal": [(3,), (3,), (3, 3)],
    "multi_normal_cholesky": [(3,), (3,), (3, 3)],
    "multi_normal_prec": [(3,), (3,), (3, 3)],
    "multi_student_t": [(3,), (), (3,), (3, 3)],
    "multi_student_t_cholesky": [(3,), (), (3,), (3, 3)],
    "multi_gp": [(2, 3), (3, 3), (2,)],
    "multi_gp_cholesky": [(2, 3), (3, 3), (2,)],
    "lkj_corr": [(4, 4), ()],
    "lkj_corr_cholesky": [(4, 4), ()],
    "lkj_cov": [(3, 3), (3,), (3,), ()],
    "wishart": [(3, 3), (), (3, 3)],
    "wishart_cholesky": [(3, 3), (), (3, 3)],
    "inv_wishart": [(3, 3), (), (3, 3)],
    "inv_wishart_cholesky": [(3, 3), (), (3, 3)],
    "dirichlet": [(4,), (4,)],
    "multinomial": [(4,), (4,)],
    "multinomial_logit": [(4,), (4,)],
    "dirichlet_multinomial": [(4,), (4,)],
    "categorical": [(), (4,)],
    "categorical_logit": [(), (4,)],
    "ordered_logistic": [(), (), (3,)],
    "ordered_probit": [(), (), (3,)],
    "gaussian_dlm_obs": [(2, 4), (3, 2), (3, 3), (2, 2), (3, 3), (3,), (3, 3)],
    "normal_id_glm": [(5,), (5, 2), (), (2,), ()],
    "bernoulli_logit_glm": [(5,), (5, 2), (), (2,)],
    "poisson_log_glm": [(5,), (5, 2), (5,), (2,)],
    "neg_binomial_2_log_glm": [(5,), (5, 2), (5,), (2,), ()],
    "binomial_logit_glm": [(5,), (5,), (5, 2), (), (2,)],
    "categorical_logit_glm": [(5,), (5, 2), (4,), (2, 4)],
    "ordered_logistic_glm": [(5,), (5, 2), (2,), (3,)],
    "hmm_latent": [(4,), (3, 4), (3, 3), (3,)],
}


def arguments(family, seed=1):
    """One sample of every argument; degrees of freedom large enough, trials no fewer than successes."""
    rng = np.random.default_rng(seed)
    values = [
        SUPPORTS[support].sample(rng, shape)
        for (_, support), shape in zip(family.args, SHAPES[family.name], strict=True)
    ]
    if "wishart" in family.name:
        values[1] = values[1] + 4.0
    if family.name == "binomial_logit_glm":
        values[1] = values[0] + values[1]
    if family.name == "gaussian_dlm_obs":
        values[3] = np.array([[1.3, 0.2], [0.2, 0.8]])
    return values


def test_every_family_has_shapes_and_a_reference():
    assert set(SHAPES) == set(FAMILIES)
    assert set(REFERENCES) == set(FAMILIES)


def test_every_support_is_known():
    assert {support for d in DISTRIBUTIONS for _, support in d.args} <= set(SUPPORTS)


# --- Values --------------------------------------------------------------------------------------


def lkj_by_partial_correlations(x, eta, keyword):
    """Column j of the canonical partial correlations is 2 beta(b, b) - 1 with b = eta + (K - 1 - j) / 2."""
    constraint, size = CONSTRAINT_BY_KEYWORD[keyword], len(x)
    u = constraint.unconstrain(x, x.shape)
    rows, columns = np.tril_indices(size, -1)
    if keyword == "corr_matrix":
        order = np.lexsort((rows, columns))
        rows, columns = rows[order], columns[order]
    b = eta + 0.5 * (size - 2 - columns)
    z = np.tanh(u)
    log_p = st.beta.logpdf((1 + z) / 2, b, b) - np.log(2) + np.log1p(-z * z)
    return np.sum(log_p) - np.sum(constraint.constrain(NUMPY, u, x.shape)[1])


def lkj_cov(y, mu, sigma, eta):
    scales = np.sqrt(np.diag(y))
    omega = y / np.outer(scales, scales)
    return np.sum(st.norm.logpdf(np.log(scales), mu, sigma) - np.log(scales)) + lkj_by_partial_correlations(
        omega, eta, "corr_matrix"
    )


def by_factor(log_density):
    """The density of a Cholesky factor from that of its square."""

    def reference(lower, nu, scale):
        factor, square = CONSTRAINT_BY_KEYWORD["cholesky_factor_cov"], CONSTRAINT_BY_KEYWORD["cov_matrix"]
        u = factor.unconstrain(lower, lower.shape)
        after, before = (np.sum(c.constrain(NUMPY, u, lower.shape)[1]) for c in (square, factor))
        return log_density(lower @ lower.T, nu, scale @ scale.T) + after - before

    return reference


def state_space(y, f, g, v, w, m0, c0):
    """The joint normal of all observations, written out."""
    steps, states = y.shape[1], len(m0)
    power = [np.linalg.matrix_power(g, k) for k in range(steps + 1)]
    mean = np.concatenate([f.T @ power[t + 1] @ m0 for t in range(steps)])

    def state_covariance(s, t):
        start = power[s + 1] @ c0 @ power[t + 1].T
        return start + sum(
            (power[s - k] @ w @ power[t - k].T for k in range(min(s, t) + 1)), np.zeros((states,) * 2)
        )

    blocks = [[f.T @ state_covariance(s, t) @ f + (s == t) * v for t in range(steps)] for s in range(steps)]
    return st.multivariate_normal.logpdf(y.T.ravel(), mean, np.block(blocks))


def ordered(cdf):
    def log_chance(y, eta, c):
        edges = np.concatenate([[-np.inf], c, [np.inf]])
        return np.log(cdf(edges[y] - eta) - cdf(edges[y - 1] - eta))

    return log_chance


def path_of_states(states, log_omega, gamma, rho):
    def joint(path):
        chance = rho[path[0]] * np.prod([gamma[i, j] for i, j in itertools.pairwise(path)])
        return np.log(chance) + sum(log_omega[k, t] for t, k in enumerate(path))

    paths = itertools.product(range(len(rho)), repeat=log_omega.shape[1])
    return joint(np.asarray(states) - 1) - logsumexp([joint(p) for p in paths])


def negative_binomial(y, x, alpha, beta, phi):
    mu = np.exp(alpha + x @ beta)
    return st.nbinom.logpmf(y, phi, phi / (phi + mu))


REFERENCES = {
    "multi_normal": st.multivariate_normal.logpdf,
    "multi_normal_cholesky": lambda y, mu, lower: st.multivariate_normal.logpdf(y, mu, lower @ lower.T),
    "multi_normal_prec": lambda y, mu, omega: st.multivariate_normal.logpdf(y, mu, np.linalg.inv(omega)),
    "multi_student_t": lambda y, nu, mu, sigma: st.multivariate_t.logpdf(y, mu, sigma, nu),
    "multi_student_t_cholesky": lambda y, nu, mu, lower: st.multivariate_t.logpdf(y, mu, lower @ lower.T, nu),
    "multi_gp": lambda y, sigma, w: sum(
        st.multivariate_normal.logpdf(row, None, sigma / p) for row, p in zip(y, w, strict=True)
    ),
    "multi_gp_cholesky": lambda y, lower, w: sum(
        st.multivariate_normal.logpdf(row, None, lower @ lower.T / p) for row, p in zip(y, w, strict=True)
    ),
    "lkj_corr": lambda omega, eta: lkj_by_partial_correlations(omega, eta, "corr_matrix"),
    "lkj_corr_cholesky": lambda lower, eta: lkj_by_partial_correlations(lower, eta, "cholesky_factor_corr"),
    "lkj_cov": lkj_cov,
    "wishart": st.wishart.logpdf,
    "wishart_cholesky": by_factor(st.wishart.logpdf),
    "inv_wishart": st.invwishart.logpdf,
    "inv_wishart_cholesky": by_factor(st.invwishart.logpdf),
    "dirichlet": st.dirichlet.logpdf,
    "multinomial": lambda y, theta: st.multinomial.logpmf(y, y.sum(), theta),
    "multinomial_logit": lambda y, gamma: st.multinomial.logpmf(y, y.sum(), softmax(gamma)),
    "dirichlet_multinomial": lambda y, alpha: st.dirichlet_multinomial.logpmf(y, alpha, y.sum()),
    "categorical": lambda y, theta: np.log(theta[y - 1]),
    "categorical_logit": lambda y, beta: log_softmax(beta)[y - 1],
    "ordered_logistic": ordered(expit),
    "ordered_probit": ordered(st.norm.cdf),
    "gaussian_dlm_obs": state_space,
    "normal_id_glm": lambda y, x, a, b, s: st.norm.logpdf(y, a + x @ b, s),
    "bernoulli_logit_glm": lambda y, x, a, b: st.bernoulli.logpmf(y, expit(a + x @ b)),
    "poisson_log_glm": lambda y, x, a, b: st.poisson.logpmf(y, np.exp(a + x @ b)),
    "neg_binomial_2_log_glm": negative_binomial,
    "binomial_logit_glm": lambda y, n, x, a, b: st.binom.logpmf(y, n, expit(a + x @ b)),
    "categorical_logit_glm": lambda y, x, a, b: log_softmax(a + x @ b, axis=1)[np.arange(len(y)), y - 1],
    "ordered_logistic_glm": lambda y, x, b, c: np.array(
        [ordered(expit)(k, eta, c) for k, eta in zip(y, x @ b, strict=True)]
    ),
    "hmm_latent": path_of_states,
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", [1, 2])
def test_value(name, seed):
    args = arguments(FAMILIES[name], seed)
    assert_allclose(FAMILIES[name].log_density(NUMPY, *args), REFERENCES[name](*args), rtol=1e-9, atol=1e-9)


# --- Gradients -----------------------------------------------------------------------------------


def free_coordinates(support, value):
    """(u, map): coordinates in which the argument can move without leaving its set."""
    constraint = CONSTRAINT_BY_KEYWORD.get(support)
    if constraint is None:
        return value, lambda xp, u: u
    return constraint.unconstrain(value, value.shape), lambda xp, u: constraint.constrain(xp, u, value.shape)[
        0
    ]


def central_difference(f, u, step=1e-5):
    steps = step * np.eye(np.size(u)).reshape(np.size(u), *np.shape(u))
    return np.reshape([(f(u + h) - f(u - h)) / (2 * step) for h in steps], np.shape(u))


@every(
    "name, which",
    [
        (name, i)
        for name, family in FAMILIES.items()
        for i, (_, support) in enumerate(family.args)
        if not SUPPORTS[support].discrete
    ],
    lambda case: case[0],
)
def test_gradient(name, which):
    family = FAMILIES[name]
    args = arguments(family, seed=3)
    u, constrained = free_coordinates(family.args[which][1], np.asarray(args[which]))

    def f(xp, u):
        return xp.np.sum(family.log_density(xp, *args[:which], constrained(xp, u), *args[which + 1 :]))

    value, gradient = value_and_grad(lambda u: f(AUTOGRAD, u), u)
    assert_allclose(value, f(NUMPY, u))
    assert_allclose(gradient, central_difference(lambda u: f(NUMPY, u), u), rtol=2e-6, atol=1e-7)


# --- Leading axes --------------------------------------------------------------------------------

LEADING = [name for name, family in FAMILIES.items() if family.batch == "leading"]


def stacked(family, count=4):
    return [
        np.stack(column) for column in zip(*(arguments(family, seed) for seed in range(count)), strict=True)
    ]


@pytest.mark.parametrize("name", LEADING)
def test_leading_axes_are_a_loop(name):
    family = FAMILIES[name]
    single, many = arguments(family, seed=9), stacked(family)
    for chosen in itertools.product([False, True], repeat=len(single)):
        args = [m if c else s for c, s, m in zip(chosen, single, many, strict=True)]
        rows = [[m[i] if c else s for c, s, m in zip(chosen, single, many, strict=True)] for i in range(4)]
        expected = [family.log_density(NUMPY, *row) for row in rows]
        found = family.log_density(NUMPY, *args)
        assert_allclose(found, expected if any(chosen) else expected[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", LEADING)
def test_gradient_over_leading_axes_is_a_loop(name):
    family = FAMILIES[name]
    single, many = arguments(family, seed=9), stacked(family)
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    for which, (_, support) in enumerate(family.args):
        if SUPPORTS[support].discrete:
            continue
        for shared in (False, True):
            others = [m if i != which else None for i, m in enumerate(many)]
            x = np.asarray(single[which] if shared else many[which], dtype=float)

            def batched(x, which=which, others=others):
                values = family.log_density(AUTOGRAD, *others[:which], x, *others[which + 1 :])
                return AUTOGRAD.np.sum(weights * values)

            def looped(x, which=which, others=others, shared=shared):
                return sum(
                    weights[i]
                    * family.log_density(
                        AUTOGRAD,
                        *(
                            x if j == which and shared else (x if j == which else m)[i]
                            for j, m in enumerate(others)
                        ),
                    )
                    for i in range(4)
                )

            assert_allclose(value_and_grad(batched, x)[1], value_and_grad(looped, x)[1], rtol=1e-9, atol=1e-9)


# --- Draws ---------------------------------------------------------------------------------------

DRAWS = 3000


def draw_arguments(name, args):
    """What the rng takes: the parameters, a size or a number of trials."""
    params = args[1:]
    if name in ("lkj_corr", "lkj_corr_cholesky"):
        return [len(args[0]), *params]
    return [*params, int(np.sum(args[0]))] if "multinomial" in name else params


@pytest.mark.rotate
@pytest.mark.parametrize("name", [name for name in LEADING if FAMILIES[name].rng is not None])
def test_draws_have_mean_score_zero(name):
    """E[d log p(y | theta) / d theta] = 0 under y ~ p(y | theta)."""
    family = FAMILIES[name]
    args = arguments(family, seed=5)
    rng = np.random.default_rng(6)
    y = np.stack([family.rng(rng, *draw_arguments(name, args)) for _ in range(DRAWS)])
    assert np.all(SUPPORTS[family.args[0][1]].contains(y[:50]))
    for which in range(1, len(args)):
        u, constrained = free_coordinates(family.args[which][1], np.asarray(args[which]))
        copies = np.broadcast_to(u, (DRAWS, *np.shape(u))).copy()

        def total(u, which=which, constrained=constrained):
            return AUTOGRAD.np.sum(
                family.log_density(AUTOGRAD, y, *args[1:which], constrained(AUTOGRAD, u), *args[which + 1 :])
            )

        score = value_and_grad(total, copies)[1].reshape(DRAWS, -1)
        error = score.std(axis=0) / np.sqrt(DRAWS)
        assert np.all(np.abs(score.mean(axis=0)) < 4.5 * error + 1e-12)


@pytest.mark.parametrize("name", ["multi_normal", "multi_normal_cholesky", "multi_student_t"])
def test_draws_for_an_array_of_locations(name):
    family = FAMILIES[name]
    args = arguments(family, seed=5)
    args[-2] = 10.0 * np.arange(6.0).reshape(2, 3)
    draws = np.stack([family.rng(np.random.default_rng(i), *args[1:]) for i in range(50)])
    assert draws.shape == (50, 2, 3)
    assert_allclose(draws.mean(axis=0), args[-2], atol=4.0)


def test_draws_of_hidden_states():
    family = FAMILIES["hmm_latent"]
    args = arguments(family)
    rng = np.random.default_rng(2)
    draws = [tuple(family.rng(rng, *args[1:])) for _ in range(2000)]
    for path in set(draws):
        p = np.exp(family.log_density(NUMPY, np.array(path), *args[1:]))
        assert abs(draws.count(path) / 2000 - p) < 4.5 * np.sqrt(p / 2000)


def test_draws_of_a_logistic_regression():
    x, alpha, beta = np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([0.2, -0.4]), np.array([0.5, -0.3])
    draws = [
        FAMILIES["bernoulli_logit_glm"].rng(np.random.default_rng(i), x, alpha, beta) for i in range(2000)
    ]
    assert_allclose(np.mean(draws, axis=0), expit(alpha + x @ beta), atol=0.05)


# --- Edges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, args",
    [
        ("multi_normal", ([0.1, 0.2], [0.0, 0.0], [[1.0, 1.5], [1.5, 1.0]])),
        ("multi_normal", ([0.1, 0.2], [0.0, 0.0], [[1.0, 0.5], [0.2, 1.0]])),
        ("multi_normal_prec", ([0.1, 0.2], [0.0, 0.0], [[1.0, 1.5], [1.5, 1.0]])),
        ("multi_normal_cholesky", ([0.1, 0.2], [0.0, 0.0], [[-1.0, 0.0], [0.5, 1.0]])),
        ("multi_student_t", ([0.1, 0.2], -1.0, [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])),
        ("lkj_corr", ([[1.0, 0.3], [0.3, 1.0]], -1.0)),
        ("lkj_corr", ([[1.1, 0.3], [0.3, 1.0]], 1.0)),
        ("lkj_corr_cholesky", ([[1.0, 0.0], [0.6, 0.8]], 0.0)),
        ("wishart", (np.eye(3), 1.5, np.eye(3))),
        ("inv_wishart", (-np.eye(2), 3.0, np.eye(2))),
        ("dirichlet", ([0.5, 0.7], [1.0, 2.0])),
        ("dirichlet", ([0.5, 0.5], [1.0, -2.0])),
        ("multinomial", (np.array([1, 2]), [0.5, 0.6])),
        ("categorical", (4, [0.2, 0.3, 0.5])),
        ("categorical", (0, [0.2, 0.3, 0.5])),
        ("categorical", (1, [0.2, 0.3, 0.6])),
        ("categorical_logit", (3, [0.2, 0.3])),
        ("ordered_logistic", (2, 0.5, [1.0, 1.0])),
        ("ordered_probit", (4, 0.5, [1.0, 2.0])),
    ],
)
def test_refused(name, args):
    args = [np.asarray(a) for a in args]
    with np.errstate(all="ignore"):
        value = FAMILIES[name].log_density(NUMPY, *args)
    assert np.isnan(value) or value == -np.inf


def test_a_batch_fails_only_where_it_must():
    sigma = np.stack([np.eye(2), -np.eye(2), 2 * np.eye(2)])
    value = FAMILIES["multi_normal"].log_density(NUMPY, np.zeros(2), np.zeros(2), sigma)
    assert_allclose(value, [-np.log(2 * np.pi), np.nan, -np.log(4 * np.pi)])


@pytest.mark.parametrize("size", [40.0, 400.0])
@pytest.mark.parametrize("y, sign", [(1, 1.0), (3, -1.0)])
def test_ordered_tails(size, y, sign):
    c = np.array([-1.0, 1.0])
    logistic = FAMILIES["ordered_logistic"].log_density(NUMPY, y, sign * size, c)
    assert_allclose(logistic, -(size + 1))
    probit = FAMILIES["ordered_probit"].log_density(NUMPY, y, sign * size, c)
    assert_allclose(probit, st.norm.logcdf(-(size + 1)), rtol=1e-12)
    value, slope = value_and_grad(
        lambda e: FAMILIES["ordered_probit"].log_density(AUTOGRAD, 2, e, c), sign * size
    )
    assert_allclose(value, st.norm.logcdf(-(size - 1)), rtol=1e-10)
    assert_allclose(slope, -sign * (size - 1), rtol=0.02)


def test_categorical_logit_far_out():
    value, gradient = value_and_grad(
        lambda b: FAMILIES["categorical_logit"].log_density(AUTOGRAD, 2, b), np.array([5e3, -5e3, 0.0])
    )
    assert_allclose(value, -1e4)
    assert_allclose(gradient, [-1.0, 1.0, 0.0])


def test_the_limit_of_many_degrees_of_freedom():
    y, mu, sigma = np.array([0.3, -1.0]), np.zeros(2), np.array([[1.0, 0.4], [0.4, 2.0]])
    normal = FAMILIES["multi_normal"].log_density(NUMPY, y, mu, sigma)
    for nu, tolerance in ((1e9, 1e-8), (1e15, 1e-14), (np.inf, 1e-14)):
        assert_allclose(
            FAMILIES["multi_student_t"].log_density(NUMPY, y, nu, mu, sigma), normal, rtol=tolerance
        )


def test_simplex_entries_of_zero():
    assert_allclose(FAMILIES["dirichlet"].log_density(NUMPY, np.array([0.0, 1.0]), np.ones(2)), 0.0)
    counts = FAMILIES["multinomial"].log_density(NUMPY, np.array([0, 3]), np.array([0.0, 1.0]))
    assert_allclose(counts, 0.0)


@pytest.mark.parametrize("name", FAMILIES)
def test_dropped_terms_are_finite_and_of_the_right_shape(name):
    family = FAMILIES[name]
    values = dict(zip([n for n, _ in family.args], arguments(family), strict=True))
    rows = np.shape(family.log_density(NUMPY, *values.values()))
    for needs, term, *sizes in family.constants:
        value = term(NUMPY, *(values[n] for n in (*needs, *(sizes[0] if sizes else ()))))
        assert np.shape(value) == rows and np.isfinite(value).all()


def test_multinomial_sums_to_one():
    paths = [np.array(p) for p in itertools.product(range(6), repeat=3) if sum(p) == 5]
    for name, parameter in (("multinomial", [0.2, 0.5, 0.3]), ("dirichlet_multinomial", [0.2, 0.5, 1.3])):
        log_p = [FAMILIES[name].log_density(NUMPY, y, np.array(parameter)) for y in paths]
        assert_allclose(logsumexp(log_p), 0.0, atol=1e-12)


def test_dirichlet_multinomial_with_huge_concentrations_is_multinomial():
    y, theta = np.array([3, 0, 2]), np.array([0.2, 0.5, 0.3])
    limit = FAMILIES["multinomial"].log_density(NUMPY, y, theta)
    assert_allclose(FAMILIES["dirichlet_multinomial"].log_density(NUMPY, y, 1e12 * theta), limit, rtol=1e-9)
    assert_allclose(limit, gammaln(6) - gammaln(4) - gammaln(3) + 3 * np.log(0.2) + 2 * np.log(0.3))
