"""Facts about single families that no law states: tails, edges and limits.

Reference values were computed with 50 digits from the definitions of the densities and their integrals.
"""

import itertools

import numpy as np
import pytest
import scipy.integrate
import scipy.special
from laws.every import every
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.distributions import wiener
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.functions.wiener_cumulative import log_chance

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FAMILY = {d.name: d for d in DISTRIBUTIONS}

TAILS = [
    ("normal", "lcdf", (-40.0, 0.0, 1.0), -804.60844201375379),
    ("normal", "lccdf", (60.0, 0.0, 1.5), -804.60844201375379),
    ("normal", "lcdf", (9.0, 0.0, 1.0), -1.1285884059538406e-19),
    ("student_t", "log_density", (1.5, 1000000.0, 0.0, 1.0), -2.0439386425803056),
    ("student_t", "log_density", (1000.0, 100000000.0, 0.0, 300.0), -12.178276312830029),
    ("student_t", "lcdf", (-50.0, 3.0, 0.0, 1.0), -11.639784763243978),
    ("student_t", "lcdf", (-10000000000.0, 0.5, 0.0, 1.0), -12.650171595741752),
    ("student_t", "lccdf", (30.0, 1000000.0, 0.0, 1.0), -454.11841582456561),
    ("student_t", "lcdf", (-1.0, 1000000.0, 0.0, 1.0), -1.8410208824421068),
    ("cauchy", "lcdf", (-10000000000.0, 0.0, 1.0), -24.170580815789857),
    ("cauchy", "lccdf", (10000000000.0, 0.0, 1.0), -24.170580815789857),
    ("logistic", "lcdf", (-800.0, 0.0, 1.0), -800.0),
    ("logistic", "lcdf", (40.0, 0.0, 1.0), -4.248354255291589e-18),
    ("gumbel", "lccdf", (40.0, 0.0, 1.0), -40.0),
    ("gumbel", "lccdf", (-3.0, 0.0, 1.0), -1.8921786966284627e-9),
    ("gumbel", "lccdf", (2.0, 0.0, 1.0), -2.0669046064441696),
    ("double_exponential", "lcdf", (-900.0, 0.0, 1.0), -900.69314718055995),
    ("double_exponential", "lcdf", (36.0, 0.0, 1.0), -1.1597614151217848e-16),
    ("skew_double_exponential", "lcdf", (-900.0, 0.0, 1.0, 0.3), -1261.2039728043259),
    ("exp_mod_normal", "log_density", (-40.0, 0.0, 1.0, 1.0), -804.63310460177462),
    ("exp_mod_normal", "log_density", (-10.0, 0.0, 1.0, 0.01), -57.837435796868822),
    ("exp_mod_normal", "log_density", (30.0, 0.0, 1.0, 20.0), -397.00426772644601),
    ("exp_mod_normal", "log_density", (5.0, 0.0, 1.0, 10000.0), -13.418438418172998),
    ("exp_mod_normal", "log_density", (100.0, 0.0, 1.0, 0.5), -50.568147180559945),
    ("exp_mod_normal", "lcdf", (-30.0, 0.0, 1.0, 1.0), -457.7573380121099),
    ("exp_mod_normal", "lcdf", (-9.0, 0.0, 1.0, 0.01), -50.455184053728813),
    ("exp_mod_normal", "lcdf", (-4.0, 0.0, 1.0, 3.0), -11.256651452263904),
    ("exp_mod_normal", "lcdf", (-5.0, 0.0, 1.0, 0.001), -23.652237334309516),
    ("exp_mod_normal", "lcdf", (2.0, 0.0, 1.0, 0.1), -1.7257234972966909),
    ("exp_mod_normal", "lcdf", (6.0, 0.0, 1.0, 5.0), -2.2112747360201955e-8),
    ("exp_mod_normal", "lccdf", (50.0, 0.0, 1.0, 0.5), -24.875),
    ("exp_mod_normal", "lccdf", (10.0, 0.0, 1.0, 8.0), -48.017556703231302),
    ("exp_mod_normal", "lccdf", (-5.0, 0.0, 1.0, 1.0), -4.5241535690311031e-8),
    ("skew_normal", "lcdf", (-1.0, 0.0, 1.0, 8.0), -39.942666062259265),
    ("skew_normal", "lcdf", (-45.0, 0.0, 1.0, -2.0), -1016.5329470612651),
    ("skew_normal", "lcdf", (-5.0, 0.0, 1.0, 0.0), -15.064998393988726),
    ("skew_normal", "lcdf", (-3.0, 0.0, 1.0, 1.0), -13.215452443020699),
    ("skew_normal", "lcdf", (-0.3, 0.0, 1.0, 30.0), -49.522015233086122),
    ("skew_normal", "lccdf", (20.0, 0.0, 1.0, 3.0), -203.22400819061121),
    ("von_mises", "log_density", (0.5, 0.0, 10000.0), -1220.4881619441145),
    ("von_mises", "log_density", (3.0, 0.0, 1e-05), -1.8378869663593115),
    ("von_mises", "lcdf", (-1.0, 0.0, 10000.0), -4602.3285350693295),
    ("von_mises", "lcdf", (0.01, 0.0, 10000.0), -0.17275857259349762),
    ("von_mises", "lcdf", (-3.1, 0.0, 2.0), -7.8411255988755447),
    ("von_mises", "lccdf", (1.0, 0.0, 10000.0), -4602.3285350693295),
    ("gamma", "log_density", (1.0001, 100000000.0, 100000000.0), 7.7913351737714868),
    ("gamma", "log_density", (1e-300, 0.001, 2.0), 683.1782666321122),
    ("gamma", "lcdf", (0.001, 50.0, 1.0), -493.8665112928519),
    ("gamma", "lccdf", (900.0, 3.0, 1.0), -887.08613543351505),
    ("chi_square", "lccdf", (2000.0, 3.0), -996.42484049733325),
    ("inv_gamma", "lcdf", (0.001, 3.0, 1.0), -986.87563662392699),
    ("beta", "lcdf", (0.001, 300.0, 2.0), -2066.6204706046466),
    ("beta", "lccdf", (0.99, 2.0, 300.0), -1375.8539623099217),
    ("beta", "log_density", (0.3333, 1000000.0, 2000000.0), 7.2827112474995921),
    ("beta", "log_density", (1e-12, 0.001, 0.002), 20.290172990396382),
    ("weibull", "lcdf", (1e-08, 2.0, 1.0), -36.841361487904731),
    ("exponential", "lcdf", (1e-12, 1.0), -27.631021115929048),
    ("exponential", "lcdf", (45.0, 1.0), -2.8625185805493936e-20),
    ("pareto", "lcdf", (1.0000000000009095, 1.0, 2.0), -27.032740041839231),
    ("pareto_type_2", "lcdf", (1e-14, 0.0, 1.0, 3.0), -31.13757901324855),
    ("lognormal", "lcdf", (1e-20, 0.0, 1.0), -1065.1287963223679),
    ("frechet", "lccdf", (10000000000.0, 2.0, 1.0), -46.051701859880914),
    ("loglogistic", "log_density", (1e-200, 1.0, 3.0), -919.93542490895016),
]
LOOSE = {("beta", 1e6): 1e-10}  # terms of 1e6 cancel


