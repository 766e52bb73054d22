"""Normal fields whose precision matrices are combinations of a few, by their coefficients.

Given scales s and t, the precision of a level and a season is A + B / s^2 + C / t^2 + ..., a sum of few
matrices whatever the scales are. A basis of these is found at some outer points; at any other one product of
the matrix with a vector, by a difference of two gradients, tells the coefficients (as the discrete empirical
interpolation of Chaturantabut and Sorensen 2010, SIAM J. Sci. Comput. 32:2737). Where it does not, as of
covariances by a length, differences for each column do.
"""

import numpy as np

from ppl.floats import Floats
from ppl.methods.nested.field import Fields
from ppl.methods.nested.marginal import Marginal, Peak
from ppl.records import dataclass

SAMPLED = 14
"""Outer points at which matrices are computed in full."""
MOST_MATRICES = 10
"""Matrices in a basis: with as many as there are points any would do."""
SPREAD = 1.0
"""How far these points are from the peak, in the units of unconstrained coordinates: scales by e."""
SPANNED = 1e-9
"""Singular values, beside the first, of what is no more than rounding."""
SMALLEST_ENTRY = 1e-10
"""The size of an entry of a product, beside the largest, below which it counts no more."""
ROUNDING_OF_PRODUCTS = 1e-14
"""The same of the products of matrices that are alike."""
EXACT = 1e-3
"""How far the product may be from that of the combination, beside its size, where this is the matrix: some
units of rounding more where scales are many powers of ten apart.
"""


@dataclass(frozen=True)
class Spanned(Fields):
    """A normal field with a basis of its precisions (r, (b + 1) k), and products (r, k) with a probe (k,)."""

    basis: Floats
    probe: Floats
    products: Floats

    is_costly = False

    @property
    def exact(self) -> Fields:
        return self

    def precisions(self, outer: Floats, latent: Floats, gradients: Floats) -> Floats:
        """As of any field: a gradient for each outer point, and of those that are no combination, of each
        column.
        """
        there = self.gradients(outer, latent + self.probe)
        product, size = gradients - there, np.abs(gradients) + np.abs(there)
        coefficients, off = combined(self.products, product, size)
        bands = (coefficients @ self.basis).reshape(len(outer), -1, len(self.structure.latent))
        others = np.asarray(off > EXACT)
        if others.any():
            bands[others] = super().precisions(outer[others], latent[others], gradients[others])
        return bands


def combined(products: Floats, product: Floats, size: Floats) -> tuple[Floats, Floats]:
    """The coefficients (n, r) of products (r, k) that add up to each product (n, k), and how far off (n,)
    they are beside it, nan where that is not finite.

    Entries count by their own `size` (n, k), of which rounding is a share.
    """
    finite = np.asarray((np.isfinite(product) & np.isfinite(size)).all(axis=1) & product.any(axis=1))
    weights = 1 / np.maximum(size, SMALLEST_ENTRY * size.max(axis=1, keepdims=True))
    weights, scaled = np.where(finite[:, None], (weights, product * weights), 1.0)
    columns = products.T * weights[:, :, None]
    sizes = np.maximum(np.linalg.norm(columns, axis=1, keepdims=True), np.finfo(float).tiny)
    q, r = np.linalg.qr(columns / sizes)
    shares = np.linalg.pinv(r, rcond=ROUNDING_OF_PRODUCTS) @ (q.swapaxes(1, 2) @ scaled[..., None])
    left = scaled - (q @ (r @ shares))[..., 0]
    off = np.linalg.norm(left, axis=1) / np.linalg.norm(scaled, axis=1)
    return (shares[..., 0] / sizes[:, 0]), np.where(finite, off, np.nan)


def with_basis(peak: Peak, rng: np.random.Generator) -> Peak | None:
    """A peak by such a basis, found about it; None where the field is not normal, or there is none."""
    marginal, gaussian = peak
    fields = marginal.inner.exact
    structure = fields.structure
    if not structure.is_normal or structure.couplings:
        return None
    points = marginal.centre + SPREAD * rng.standard_normal((SAMPLED, marginal.dim))
    latent = np.repeat(marginal.latent[None], SAMPLED, axis=0)
    parts = [(points[k], latent[k]) for k in fields.parts(SAMPLED)]
    bands = np.concatenate([fields.precisions(*part, fields.gradients(*part)) for part in parts])
    bands = bands[np.isfinite(bands).all(axis=(1, 2)) & (bands[:, 0] > 0).all(axis=1)]
    if len(bands) <= MOST_MATRICES + 1 or len(basis := basis_of(bands)) > MOST_MATRICES:
        return None
    signs = np.where(rng.random(latent.shape[1]) < 0.5, -1.0, 1.0)
    probe = signs * np.maximum(np.abs(marginal.latent), 1.0)
    products = np.array([times(band, probe) for band in basis])
    inner = Spanned(fields.target, structure, basis.reshape(len(basis), -1), probe, products)
    return Peak(Marginal(inner, marginal.centre, marginal.latent), gaussian)


def basis_of(bands: Floats) -> Floats:
    """Matrices (r, b + 1, k) whose combinations are all of these (n, b + 1, k), to rounding."""
    roots = np.exp(0.5 * np.log(bands[:, 0]).mean(axis=0))
    scales = np.array([roots * np.append(roots[i:], np.ones(i)) for i in range(bands.shape[1])])
    rows = (bands / scales).reshape(len(bands), -1)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    _, sizes, vectors = np.linalg.svd(rows, full_matrices=False)
    kept = vectors[sizes > SPANNED * sizes[0]]
    return np.asarray(kept.reshape(len(kept), *scales.shape) * scales)


def times(band: Floats, x: Floats) -> Floats:
    """The product of a symmetric matrix in lower bands (b + 1, k) with a vector (k,)."""
    size, product = len(x), band[0] * x
    for i in range(1, min(len(band), size)):
        product[i:] += band[i, : size - i] * x[: size - i]
        product[: size - i] += band[i, : size - i] * x[i:]
    return product
