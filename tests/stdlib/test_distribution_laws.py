"""Laws of every univariate distribution of the table; a new family is held to them without a line here."""

import itertools
import re
from collections.abc import Callable

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.record import Distribution
from ppl.stdlib.supports import SUPPORTS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # invalid points are tried on purpose

SCALARS = {"reals", "ints", "real", "int"}


def is_univariate(d: Distribution) -> bool:
    return bool(d.signatures) and set(re.findall(r"\w+", d.signatures[0])) <= SCALARS


UNIVARIATE = [d for d in DISTRIBUTIONS if is_univariate(d)]
CONTINUOUS = [d for d in UNIVARIATE if not d.discrete]
DISCRETE = [d for d in UNIVARIATE if d.discrete]
TAILS = ("log_density", "cdf", "lcdf", "lccdf")

IMPROPER = {"wiener": "the density of hitting the upper boundary, which may never happen"}
UNBOUNDED_SUM = 4000


def names(distributions: list[Distribution]) -> list[str]:
    return [d.name for d in distributions]


each = pytest.mark.parametrize("d", UNIVARIATE, ids=names(UNIVARIATE))
each_continuous = pytest.mark.parametrize("d", CONTINUOUS, ids=names(CONTINUOUS))
each_discrete = pytest.mark.parametrize("d", DISCRETE, ids=names(DISCRETE))


def sample_parameters(d: Distribution, generator: np.random.Generator) -> list[float | int]:
    return [SUPPORTS[support].sample(generator, ()).item() for _, support in d.args[1:]]


def sample_variate(d: Distribution, generator: np.random.Generator, parameters: list) -> float | int:
    if d.rng is not None:
        return np.asarray(d.rng(generator, *parameters)).item()
    return SUPPORTS[d.args[0][1]].sample(generator, ()).item()


def sample_points(d: Distribution, n: int, seed: int = 1) -> list[np.ndarray]:
    """n points (y, *parameters) of positive density, one array of shape (n,) for each argument."""
    generator, points = np.random.default_rng(seed), []
    for _ in range(1000):
        parameters = sample_parameters(d, generator)
        if np.isnan(d.log_density(NUMPY, 0, *parameters)):
            continue
        point = [sample_variate(d, generator, parameters), *parameters]
        if np.isfinite(d.log_density(NUMPY, *point)):
            points.append(point)
        if len(points) == n:
            return [np.array(column) for column in zip(*points, strict=True)]
    raise AssertionError(f"{d.name}: the supports of its record give no point of positive density")


def sample_valid_parameters(d: Distribution, seed: int = 1) -> list[float | int]:
    return [column[0].item() for column in sample_points(d, 1, seed)[1:]]


def functions_of(d: Distribution) -> list[tuple[str, Callable]]:
    return [(name, getattr(d, name)) for name in TAILS if getattr(d, name) is not None]


def real_arguments(d: Distribution) -> list[int]:
    return [i for i, (_, support) in enumerate(d.args) if not SUPPORTS[support].discrete]


HALF_LINE, UNIT = (0.0, np.inf), (0.0, 1.0)
ENDS = {"positive": HALF_LINE, "nonnegative": HALF_LINE, "unit_interval": UNIT, "open_unit": UNIT}
ENDS["angle"] = (-np.pi, np.pi)


def ends(support: str) -> tuple[float, float]:
    return ENDS.get(support, (-np.inf, np.inf))