@every("name, function, arguments, expected", TAILS)
def test_tails(name, function, arguments, expected):
    value = getattr(FAMILY[name], function)(NUMPY, *arguments)
    tolerance = LOOSE.get((name, arguments[1]), 1e-12)
    assert value == pytest.approx(expected, rel=tolerance, abs=0.0)


@every("name, function, arguments, _expected", TAILS)
def test_gradients_in_the_tails_are_finite(name, function, arguments, _expected):
    for i in range(len(arguments)):

        def along(x, i=i):
            return getattr(FAMILY[name], function)(AUTOGRAD, *arguments[:i], x, *arguments[i + 1 :])

        assert np.isfinite(value_and_grad(along, np.float64(arguments[i]))[1])


EDGES = [
    ("uniform", (1.5, 0.0, 1.0)),
    ("uniform", (-0.2, 0.0, 1.0)),
    ("lognormal", (0.0, 0.0, 1.0)),
    ("gamma", (-0.5, 2.0, 1.0)),
    ("inv_gamma", (-0.5, 2.0, 1.0)),
    ("inv_gamma", (0.0, 2.0, 1.0)),
    ("weibull", (-0.5, 2.0, 1.0)),
    ("inv_chi_square", (-0.5, 3.0)),
    ("scaled_inv_chi_square", (-0.5, 3.0, 1.0)),
    ("pareto", (0.5, 1.0, 2.0)),
    ("pareto_type_2", (0.5, 1.0, 2.0, 1.0)),
    ("wiener", (0.5, 1.0, 0.6, 0.5, 0.0)),
    ("beta", (0.0, 2.0, 1.0)),
]


