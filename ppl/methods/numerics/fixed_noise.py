"""Quasi-random draws of the standard normal, with the moments of the distribution."""

import numpy as np

from ppl.floats import Floats
from ppl.late import special, stats
from ppl.methods.numerics.sobol import MOST_DIMENSIONS, SOBOL_SPACING, sobol


def fixed_noise(n: int, dim: int, rng: np.random.Generator, sets: int = 1) -> Floats:
    """Standard normal points (sets * n, dim) from scrambled Sobol sequences, each set of n with sample mean 0
    and covariance I.

    n is a power of two. With too few points to whiten, each coordinate is only scaled to variance 1.
    """
    if dim <= MOST_DIMENSIONS:
        z = _normal(sobol(n, dim, rng, sets))
    elif dim <= stats.qmc.Sobol.MAXDIM:
        z = _normal(np.concatenate([stats.qmc.Sobol(dim, seed=rng).random(n) for _ in range(sets)]))
    else:
        z = rng.standard_normal((sets * n, dim))
    z = z.reshape(sets, n, dim)
    z = z - z.mean(axis=1, keepdims=True)
    if n <= 2 * dim:
        white = z / z.std(axis=1, keepdims=True)
    else:
        white = z @ np.linalg.inv(np.linalg.cholesky(z.mT @ z / n)).mT
    return np.asarray(white.reshape(-1, dim))


def _normal(points: Floats) -> Floats:
    """Quantiles of the standard normal at Sobol points; one in 2^30 lies at 0, and is moved into its cell."""
    return np.asarray(special.ndtri(np.maximum(points, 0.5 * SOBOL_SPACING)))
