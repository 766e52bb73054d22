"""A Gaussian over skewed coordinates, fitted to draws of a posterior and to the slopes of its log density.

Where draws are of a Gaussian, slopes are a linear map of them, which more draws than dimensions tell without
an error; covariances of draws alone have errors that add up to dim^2 / (4 n) nats of divergence.
"""

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.kernel.advi.triangular import cholesky, inverse_of, times, transposed_times
from ppl.methods.correct.sinh_arcsinh import SinhArcsinh
from ppl.methods.moves.metric import positive
from ppl.records import dataclass

SLOPES_A_DIMENSION = 8
"""Draws for each dimension at which slopes are evaluated."""
FEWEST_SLOPES = 256
"""Draws at which slopes are evaluated, if there are as many."""
CORRELATED_BY_SLOPES, UNCORRELATED_SLOPES = 500, 1024
"""Dimensions up to which there are correlations, and draws for the sds alone of more."""
FEWEST_CORRELATED = 2
"""Draws for each dimension from which on there are correlations."""


@dataclass(frozen=True)
class SkewedGaussian:
    """The `outer` Gaussian whitens, `margins` make each coordinate normal, the `inner` one is of these."""

    outer: Gaussian
    margins: SinhArcsinh
    inner: Gaussian

    @classmethod
    def of(cls, target: Target, u: Floats) -> "SkewedGaussian":
        """Fitted to draws u (n, dim). Raises LinAlgError where they fell together."""
        correlated = max(FEWEST_SLOPES, SLOPES_A_DIMENSION * target.dim)
        count = correlated if target.dim <= CORRELATED_BY_SLOPES else UNCORRELATED_SLOPES
        some = slice(None, None, len(u) // count | 1)  # odd, as chains are even in number, and take turns
        gradients = target.gradients_alone(u[some])
        outer = by_slopes(u[some], gradients)
        white = times(outer.whitening, u - outer.mean)
        margins = SinhArcsinh.of(white)
        gradients = margins.pushed_forward(white[some], transposed_times(outer.factor, gradients))
        return cls(outer, margins, by_slopes(margins.normal(white[some])[0], gradients))

    def draws(self, z: Floats) -> Floats:
        """The points (n, dim) that standard noise z (n, dim) lands on."""
        return self.outer.draws(self.margins.back(self.inner.draws(z)))

    def log_densities(self, u: Floats) -> Floats:
        """Log densities (n,) at points u (n, dim)."""
        scores, change = self.margins.normal(times(self.outer.whitening, u - self.outer.mean))
        return np.asarray(self.inner.log_densities(scores) + change - self.outer.half_log_det)


def by_slopes(u: Floats, gradients: Floats) -> Gaussian:
    """The Gaussian whose log density has the gradients (n, dim) of another at its draws u (n, dim), nearly.

    It minimises the Fisher divergence, in units of its own covariance: that is the geometric mean of the
    covariance of draws and of the inverse of that of gradients. Modi et al. (2023), "Variational inference
    with Gaussian score matching". In many dimensions, or of few draws, without correlations.

    Raises LinAlgError where a coordinate has no spread, or is not finite.
    """
    n, dim = u.shape
    if dim > CORRELATED_BY_SLOPES or n < FEWEST_CORRELATED * dim:
        scales = positive(np.sqrt(u.std(axis=0) / gradients.std(axis=0)))
        return Gaussian(u.mean(axis=0) + scales**2 * gradients.mean(axis=0), scales)
    of_draws, of_gradients = (np.atleast_2d(np.cov(each.T)) for each in (u, gradients))
    root = cholesky(of_gradients)
    values, vectors = np.linalg.eigh(root.T @ of_draws @ root)
    back = inverse_of(root).T @ vectors * np.maximum(values, 0) ** 0.25
    covariance = back @ back.T
    return Gaussian.with_covariance(u.mean(axis=0) + covariance @ gradients.mean(axis=0), covariance)