@every("name, arguments", EDGES)
def test_zero_density(name, arguments):
    assert FAMILY[name].log_density(NUMPY, *arguments) == -np.inf


def test_finite_density_at_the_end_of_the_support():
    assert FAMILY["weibull"].log_density(NUMPY, 0.0, 1.0, 2.0) == pytest.approx(-np.log(2.0))
    assert FAMILY["beta"].log_density(NUMPY, 1.0, 3.0, 1.0) == pytest.approx(np.log(3.0))
    assert FAMILY["exponential"].log_density(NUMPY, 0, 2) == pytest.approx(np.log(2.0))
    assert FAMILY["uniform"].log_density(NUMPY, 1, 0, 1) == 0.0


@pytest.mark.parametrize("name", ["gamma", "inv_gamma", "lognormal", "weibull", "frechet"])
def test_cdfs_left_of_the_support(name):
    family = FAMILY[name]
    for y in (-1.0, 0.0):
        assert family.cdf(NUMPY, y, 2.0, 1.5) == 0.0
        assert family.lcdf(NUMPY, y, 2.0, 1.5) == -np.inf
        assert family.lccdf(NUMPY, y, 2.0, 1.5) == 0.0


def test_ints_and_reals_mean_the_same():
    for name in ("normal", "gamma", "inv_gamma", "weibull", "frechet", "beta_proportion", "lognormal"):
        arguments = (1, 1, 2) if name != "beta_proportion" else (0.5, 0.5, 2)
        expected = FAMILY[name].log_density(NUMPY, *map(float, arguments))
        assert FAMILY[name].log_density(NUMPY, *arguments) == expected
        assert FAMILY[name].log_density(NUMPY, np.array([1, 1]), *arguments[1:]).dtype == float


@pytest.mark.parametrize(
    ("z", "nu", "expected"),
    [
        (-1.0, 3.0, -0.011110456704864639),
        (2.0, 0.5, 0.23240356489323828),
        (-50.0, 3.0, -2.6460382254987168e-5),
        (1.0, 200.0, 3.0170630349375702e-6),
        (-3.0, 1e4, -3.3282403426193826e-10),
    ],
)
def test_student_t_cdf_slope_in_nu(z, nu, expected):
    cdf = FAMILY["student_t"].cdf
    slope = value_and_grad(lambda t: cdf(AUTOGRAD, z, t, 0.0, 1.0), np.float64(nu))[1]
    assert slope == pytest.approx(expected, rel=1e-9)


def test_student_t_at_its_median():
    family = FAMILY["student_t"]
    for function in (family.cdf, family.lcdf, family.lccdf):
        gradient = value_and_grad(
            lambda x, f=function: f(AUTOGRAD, x[0], x[1], 0.0, 1.0), np.array([0.0, 4.0])
        )[1]
        assert abs(gradient[0]) == pytest.approx(0.375 * (1.0 if function is family.cdf else 2.0))
        assert gradient[1] == 0.0


@pytest.mark.parametrize(
    "name, rest", [("double_exponential", (0.0, 2.0)), ("skew_double_exponential", (0.0, 2.0, 0.3))]
)
def test_double_exponential_cdf_slopes_at_its_location(name, rest):
    # the density has a kink there, the cdf none: its slope is the density
    family = FAMILY[name]
    density = np.exp(family.log_density(NUMPY, 0.0, *rest))
    below = family.cdf(NUMPY, 0.0, *rest)
    for function, slope in (
        (family.cdf, density),
        (family.lcdf, density / below),
        (family.lccdf, -density / (1 - below)),
    ):
        assert_allclose(
            value_and_grad(lambda y, f=function: f(AUTOGRAD, y, *rest), np.float64(0.0))[1], slope, 1e-12
        )


def test_exponential_cdf_slopes_at_zero():
    # where its support begins the slope is that of the support
    family = FAMILY["exponential"]
    for function, slope in ((family.cdf, 2.0), (family.lccdf, -2.0)):
        assert value_and_grad(lambda y, f=function: f(AUTOGRAD, y, 2.0), np.float64(0.0)) == (0.0, slope)


def test_gumbel_lccdf_far_below():
    lccdf = FAMILY["gumbel"].lccdf
    assert value_and_grad(lambda y: lccdf(AUTOGRAD, y, 0.0, 1.0), np.float64(-800.0)) == (0.0, 0.0)


