"""The incomplete gamma and beta functions: derivatives in the shapes, logs that would underflow, identities.

Reference values were computed with 50 digits from the definitions.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.special import incomplete_beta, incomplete_gamma
from ppl.stdlib.special.incomplete_gamma import _fraction, _series, log_near_tail

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def slope(f, x):
    return value_and_grad(f, np.float64(x))[1]


@pytest.mark.parametrize(
    ("a", "x", "expected"),
    [
        (0.01, 0.5, -0.56554591171525777),
        (2.0, 2.0, -0.29400469074623089),
        (3.0, 50.0, -7.5520569174463671e-19),
        (50.0, 2.0, -1.6840322687939966e-50),
        (1000.0, 990.0, -0.012057749285283054),
        (1e4, 10100.0, -0.0024156880031763667),
    ],
)
def test_gamma_slope_in_the_shape(a, x, expected):
    assert slope(lambda t: incomplete_gamma.lower(AUTOGRAD, t, x), a) == pytest.approx(expected, rel=1e-10)
    assert slope(lambda t: incomplete_gamma.upper(AUTOGRAD, t, x), a) == pytest.approx(-expected, rel=1e-10)


@pytest.mark.parametrize(
    ("a", "b", "x", "in_a", "in_b"),
    [
        (2.0, 3.0, 0.4, -0.24086937608755657, 0.15634433641359878),
        (0.5, 0.5, 0.99, -0.088188507723580708, 0.33265796074017652),
        (50.0, 0.5, 0.999, -0.0024071967163648132, 0.75625555390558268),
        (1000.0, 2000.0, 0.34, -0.0075717604669296077, 0.0038425371618643806),
    ],
)
def test_beta_slopes_in_the_shapes(a, b, x, in_a, in_b):
    lower, upper = incomplete_beta.lower, incomplete_beta.upper
    assert slope(lambda t: lower(AUTOGRAD, t, b, x, 1.0 - x), a) == pytest.approx(in_a, rel=1e-10)
    assert slope(lambda t: lower(AUTOGRAD, a, t, x, 1.0 - x), b) == pytest.approx(in_b, rel=1e-10)
    assert slope(lambda t: upper(AUTOGRAD, t, b, x, 1.0 - x), a) == pytest.approx(-in_a, rel=1e-10)
    assert slope(lambda t: upper(AUTOGRAD, a, t, x, 1.0 - x), b) == pytest.approx(-in_b, rel=1e-10)


LARGE = [  # a, b and y = 1 - x; log I and its slopes, of the integral along -log x
    (5e7, 0.5, 2e-8, -1.8496055165306672, -2.6389675382425842e-8, 2.4783167702975195),
    (5e8, 0.5, 3e-8, -16.957318382460765, -3.0942341186945489e-8, 4.7325666761252984),
    (1e12, 3.0, 4e-12, -1.4350506425458479, -2.4615384615467929e-12, 0.74861353755314854),
    (2e7, 0.5, 1e-3, -20015.530805369552, -0.001000525332334627, 11.867047524813081),
    (1e9, 20.0, 0.3, -356674612.41204871, -0.35667492493873261, 16.548769062211659),
]


@pytest.mark.parametrize(("a", "b", "y", "log_i", "in_a", "in_b"), LARGE)
def test_a_beta_with_one_large_shape(a, b, y, log_i, in_a, in_b):
    """Of a Student's t with millions of degrees of freedom, for which the fraction took seconds."""
    log_lower, log_upper = incomplete_beta.log_lower, incomplete_beta.log_upper
    assert log_lower(NUMPY, a, b, 1.0 - y, y) == pytest.approx(log_i, rel=1e-10)
    assert slope(lambda t: log_lower(AUTOGRAD, t, b, 1.0 - y, y), a) == pytest.approx(in_a, rel=1e-8)
    assert slope(lambda t: log_lower(AUTOGRAD, a, t, 1.0 - y, y), b) == pytest.approx(in_b, rel=1e-10)
    assert slope(lambda t: log_upper(AUTOGRAD, b, t, y, 1.0 - y), a) == pytest.approx(in_a, rel=1e-8)
    of_rest = -in_b / np.expm1(-log_i)
    assert slope(lambda t: log_lower(AUTOGRAD, t, a, y, 1.0 - y), b) == pytest.approx(of_rest, rel=1e-10)


@pytest.mark.parametrize("shape", [1e7, 1e12, 1e100, 1e180])
def test_no_fraction_goes_on_without_an_end(shape, monkeypatch):
    """Where it underflows, and of elements beside those that are far out."""
    monkeypatch.setattr(incomplete_beta, "MOST_FRACTION_TERMS", 1000)
    monkeypatch.setattr(incomplete_gamma, "MOST_FRACTION_TERMS", 1000)
    a, y = np.array([2.0, shape, shape, shape]), np.array([0.3, 1e-9, 0.01, 0.9])
    slopes = incomplete_beta.slope(NUMPY, a, np.full(4, 0.5), 1.0 - y, y, 0)
    expected = incomplete_beta.slope(NUMPY, 2.0, 0.5, 0.7, 0.3, 0)
    assert slopes[0] == pytest.approx(expected) and (slopes[2:] < -0.01).all()
    assert incomplete_gamma.slope(NUMPY, 0.5, shape, False) == pytest.approx(
        np.log(shape) + 1.96351, rel=1e-4
    )


