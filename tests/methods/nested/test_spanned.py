"""Precisions of normal fields as combinations of few matrices: those of differences, by one of these."""

import numpy as np
import pytest

from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.methods.nested.field import Fields
from ppl.methods.nested.marginal import Marginal, Peak
from ppl.methods.nested.spanned import EXACT, Spanned, combined, times, with_basis
from ppl.methods.nested.sparse import Field

K = 20
RNG = np.random.default_rng(0)


def random_precision():
    root = RNG.normal(size=(K, K))
    return root @ root.T


MATRICES = [random_precision() for _ in range(3)]
DISTANCE = np.abs(np.subtract.outer(np.arange(K), np.arange(K)))


class Normal(Target):
    """u = (s, t, x): x is normal with the precision A + B / exp(2 s) + C / exp(2 t), times `more` of s."""

    dim = 2 + K

    def __init__(self, more=lambda s: 0.0):
        self.more = more

    def precision(self, s, t):
        a, b, c = MATRICES
        return a + b * np.exp(-2 * s) + c * np.exp(-2 * t) + self.more(s)

    def log_density_gradients(self, us):
        slopes = np.zeros(us.shape)
        for slope, (s, t, *x) in zip(slopes, us, strict=True):
            slope[2:] = np.ones(K) - self.precision(s, t) @ np.array(x)
        return self.log_densities(us), slopes

    def log_densities(self, us):
        return np.array([sum(x) - 0.5 * np.array(x) @ self.precision(s, t) @ x for s, t, *x in us])


def peak_of(target):
    every = np.arange(K)
    pairs = np.array(np.tril_indices(K))
    field = Field(2 + K, np.arange(2), 2 + every, pairs, 1 + every, is_normal=True)
    marginal = Marginal(Fields(target, field), np.zeros(2), np.zeros(K))
    return Peak(marginal, Gaussian(np.zeros(2), np.eye(2)))


def test_precisions_are_those_of_differences_also_far_out():
    peak = with_basis(peak_of(Normal()), np.random.default_rng(1))
    spanned, fields = peak.marginal.inner, peak_of(Normal()).marginal.inner
    assert isinstance(spanned, Spanned) and len(spanned.basis) == 3 and not spanned.is_costly
    outer = np.array([[0.0, 0.0], [3.0, -2.0], [-6.0, 4.0], [5.0, 5.0]])
    latent = np.random.default_rng(2).normal(size=(4, K))
    gradients = fields.gradients(outer, latent)
    np.testing.assert_allclose(
        spanned.precisions(outer, latent, gradients), fields.precisions(outer, latent, gradients), rtol=1e-6
    )


def test_a_covariance_by_a_length_is_no_combination():
    target = Normal(lambda s: np.linalg.inv(np.exp(-(DISTANCE**2) / np.exp(2 * s)) + 0.1 * np.eye(K)))
    assert with_basis(peak_of(target), np.random.default_rng(1)) is None


def test_outer_points_at_which_it_is_none_have_differences_of_their_own():
    """A matrix that comes in beyond the points of the basis."""
    target = Normal(lambda s: 5.0 * np.exp(-(DISTANCE**2) / 9.0) * (s > 5))
    spanned = with_basis(peak_of(target), np.random.default_rng(1)).marginal.inner
    outer, latent = np.array([[0.0, 0.0], [6.0, 1.0]]), np.zeros((2, K))
    gradients = spanned.gradients(outer, latent)
    bands = spanned.precisions(outer, latent, gradients)
    np.testing.assert_allclose(bands[:, 0], [np.diag(target.precision(*each)) for each in outer], rtol=1e-6)


def test_products_that_are_not_finite_are_none_of_a_combination():
    products = np.array([[1.0, 2.0, 0.0], [0.0, 1e-12, 1.0]])
    product = np.array([[2.0, 4.0, 1e-3], [np.nan, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    coefficients, off = combined(products, product, np.abs(product) + 1.0)
    np.testing.assert_allclose(coefficients[0], [2.0, 1e-3], rtol=1e-9)
    assert off[0] < 1e-9 and np.isnan(off[1:3]).all() and off[3] > EXACT


@pytest.mark.parametrize("b", [0, 2, K - 1])
def test_products_by_bands(b):
    matrix = np.where(b >= DISTANCE, MATRICES[0], 0.0)
    band = np.array([np.append(np.diagonal(matrix, -i), np.zeros(i)) for i in range(b + 1)])
    x = RNG.normal(size=K)
    np.testing.assert_allclose(times(band, x), matrix @ x)