@pytest.mark.parametrize("name, rest", [("pareto", (0.9, 2.0)), ("pareto_type_2", (0.9, 1.5, 2.0))])
def test_pareto_lcdf_below_the_support_has_no_slope(name, rest):
    # as the lower end of a truncation: a nan of it would be one of the whole density
    lcdf = FAMILY[name].lcdf
    assert value_and_grad(lambda a: lcdf(AUTOGRAD, 0.3, a, *rest[1:]), np.float64(rest[0])) == (-np.inf, 0.0)


def test_uniform_cdf_outside():
    family = FAMILY["uniform"]
    assert family.cdf(NUMPY, np.array([-1.0, 2.0]), 0.0, 1.0).tolist() == [0.0, 1.0]
    assert family.lcdf(NUMPY, np.array([-1.0, 2.0]), 0.0, 1.0).tolist() == [-np.inf, 0.0]
    assert family.lccdf(NUMPY, np.array([-1.0, 2.0]), 0.0, 1.0).tolist() == [0.0, -np.inf]


def test_von_mises_density_has_period_two_pi_and_its_cdf_starts_at_minus_pi():
    family = FAMILY["von_mises"]
    assert_allclose(
        family.log_density(NUMPY, 0.5 + 2.0 * np.pi, 1.0, 3.0), family.log_density(NUMPY, 0.5, 1.0, 3.0)
    )
    for mu in (-2.5, 0.0, 2.5, 2.5 + 2.0 * np.pi):
        mass = scipy.integrate.quad(
            lambda y, mu=mu: np.exp(family.log_density(NUMPY, y, mu, 3.0)), -np.pi, 1.0, points=[-2.5, 0.0]
        )[0]
        assert family.cdf(NUMPY, 1.0, mu, 3.0) == pytest.approx(mass, rel=1e-10)
        assert family.cdf(NUMPY, np.pi, mu, 3.0) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("delta", [-0.8, 1e-9, 1.3])
def test_wiener_mass_is_the_chance_of_hitting_the_upper_boundary(delta):
    """(1 - exp(-2 delta beta alpha)) / (1 - exp(-2 delta alpha)), the gambler's ruin."""
    alpha, tau, beta = 1.4, 0.2, 0.35
    edges = [tau, tau + 0.1, tau + 0.5, tau + 2.0, tau + 10.0, np.inf]

    def density(y):
        return np.exp(wiener.log_density(NUMPY, y, alpha, tau, beta, delta))

    mass = sum(scipy.integrate.quad(density, a, b)[0] for a, b in itertools.pairwise(edges))
    expected = np.expm1(-2.0 * delta * beta * alpha) / np.expm1(-2.0 * delta * alpha)
    assert mass == pytest.approx(expected, rel=1e-8)


def test_wiener_series_agree_where_they_meet():
    w = np.array([0.001, 0.3, 0.5, 0.9, 0.9999])
    s = np.full(5, wiener.SWITCH)
    assert_allclose(wiener._small_time(NUMPY, s, w), wiener._large_time(NUMPY, s, w), rtol=1e-12)


def test_wiener_without_variability_is_the_plain_one():
    y = np.array([0.5, 1.1])
    plain = wiener.log_density(NUMPY, y, 1.2, 0.3, 0.4, 0.7)
    assert_allclose(wiener.log_density(NUMPY, y, 1.2, 0.3, 0.4, 0.7, 0.0), plain, rtol=1e-14)
    assert_allclose(wiener.log_density(NUMPY, y, 1.2, 0.3, 0.4, 0.7, 0.0, 0.0, 0.0), plain, rtol=1e-12)


def test_wiener_variability_is_an_average_of_plain_densities():
    """Against averages over drift, starting point and non-decision time, one at a time."""
    y, alpha, tau, beta, delta = 0.9, 1.2, 0.3, 0.4, 0.7

    def plain(tau=tau, beta=beta, delta=delta):
        return np.exp(wiener.log_density(NUMPY, y, alpha, tau, beta, delta))

    def varied(*variability):
        return np.exp(wiener.log_density(NUMPY, y, alpha, tau, beta, delta, *variability))

    drift = scipy.integrate.quad(
        lambda x: np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * plain(delta=delta + 0.5 * x), -9.0, 9.0
    )[0]
    assert varied(0.5) == pytest.approx(drift, rel=1e-8)
    start = scipy.integrate.quad(lambda x: plain(beta=x), 0.3, 0.5)[0] / 0.2
    assert varied(0.0, 0.2, 0.0) == pytest.approx(start, rel=1e-8)
    delay = scipy.integrate.quad(lambda x: plain(tau=x), 0.3, 0.5)[0] / 0.2
    assert varied(0.0, 0.0, 0.2) == pytest.approx(delay, rel=1e-8)
    delay = scipy.integrate.quad(lambda x: plain(tau=x), 0.3, y)[0] / 0.8
    assert varied(0.0, 0.0, 0.8) == pytest.approx(delay, rel=1e-6)


