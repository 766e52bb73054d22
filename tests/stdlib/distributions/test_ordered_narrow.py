"""Categories of ordered families that are much narrower than the latent noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, value_and_grad
from ppl.stdlib.distributions.ordered import logistic_log_density, probit_log_density

# eta, the width of the category (0, width), its log chance and the slopes of that in eta and in the cutpoint
# below, by mpmath with 60 digits.
PROBIT = (
    (0.3, 0.001, -7.8715439751159655, -0.29949997504166752, -999.85017415416891),
    (-2.0, 0.001, -9.8276938121034764, 2.0004998332916833, -1001.0005000832916),
    (8.0, 0.001, -39.822691312521643, -7.9994993333757332, -996.00549966062609),
    (-8.0, 0.001, -39.830691311854977, 8.0004993332924001, -1004.0055003272906),
    (38.0, 0.001, -729.80763381449609, -37.999496833451311, -981.12049551283942),
    (0.3, 1e-06, -14.77944894116911, -0.29999949999997499, -999999.85000017421),
    (-2.0, 1e-06, -16.734450091168947, 2.0000004999998333, -1000001.0000005),
    (8.0, 1e-06, -46.734445091166447, -7.9999994999993333, -999996.00000550004),
    (-8.0, 1e-06, -46.734453091166447, 8.0000004999993333, -1000004.0000055),
    (38.0, 1e-06, -736.73443009110895, -37.999999499996833, -999981.00012050004),
    (0.3, 1e-09, -21.687204370001084, -0.29999999949999999, -999999999.84999994),
    (-2.0, 1e-09, -23.642204371151084, 2.0000000005, -1000000000.9999999),
    (8.0, 1e-09, -53.642204366151084, -7.9999999995, -999999995.99999994),
    (-8.0, 1e-09, -53.642204374151084, 8.0000000005, -1000000003.9999999),
    (38.0, 1e-09, -743.64220435115108, -37.9999999995, -999999981.00000006),
    (0.3, 1e-12, -28.594959649133071, -0.29999999999949999, -999999999999.85002),
    (-2.0, 1e-12, -30.549959649134221, 2.0000000000005, -1000000000001.0),
    (8.0, 1e-12, -60.549959649129221, -7.9999999999995, -999999999996.00002),
    (-8.0, 1e-12, -60.549959649137221, 8.0000000000005, -1000000000004.0),
    (38.0, 1e-12, -750.54995964911422, -37.9999999999995, -999999999981.00002),
    (0.3, 1e-14, -33.200129835121311, -0.29999999999999499, -99999999999999.85),
    (-2.0, 1e-14, -35.155129835121322, 2.000000000000005, -100000000000001.0),
    (8.0, 1e-14, -65.155129835121272, -7.999999999999995, -99999999999996.0),
    (-8.0, 1e-14, -65.155129835121352, 8.000000000000005, -100000000000004.0),
    (38.0, 1e-14, -755.15512983512112, -37.999999999999995, -99999999999981.0),
)


@pytest.mark.parametrize("eta, width, log_chance, slope, of_lower", PROBIT)
def test_ordered_probit_keeps_its_digits(eta, width, log_chance, slope, of_lower):
    c = np.array([0.0, width])
    value, in_eta = value_and_grad(lambda e: probit_log_density(AUTOGRAD, 2, e, c), eta)
    _, in_c = value_and_grad(lambda c: probit_log_density(AUTOGRAD, 2, eta, c), c)
    assert_allclose([value, in_eta], [log_chance, slope], rtol=2e-15)
    assert_allclose(in_c[0], of_lower, rtol=1e-12)


def test_under_jax_too():
    jax = pytest.importorskip("jax")
    from ppl.jax_backend.namespace import JAX

    eta, width, log_chance, slope, of_lower = np.array(PROBIT).T
    c = np.stack([np.zeros_like(width), width], axis=-1)

    def log_density(e, c):
        return probit_log_density(JAX, np.full(len(eta), 2), e, c).sum()

    with jax.enable_x64(True):
        of_each = probit_log_density(JAX, np.full(len(eta), 2), eta, c)
        in_eta, in_c = jax.jit(jax.grad(log_density, (0, 1)))(eta, c)
    assert_allclose(of_each, log_chance, rtol=2e-15)
    assert_allclose(in_eta, slope, rtol=2e-15)
    assert_allclose(in_c[:, 0], of_lower, rtol=1e-12)


@pytest.mark.parametrize("width", [0.1, 0.19, 0.21, 0.3])
def test_both_forms_agree_about_where_one_ends(width):
    """The slope in eta is minus the sum of those in the cutpoints."""
    for eta in (0.02, -0.4, 1.3, -3.0):
        c = np.array([0.0, width])
        _, in_eta = value_and_grad(lambda e, c=c: probit_log_density(AUTOGRAD, 2, e, c), eta)
        _, in_c = value_and_grad(lambda c, eta=eta: probit_log_density(AUTOGRAD, 2, eta, c), c)
        assert_allclose(in_eta, -in_c.sum(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("width", [1e-3, 1e-9, 1e-14])
def test_ordered_logistic_slope_in_eta(width):
    """The density of the logistic at eta is f = F (1 - F), and d log f / d eta = 1 - 2 F, up to O(width)."""
    eta = 0.8
    c = np.array([-width / 2, width / 2])
    _, slope = value_and_grad(lambda e: logistic_log_density(AUTOGRAD, 2, e, c), eta)
    assert_allclose(slope, -np.tanh(eta / 2), rtol=1e-15 + width**2)