def central_difference(f: Callable, x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Derivative of an elementwise f on (low, high): of three steps, the one at which it has settled."""
    room = np.minimum(1.0, np.minimum(x - low, high - x))
    long, middle, short = (_five_point(f, x, step * room) for step in (1e-3, 1e-4, 1e-5))
    return np.where(np.abs(long - middle) < np.abs(middle - short), middle, short)


def _five_point(f: Callable, x: np.ndarray, h: np.ndarray) -> np.ndarray:
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12.0 * h)


def test_every_other_record_is_multivariate():
    """Those have their laws in distributions/test_multivariate.py, which holds all not elementwise."""
    assert {d.name for d in UNIVARIATE} == {d.name for d in DISTRIBUTIONS if d.batch == "elementwise"}


@each
def test_every_argument_has_a_support(d):
    assert {support for _, support in d.args} <= SUPPORTS.keys()
    assert d.args[0][0] == "y"


@each
def test_gradient_is_the_central_difference(d):
    points = sample_points(d, 12)
    for name, function in functions_of(d):
        finite = np.isfinite(function(NUMPY, *points))
        some = [column[finite] for column in points]
        for i in real_arguments(d):

            def along(x, xp=NUMPY, i=i, function=function, some=some):
                return function(xp, *some[:i], x, *some[i + 1 :])

            at = some[i].astype(float)
            _, gradient = value_and_grad(lambda x, f=along: np.sum(f(x, AUTOGRAD)), at)
            expected = central_difference(along, at, *ends(d.args[i][1]))
            assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8, err_msg=f"{name} in {d.args[i][0]}")


@pytest.mark.parametrize("d", [d for d in UNIVARIATE if len(d.args) > 1], ids=lambda d: d.name)
def test_gradient_of_a_shared_argument_is_the_sum(d):
    """A scalar beside arrays gets the sum of the gradients it would get as an array of equal entries."""
    points = sample_points(d, 6, seed=5)
    for name, function in functions_of(d):
        for i in real_arguments(d):
            shared = points[i][0]
            mixed = [np.full(6, shared) if j == i else column for j, column in enumerate(points)]
            finite = np.isfinite(function(NUMPY, *mixed))
            some = [column[finite] for column in mixed]

            def along(x, i=i, function=function, some=some):
                return np.sum(function(AUTOGRAD, *some[:i], x, *some[i + 1 :]))

            _, entries = value_and_grad(along, some[i].astype(float))
            _, total = value_and_grad(along, np.float64(shared))
            message = f"{name} in {d.args[i][0]}"
            assert np.shape(total) == (), message
            assert_allclose(total, np.sum(entries), rtol=1e-10, atol=1e-12, err_msg=message)


@pytest.mark.parametrize("d", [d for d in UNIVARIATE if real_arguments(d)], ids=lambda d: d.name)
def test_gradient_at_a_single_point(d):
    """Scalars taken from a vector of parameters, as a program takes them."""
    points = [column[:1] for column in sample_points(d, 1, seed=6)]
    real = real_arguments(d)
    u = np.array([float(points[i][0]) for i in real])

    def arguments(v):
        return [v[real.index(i)] if i in real else points[i][0] for i in range(len(points))]

    for name, function in functions_of(d):
        if not np.isfinite(function(NUMPY, *points)[0]):
            continue
        _, gradient = value_and_grad(lambda v, f=function: f(AUTOGRAD, *arguments(v)), u)
        for i in real:

            def along(x, i=i, function=function):
                return np.sum(function(AUTOGRAD, *points[:i], x, *points[i + 1 :]))

            _, entry = value_and_grad(along, points[i].astype(float))
            assert_allclose(gradient[real.index(i)], entry[0], rtol=1e-12, atol=1e-14, err_msg=name)


@each
def test_both_namespaces_agree(d):
    points = sample_points(d, 5)
    for name, function in functions_of(d):
        assert_allclose(function(AUTOGRAD, *points), function(NUMPY, *points), rtol=1e-14, err_msg=name)


@each
def test_arrays_are_loops_over_scalars(d):
    points = sample_points(d, 5)
    for name, function in functions_of(d):
        loop = [function(NUMPY, *(column[k].item() for column in points)) for k in range(5)]
        assert_allclose(function(NUMPY, *points), loop, rtol=1e-12, atol=1e-14, err_msg=name)
        for i in range(len(points)):
            mixed = [column[0].item() if j == i else column for j, column in enumerate(points)]
            loop = [function(NUMPY, *(np.broadcast_to(c, 5)[k].item() for c in mixed)) for k in range(5)]
            assert_allclose(function(NUMPY, *mixed), loop, rtol=1e-12, atol=1e-14, err_msg=name)


@each
def test_an_empty_variate_has_an_empty_density(d):
    parameters = sample_valid_parameters(d)
    empty = np.zeros(0, int if d.discrete else float)
    for _, function in functions_of(d):
        assert np.shape(function(NUMPY, empty, *parameters)) == (0,)


def panels(d: Distribution, parameters: list, seed: int = 3) -> list[tuple[float, float]]:
    """Intervals on which the density is smooth: between quantiles of draws, parameters and ends."""
    generator = np.random.default_rng(seed)
    draws = [sample_variate(d, generator, parameters) for _ in range(400)]
    low, high = ends(d.args[0][1])
    inner = [*np.quantile(draws, [0.0, 0.1, 0.35, 0.65, 0.9, 1.0]), *parameters]
    edges = [low, *sorted({x for x in inner if low < x < high}), high]
    return list(itertools.pairwise(edges))


def integral(d: Distribution, parameters: list) -> float:
    def density(y: float) -> float:
        return np.exp(d.log_density(NUMPY, y, *parameters))

    return sum(scipy.integrate.quad(density, a, b, epsabs=1e-11)[0] for a, b in panels(d, parameters))


@pytest.mark.parametrize("d", [d for d in CONTINUOUS if d.name not in IMPROPER], ids=lambda d: d.name)
def test_density_integrates_to_one(d):
    for seed in (1, 2):
        assert integral(d, sample_valid_parameters(d, seed)) == pytest.approx(1.0, abs=1e-8)


@each_discrete
def test_mass_sums_to_one(d):
    for seed in (1, 2):
        parameters = sample_valid_parameters(d, seed)
        y = np.arange(-50, UNBOUNDED_SUM)
        total = np.sum(np.exp(d.log_density(NUMPY, y, *parameters)))
        beyond = np.exp(d.lccdf(NUMPY, y[-1], *parameters)) if d.lccdf else 0.0
        assert total + beyond == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("d", [d for d in CONTINUOUS if d.cdf is not None], ids=lambda d: d.name)
def test_slope_of_the_cdf_is_the_density(d):
    points = sample_points(d, 12, seed=2)
    _, slope = value_and_grad(lambda y: np.sum(d.cdf(AUTOGRAD, y, *points[1:])), points[0])
    assert_allclose(slope, np.exp(d.log_density(NUMPY, *points)), rtol=1e-10)


@pytest.mark.parametrize("d", [d for d in DISCRETE if d.cdf is not None], ids=lambda d: d.name)
def test_steps_of_the_cdf_are_the_mass(d):
    y, *parameters = sample_points(d, 12, seed=2)
    step = d.cdf(NUMPY, y, *parameters) - d.cdf(NUMPY, y - 1, *parameters)
    assert_allclose(step, np.exp(d.log_density(NUMPY, y, *parameters)), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("d", [d for d in UNIVARIATE if d.lccdf is not None], ids=lambda d: d.name)
def test_the_three_cdfs_agree(d):
    points = sample_points(d, 12, seed=3)
    lower, upper = np.exp(d.lcdf(NUMPY, *points)), np.exp(d.lccdf(NUMPY, *points))
    assert_allclose(lower + upper, 1.0, rtol=1e-12)
    if d.cdf is not None:
        assert_allclose(lower, d.cdf(NUMPY, *points), rtol=1e-11)


@pytest.mark.parametrize("d", [d for d in UNIVARIATE if d.rng is not None], ids=lambda d: d.name)
def test_draws_broadcast_like_the_density(d):
    parameters = sample_points(d, 4)[1:]
    generator = np.random.default_rng(1)
    assert np.shape(d.rng(generator, *(p[0].item() for p in parameters))) == ()
    if parameters:
        assert np.shape(d.rng(generator, *parameters)) == (4,)
        assert np.shape(d.rng(generator, parameters[0], *(p[0].item() for p in parameters[1:]))) == (4,)
    kind = "iu" if d.discrete else "f"
    assert np.asarray(d.rng(generator, *(p[0].item() for p in parameters))).dtype.kind in kind


def many_draws(d: Distribution, parameters: list, n: int) -> np.ndarray:
    generator = np.random.default_rng(11)
    if not parameters:
        return np.array([d.rng(generator) for _ in range(n)])
    return d.rng(generator, np.full(n, parameters[0]), *parameters[1:])


@pytest.mark.parametrize("d", [d for d in CONTINUOUS if d.rng is not None], ids=lambda d: d.name)
def test_draws_follow_the_cdf(d):
    """The probability transform of draws is uniform (Kolmogorov-Smirnov)."""
    parameters = sample_valid_parameters(d)
    draws = many_draws(d, parameters, 3000)
    heights = d.cdf(NUMPY, draws, *parameters) if d.cdf else np.exp(d.lcdf(NUMPY, draws, *parameters))
    assert scipy.stats.kstest(heights, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("d", [d for d in DISCRETE if d.rng is not None], ids=lambda d: d.name)
def test_draws_follow_the_mass(d):
    """Frequencies of the values against their probabilities, each within five standard errors."""
    parameters = sample_valid_parameters(d)
    draws = many_draws(d, parameters, 4000)
    values = np.arange(draws.min() - 1, min(draws.max() + 2, draws.min() + 40))
    mass = np.exp(d.log_density(NUMPY, values, *parameters))
    frequency = np.mean(draws[:, None] == values, axis=0)
    assert np.all(np.abs(frequency - mass) <= 5.0 * np.sqrt(mass * (1.0 - mass) / 4000) + 1e-12)


OUTSIDE = {
    "positive": (-0.5,),
    "nonnegative": (-0.5,),
    "unit_interval": (-0.2, 1.5),
    "count": (-1,),
    "binary": (-1, 2),
}


@pytest.mark.parametrize("d", [d for d in UNIVARIATE if d.args[0][1] in OUTSIDE], ids=lambda d: d.name)
def test_outside_the_support_the_density_is_zero(d):
    for y in OUTSIDE[d.args[0][1]]:
        assert d.log_density(NUMPY, y, *sample_valid_parameters(d)) == -np.inf


INVALID = {"positive": (-1.0, 0.0), "open_unit": (-0.1, 1.2), "unit_interval": (-0.1, 1.2)}


@each
def test_parameters_outside_their_domain_give_no_number(d):
    points = [column[0].item() for column in sample_points(d, 1)]
    for i, (_, support) in list(enumerate(d.args))[1:]:
        for bad in INVALID.get(support, ()):
            for name, function in functions_of(d):
                value = function(NUMPY, *points[:i], bad, *points[i + 1 :])
                assert np.isnan(value) or (name == "log_density" and value == -np.inf), (name, d.args[i])


@each
def test_constants_are_finite_terms_of_named_arguments(d):
    points = dict(zip([name for name, _ in d.args], sample_points(d, 4), strict=True))
    for needs, term, *sizes in d.constants:
        names = (*needs, *(sizes[0] if sizes else ()))
        assert set(names) <= points.keys()
        assert np.all(np.isfinite(term(NUMPY, *(points[name] for name in names))))


SCIPY: dict[str, Callable] = {
    "normal": lambda mu, sigma: scipy.stats.norm(mu, sigma),
    "std_normal": lambda: scipy.stats.norm(),
    "student_t": lambda nu, mu, sigma: scipy.stats.t(nu, mu, sigma),
    "cauchy": lambda mu, sigma: scipy.stats.cauchy(mu, sigma),
    "double_exponential": lambda mu, sigma: scipy.stats.laplace(mu, sigma),
    "logistic": lambda mu, sigma: scipy.stats.logistic(mu, sigma),
    "gumbel": lambda mu, beta: scipy.stats.gumbel_r(mu, beta),
    "lognormal": lambda mu, sigma: scipy.stats.lognorm(sigma, scale=np.exp(mu)),
    "chi_square": lambda nu: scipy.stats.chi2(nu),
    "inv_chi_square": lambda nu: scipy.stats.invgamma(nu / 2, scale=0.5),
    "scaled_inv_chi_square": lambda nu, s: scipy.stats.invgamma(nu / 2, scale=nu * s**2 / 2),
    "exponential": lambda beta: scipy.stats.expon(scale=1 / beta),
    "gamma": lambda alpha, beta: scipy.stats.gamma(alpha, scale=1 / beta),
    "inv_gamma": lambda alpha, beta: scipy.stats.invgamma(alpha, scale=beta),
    "weibull": lambda alpha, sigma: scipy.stats.weibull_min(alpha, scale=sigma),
    "frechet": lambda alpha, sigma: scipy.stats.invweibull(alpha, scale=sigma),
    "rayleigh": lambda sigma: scipy.stats.rayleigh(scale=sigma),
    "loglogistic": lambda alpha, beta: scipy.stats.fisk(beta, scale=alpha),
    "pareto": lambda y_min, alpha: scipy.stats.pareto(alpha, scale=y_min),
    "pareto_type_2": lambda mu, scale, alpha: scipy.stats.lomax(alpha, mu, scale),
    "beta": lambda alpha, beta: scipy.stats.beta(alpha, beta),
    "beta_proportion": lambda mu, kappa: scipy.stats.beta(mu * kappa, (1 - mu) * kappa),
    "uniform": lambda alpha, beta: scipy.stats.uniform(alpha, beta - alpha),
    "von_mises": lambda mu, kappa: scipy.stats.vonmises(kappa, mu),
    "skew_normal": lambda xi, omega, alpha: scipy.stats.skewnorm(alpha, xi, omega),
    "exp_mod_normal": lambda mu, sigma, rate: scipy.stats.exponnorm(1 / (sigma * rate), mu, sigma),
    "bernoulli": lambda theta: scipy.stats.bernoulli(theta),
    "bernoulli_logit": lambda alpha: scipy.stats.bernoulli(1 / (1 + np.exp(-alpha))),
    "binomial": lambda n, theta: scipy.stats.binom(n, theta),
    "binomial_logit": lambda n, alpha: scipy.stats.binom(n, 1 / (1 + np.exp(-alpha))),
    "beta_binomial": lambda n, alpha, beta: scipy.stats.betabinom(n, alpha, beta),
    "neg_binomial": lambda alpha, beta: scipy.stats.nbinom(alpha, beta / (1 + beta)),
    "neg_binomial_2": lambda mu, phi: scipy.stats.nbinom(phi, phi / (mu + phi)),
    "neg_binomial_2_log": lambda eta, phi: scipy.stats.nbinom(phi, phi / (np.exp(eta) + phi)),
    "poisson": lambda rate: scipy.stats.poisson(rate),
    "poisson_log": lambda alpha: scipy.stats.poisson(np.exp(alpha)),
    "discrete_range": lambda lower, upper: scipy.stats.randint(lower, upper + 1),
}
NOT_FROM_THE_START = ("von_mises",)  # SciPy's cdf starts at mu - pi, Stan's at -pi


@pytest.mark.parametrize("d", [d for d in UNIVARIATE if d.name in SCIPY], ids=lambda d: d.name)
def test_agrees_with_scipy(d):
    points = sample_points(d, 20, seed=4)
    y, reference = points[0], SCIPY[d.name](*points[1:])
    theirs = {
        "log_density": reference.logpmf if d.discrete else reference.logpdf,
        "cdf": reference.cdf,
        "lcdf": reference.logcdf,
        "lccdf": reference.logsf,
    }
    for name, function in functions_of(d):
        if name == "log_density" or d.name not in NOT_FROM_THE_START:
            assert_allclose(function(NUMPY, *points), theirs[name](y), rtol=1e-9, atol=1e-12, err_msg=name)