def test_wiener_starts_far_from_the_boundary_are_averaged_to_rounding():
    """The density of the nearest start is e^60 times that of the farthest one."""
    nodes, weights = leggauss(100)
    beta = 0.208 + 0.1 * nodes
    plain = wiener.log_density(NUMPY, 0.6, 17.0, 0.0, beta, -1.5, 0.5)
    expected = scipy.special.logsumexp(plain, b=0.5 * weights)
    given = wiener.log_density(NUMPY, 0.6, 17.0, 0.0, 0.208, -1.5, 0.5, 0.2, 0.0)
    assert given == pytest.approx(expected, rel=1e-11)


def wiener_chances(*args):
    """The probabilities of a hit by y, and of one after it."""
    return tuple(np.exp(log_chance(later, NUMPY, *map(np.float64, args))) for later in (False, True))


@every(
    "alpha, beta, delta",
    [
        (1.2, 0.4, 0.7),
        (1.5, 0.3, -2.0),
        (1.0, 0.5, 0.0),
        (1.0, 0.5, 40.0),
        (1.0, 0.99, 12.0),
        (2.0, 0.001, 1.0),
    ],
)
def test_wiener_hits_by_a_time_and_after_it(alpha, beta, delta):
    """Integrals of the density on either side of times that take each of the series."""
    tau, s = 0.2, np.array([0.004, 0.02, 0.09, 0.11, 0.49, 0.51, 3.0])

    def density(y):
        return np.exp(wiener.log_density(NUMPY, y, alpha, tau, beta, delta))

    edges = tau + np.array([0.0, *(s * alpha**2), 6.0 * alpha**2, np.inf])
    parts = [scipy.integrate.quad(density, a, b, epsabs=0.0)[0] for a, b in itertools.pairwise(edges)]
    for k, y in enumerate(edges[1:-2], 1):
        expected = np.sum(parts[:k]), np.sum(parts[k:])
        assert wiener_chances(y, alpha, tau, beta, delta) == pytest.approx(expected, rel=1e-9)


@every(
    "s, distance, drift, by, after",
    [
        (0.001, 0.4, 2.0, -81.9715092345451, -0.07661450369651619),
        (0.0004, 0.999, -3.0, -1254.644010024683, -11.11051248038557),
        (0.02, 0.6, -25.0, -31.27631130738573, -30.32720600777345),
        (40.0, 0.5, 0.3, -0.5543552444685271, -199.5027483074194),
        (9.0, 0.001, -4.0, -0.00800269537233879, -123.5954384808394),
        (0.05, 0.3, 30.0, -1.290977933456715e-8, -18.1652807313308),
    ],
)
def test_wiener_hits_in_the_tails_are_those_of_sixty_digits(s, distance, drift, by, after):
    given = (NUMPY, np.float64(s), 1.0, 1e-300, 1.0 - distance, drift)
    assert log_chance(False, *given) == pytest.approx(by, rel=1e-11)
    assert log_chance(True, *given) == pytest.approx(after, rel=1e-11)


def test_wiener_hits_with_variability_are_averages():
    y, alpha, tau, beta, delta = 0.9, 1.2, 0.3, 0.4, 0.7
    variability = 0.5, 0.2, 0.1
    assert wiener_chances(y, alpha, tau, beta, delta, 0.0, 0.0, 0.0) == pytest.approx(
        wiener_chances(y, alpha, tau, beta, delta), rel=1e-12
    )
    (x, of_drift), (z, of_start) = (rule(20) for rule in (hermegauss, leggauss))
    drift, start, delay = np.meshgrid(delta + 0.5 * x, beta + 0.1 * z, tau + 0.05 * (1.0 + z), indexing="ij")
    weights = np.einsum("i,j,k->ijk", of_drift, of_start, of_start) / (4.0 * np.sum(of_drift))
    plain = [np.exp(log_chance(later, NUMPY, y, alpha, delay, start, drift)) for later in (False, True)]
    means = tuple(np.sum(weights * each) for each in plain)
    assert wiener_chances(y, alpha, tau, beta, delta, *variability) == pytest.approx(means, rel=1e-12)
    assert wiener_chances(y, alpha, tau, beta, delta, *variability, 1e-4) == pytest.approx(means, rel=1e-12)
