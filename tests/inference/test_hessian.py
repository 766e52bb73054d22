from dataclasses import dataclass

import numpy as np
from toy_targets import Gaussian, Quartic, correlated

from ppl.inference.numerics.hessian import hessian, hessian_vector_product


@dataclass(frozen=True)
class CurvedGaussian(Gaussian):
    """A Gaussian with a product of its own, and no gradient to difference."""

    def hessian_vector_product(self, u, v):
        return -self.precision @ v

    def log_density_gradient(self, u):
        raise AssertionError("the product is there to be used")


def test_differences_agree_with_the_exact_hessian():
    u = np.array([0.5, -2.0, 1.0])
    target = Quartic(np.ones(3))
    np.testing.assert_allclose(hessian(target, u, np.ones(3)), -3 * np.diag(u**2), rtol=1e-8, atol=1e-8)
    v = np.array([1.0, 0.0, 2.0])
    np.testing.assert_allclose(hessian_vector_product(target, u, v), -3 * u**2 * v, rtol=1e-8, atol=1e-8)


def test_a_targets_own_product_is_used():
    exact = correlated(3)
    curved = CurvedGaussian(exact.mean, exact.covariance)
    np.testing.assert_allclose(hessian(curved, np.zeros(3), np.full(3, 0.1)), -exact.precision, rtol=1e-12)


def test_units_do_not_matter_where_the_scales_are_told():
    units = np.array([1e-3, 1.0, 1e4])
    plain = correlated(3)
    target = Gaussian(units * plain.mean, np.outer(units, units) * plain.covariance)
    found = hessian(target, target.mean + units, units) * np.outer(units, units)
    np.testing.assert_allclose(found, -plain.precision, rtol=1e-7, atol=1e-7)
