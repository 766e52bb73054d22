"""The metric of Hamiltonian trajectories: coordinates in which chains are uncorrelated, of sd 1."""

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.triangular import cholesky

CORRELATED_DIMENSIONS = 200
"""Dimensions up to which the metric has correlations. Above only sds: so few draws know little of
correlations, and products with a matrix would cost more than the target.
"""


def metric_of(u: Floats) -> Floats:
    """A Cholesky factor of the covariance of u (n, dim), its correlations shrunk by dim / (dim + n).

    In more than `CORRELATED_DIMENSIONS` dimensions only the sds (dim,).

    Raises LinAlgError where there is none, as where a coordinate has no spread or is not finite.
    """
    n, dim = u.shape
    if dim > CORRELATED_DIMENSIONS:
        return positive(u.std(axis=0))
    covariance = np.atleast_2d(np.cov(u.T))
    shrink = dim / (dim + n)
    diagonal = np.diag(np.diag(covariance))
    if not np.isfinite(covariance).all():
        raise np.linalg.LinAlgError("a draw is not finite")
    return cholesky((1 - shrink) * covariance + shrink * diagonal)


def positive(scales: Floats) -> Floats:
    """The scales (dim,). Raises LinAlgError where one is not positive and finite."""
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise np.linalg.LinAlgError("a coordinate has no spread, or is not finite")
    return np.asarray(scales)
