import numpy as np
from toy_targets import Gaussian, Quartic, correlated

from ppl.kernel.advi.gaussian import hessian


def test_differences_agree_with_the_exact_hessian():
    u = np.array([0.5, -2.0, 1.0])
    target = Quartic(np.ones(3))
    np.testing.assert_allclose(hessian(target, u, np.ones(3)), -3 * np.diag(u**2), rtol=1e-8, atol=1e-8)


def test_units_do_not_matter_where_the_scales_are_told():
    units = np.array([1e-3, 1.0, 1e4])
    plain = correlated(3)
    target = Gaussian(units * plain.mean, np.outer(units, units) * plain.covariance)
    found = hessian(target, target.mean + units, units) * np.outer(units, units)
    np.testing.assert_allclose(found, -plain.precision, rtol=1e-7, atol=1e-7)