@pytest.mark.parametrize("shape", [0.3, 2.0, 40.0, 1e9])
def test_a_beta_shape_of_1_has_powers(shape):
    """I(a, 1, x) = x^a and I(1, b, x) = 1 - y^b, DLMF 8.17.7 and 8.17.8; a fraction of 1e9 took seconds."""
    y = np.array([1e-9, 1e-3, 0.3, 0.7]) / max(1.0, shape / 10)
    x, one, whole = 1.0 - y, np.ones(4), np.full(4, shape)
    expected = np.log1p(-y), -np.log1p(-y) / np.expm1(-shape * np.log1p(-y))
    assert_allclose(incomplete_beta.slope(NUMPY, whole, one, x, y, 0), expected[0], rtol=1e-12)
    assert_allclose(incomplete_beta.slope(NUMPY, one, whole, y, x, 1), expected[1], rtol=1e-12)
    mixed = np.where([True, False] * 2, one, 2.5)
    alone = [incomplete_beta.slope(NUMPY, *each, 0) for each in zip(whole, mixed, x, y, strict=True)]
    assert_allclose(incomplete_beta.slope(NUMPY, whole, mixed, x, y, 0), alone, rtol=1e-8)


def test_logs_go_on_where_the_values_underflow():
    assert incomplete_gamma.log_lower(NUMPY, 5.0, 1e-80) == pytest.approx(-925.8215289404003, rel=1e-14)
    assert incomplete_gamma.log_upper(NUMPY, 3.0, 900.0) == pytest.approx(-887.08613543351505, rel=1e-14)
    log_i = incomplete_beta.log_lower(NUMPY, 300.0, 2.0, 1e-3, 1.0 - 1e-3)
    assert log_i == pytest.approx(-2066.6204706046466, rel=1e-14)


@pytest.mark.parametrize("log_function", [incomplete_gamma.log_lower, incomplete_gamma.log_upper])
def test_gamma_logs_join_smoothly_where_the_methods_change(log_function):
    x = np.array([2.9, 3.0 - 1e-9, 3.0, 3.0 + 1e-9, 3.1])
    _, slopes = value_and_grad(lambda a: np.sum(log_function(AUTOGRAD, a, x)), np.full(5, 2.0))
    assert_allclose(slopes[1:4], slopes[2], rtol=1e-8)


def test_gamma_recurrence():
    """P(a + 1, x) = P(a, x) - x^a exp(-x) / Gamma(a + 1), DLMF 8.8.5, and its derivative in x."""
    a, x = np.array([0.3, 2.0, 40.0]), np.array([0.1, 3.0, 37.0])
    step = np.exp(incomplete_gamma.log_density(NUMPY, a + 1.0, x))
    difference = incomplete_gamma.lower(NUMPY, a, x) - incomplete_gamma.lower(NUMPY, a + 1.0, x)
    assert_allclose(difference, step, rtol=1e-12)


def test_at_the_ends():
    assert incomplete_gamma.lower(NUMPY, 2.0, 0.0) == 0.0
    assert incomplete_gamma.log_lower(NUMPY, 2.0, np.float64(0.0)) == -np.inf
    assert incomplete_gamma.log_upper(NUMPY, 2.0, np.float64(np.inf)) == -np.inf
    assert incomplete_beta.log_lower(NUMPY, 2.0, 3.0, np.float64(0.0), np.float64(1.0)) == -np.inf
    assert incomplete_beta.log_upper(NUMPY, 2.0, 3.0, np.float64(0.0), np.float64(1.0)) == 0.0


def test_a_point_does_not_depend_on_its_neighbours():
    a, x = np.array([0.5, 30.0, 1000.0]), np.array([3.0, 29.0, 1100.0])
    together = incomplete_gamma.slope(NUMPY, a, x, True)
    alone = [incomplete_gamma.slope(NUMPY, a_i, x_i, True) for a_i, x_i in zip(a, x, strict=True)]
    assert_allclose(together, alone, rtol=1e-13)


LARGE_SHAPES = [  # a, deviations of x from it in units of sqrt(a); the log of the near tail
    (1.2e5, -30, -482.11543962501713),
    (1e6, -5, -15.106647347552956),
    (1e6, 14, -100.6579355127722),
    (1e7, -8, -35.0674720179879),
    (1e9, -5, -15.066310643543558),
    (1e9, -30, -454.6060505502131),
    (1e9, 30, -454.0368423628967),
]


@pytest.mark.parametrize("a, z, expected", LARGE_SHAPES)
def test_tails_of_large_shapes(a, z, expected):
    x = a + z * np.sqrt(a)
    near, far = (incomplete_gamma.log_lower, incomplete_gamma.log_upper)[:: 1 if z < 0 else -1]
    assert near(NUMPY, a, x) == pytest.approx(expected, rel=1e-11)
    assert far(NUMPY, a, x) == pytest.approx(np.log1p(-np.exp(expected)), rel=1e-10)
    plain = incomplete_gamma.lower if z < 0 else incomplete_gamma.upper
    assert plain(NUMPY, a, x) == pytest.approx(np.exp(expected), rel=1e-10)


@pytest.mark.parametrize("a", [1.1e5, 1e6])
def test_expansion_and_series_agree_in_values_and_slopes(a):
    z = np.array([-6.0, -1.0, -1e-3, 0.0, 0.5, 4.0])
    x = a + z * np.sqrt(a)
    value, slope = log_near_tail(NUMPY, np.full(6, a), x)
    below = x < a
    by_terms = [
        (_series if b else _fraction)(NUMPY, np.array([a]), x[k : k + 1]) for k, b in enumerate(below)
    ]
    assert_allclose(value, [v[0] for v, _ in by_terms], rtol=1e-9)
    assert_allclose(slope, [s[0] for _, s in by_terms], rtol=1e-7)
