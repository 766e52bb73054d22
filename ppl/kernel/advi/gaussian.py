"""A Gaussian by its mean and a triangular factor of its covariance, or its sds alone; Laplace's at a mode."""

from functools import cached_property

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.kernel.advi.triangular import (
    cholesky,
    composed,
    diagonal_of,
    inverse_of,
    solve_triangular,
    times,
    transposed_times,
)
from ppl.records import dataclass, replace

LOG_2PI = float(np.log(2 * np.pi))
"""The logarithm of 2 pi."""


MOST_DENSE = 1000
"""Dimensions above which no matrix (dim, dim) is formed unless full rank is asked for."""
WIDEST_SD = 5.0
"""The sd, in units, where the log density curves upward and there is no variance to read off it."""


@dataclass(frozen=True)
class Gaussian:
    """N(mean, L L'): mean (dim,), lower-triangular factor L (dim, dim) with a positive diagonal, or its
    diagonal (dim,) where nothing is correlated."""

    mean: Floats
    factor: Floats

    @classmethod
    def with_covariance(cls, mean: Floats, covariance: Floats) -> "Gaussian":
        """Raises LinAlgError when the covariance (dim, dim) is not positive definite."""
        return cls(mean, cholesky(covariance))

    @classmethod
    def with_precision(cls, mean: Floats, precision: Floats, units: Floats) -> "Gaussian":
        """From a precision matrix (dim, dim) measured in `units` (dim,), which keep it well conditioned.

        Raises LinAlgError when it is not positive definite.
        """
        upper = cholesky(precision[::-1, ::-1])[::-1, ::-1]  # precision = upper upper'
        return cls(mean, units[:, None] * solve_triangular(upper, np.eye(len(mean)), lower=False).T)

    def with_mean(self, mean: Floats) -> "Gaussian":
        """The same covariance about another mean."""
        return replace(self, mean=mean)

    def rescaled(self, inverse: Floats) -> "Gaussian":
        """The same over x = inverse u, for a lower-triangular matrix (dim, dim) or its diagonal (dim,)."""
        return Gaussian(times(inverse, self.mean), composed(inverse, self.factor))

    def draws(self, z: Floats) -> Floats:
        """The points (n, dim) that standard noise z (n, dim) lands on."""
        return self.mean + times(self.factor, z)

    def log_densities(self, u: Floats) -> Floats:
        """Log densities (n,) at points u (n, dim)."""
        z = times(self.whitening, u - self.mean)
        return np.asarray(-0.5 * ((z**2).sum(axis=1) + len(self.mean) * LOG_2PI) - self.half_log_det)

    def log_density_gradients(self, u: Floats) -> tuple[Floats, Floats]:
        """The log density at u (n, dim), (n,), and its gradient there, (n, dim)."""
        z = times(self.whitening, u - self.mean)
        return self.log_densities(u), -transposed_times(self.whitening, z)

    @cached_property
    def whitening(self) -> Floats:
        """The inverse of the factor: a product with it costs less than solving for thousands of points."""
        return inverse_of(self.factor)

    @property
    def half_log_det(self) -> float:
        return float(np.log(diagonal_of(self.factor)).sum())

    @property
    def precisions(self) -> Floats:
        """The diagonal (dim,) of the precision matrix: one over the conditional variances."""
        return np.asarray(np.atleast_2d(self.whitening**2).sum(axis=0))


def made_positive(precision: Floats) -> tuple[Floats, int]:
    """A symmetric matrix (dim, dim), in units that suit it, with its eigenvalues made positive by their size.

    Also how many were not: none is left smaller than WIDEST_SD^-2.
    """
    values, vectors = np.linalg.eigh(precision)
    least = WIDEST_SD**-2
    if (values > 0).all():
        return precision, 0
    raised = np.maximum(np.abs(values), least)
    return np.asarray((vectors * raised) @ vectors.T), int((values <= 0).sum())


# --- Second derivatives of a target by differences of its gradients ------------------------------


HESSIAN_STEP = float(np.finfo(float).eps ** (1 / 3))
"""The step that balances truncation, which grows as its square, against rounding, which falls as its inverse.
"""


def hessian(target: Target, u: Floats, scales: Floats) -> Floats:
    """The Hessian at `u`, (dim, dim) and symmetric, by differences of gradients, to about nine digits.

    `scales` (dim,) are the distances over which the curvature changes, such as standard deviations.
    """
    steps = np.diag(scales)
    ahead, behind = (
        target.gradients_alone(at) for at in (u + HESSIAN_STEP * steps, u - HESSIAN_STEP * steps)
    )
    matrix = (ahead - behind) / (2 * HESSIAN_STEP) / scales[:, None]
    return np.asarray(0.5 * (matrix + matrix.T))


def gaussian_at(target: Target, mode: Floats, scales: Floats) -> tuple[Gaussian, int]:
    """Laplace's approximation at a mode (dim,), and the number of directions that had to be repaired.

    `scales` as for `hessian`.  Raises LinAlgError or ValueError when the Hessian is not finite.
    """
    curve = hessian(target, mode, scales)
    precision, repaired = made_positive(-curve * np.outer(scales, scales))
    return Gaussian.with_precision(mode, precision, scales), repaired
