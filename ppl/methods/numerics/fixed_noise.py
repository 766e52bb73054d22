"""Quasi-random draws of the standard normal, with the moments of the distribution.

Their scrambled Sobol points are those of `scipy.stats.qmc.Sobol`, to the last bit, for the first dimensions:
all of scipy.stats takes a quarter of a second to import, which is as long as many a fit.
"""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.late import special, stats


def fixed_noise(n: int, dim: int, rng: np.random.Generator, sets: int = 1) -> Floats:
    """Standard normal points (sets * n, dim) from scrambled Sobol sequences, each set of n with sample mean 0
    and covariance I.

    n is a power of two. With too few points to whiten, each coordinate is only scaled to variance 1.
    """
    z = quasi_random(n, dim, rng, sets).reshape(sets, n, dim)
    z = z - z.mean(axis=1, keepdims=True)
    if n <= 2 * dim:
        white = z / z.std(axis=1, keepdims=True)
    else:
        white = z @ np.linalg.inv(np.linalg.cholesky(z.mT @ z / n)).mT
    return np.asarray(white.reshape(-1, dim))


def quasi_random(n: int, dim: int, rng: np.random.Generator, sets: int = 1) -> Floats:
    """Standard normal points (sets * n, dim) from scrambled Sobol sequences: each is a draw of the normal.

    n is a power of two. In more dimensions than SciPy has sequences for they are independent.
    """
    if dim <= MOST_DIMENSIONS:
        return _normal(sobol(n, dim, rng, sets))
    if dim <= stats.qmc.Sobol.MAXDIM:
        return _normal(np.concatenate([stats.qmc.Sobol(dim, seed=rng).random(n) for _ in range(sets)]))
    return rng.standard_normal((sets * n, dim))


def _normal(points: Floats) -> Floats:
    """Quantiles of the standard normal at Sobol points; one in 2^30 lies at 0, and is moved into its cell."""
    return np.asarray(special.ndtri(np.maximum(points, 0.5 * SOBOL_SPACING)))


Bits = NDArray[np.uint32]


SOBOL_BITS = 30
"""Binary digits after the point, as in Joe and Kuo (2008)."""
SOBOL_SPACING = 2.0**-SOBOL_BITS
"""The distance between two neighbouring coordinates."""

# What the first bit after the point stands for, the second, and so on, in units of 2^-bits.
MAGNITUDES = 1 << np.arange(SOBOL_BITS - 1, -1, -1, dtype=np.uint32)
LOWER = np.tri(SOBOL_BITS, k=-1, dtype=bool)
DIAGONAL = np.eye(SOBOL_BITS, dtype=np.uint32)

TABLE = Path(__file__).with_name("sobol_directions.txt").read_text(encoding="utf-8").splitlines()
DIRECTIONS = tuple(row for row in TABLE if row[0] != "#")
MOST_DIMENSIONS = 1 + len(DIRECTIONS)


def sobol(n: int, dim: int, rng: np.random.Generator, sets: int = 1) -> Floats:
    """Sets of n points each (sets * n, dim) of [0, 1)^dim, n a power of two, dim at most `MOST_DIMENSIONS`.

    Scrambled by random lower-triangular matrices and a shift (Matousek 1998), with the numbers of a generator
    that is spawned from `rng`, in SciPy's order. Sets share the matrices; each has a shift of its own.
    """
    (rng,) = rng.spawn(1)
    shift = rng.integers(2, size=(dim, SOBOL_BITS), dtype=np.uint32) @ MAGNITUDES[::-1]
    matrices = rng.integers(2, size=(dim, SOBOL_BITS, SOBOL_BITS), dtype=np.uint32)
    others = rng.integers(1 << SOBOL_BITS, size=(sets - 1, dim), dtype=np.uint32)
    points = np.zeros((n, dim), dtype=np.uint32)
    for k, direction in enumerate(_scrambled(_directions(dim)[:, : (n - 1).bit_length()], matrices).T):
        points[1 << k : 2 << k] = points[: 1 << k][::-1] ^ direction  # in the order of a Gray code
    points = points ^ np.vstack([shift, others])[:, None]
    return np.asarray(points.reshape(-1, dim) * SOBOL_SPACING)


@cache
def _directions(dim: int) -> Bits:
    """The direction numbers (dim, bits) in units of 2^-bits, by the recurrence of the polynomials."""
    numbers = [[1] * SOBOL_BITS]
    for polynomial, *row in (map(int, line.split()) for line in DIRECTIONS[: dim - 1]):
        degree = len(row)
        taps = [k for k in range(1, degree) if polynomial >> (degree - k) & 1]
        for j in range(degree, SOBOL_BITS):
            number = row[j - degree] ^ row[j - degree] << degree
            for k in taps:
                number ^= row[j - k] << k
            row.append(number)
        numbers.append(row)
    return np.array(numbers, dtype=np.uint32) * MAGNITUDES


def _scrambled(directions: Bits, matrices: Bits) -> Bits:
    """Directions (dim, k) multiplied by the lower triangle of the matrix (bits, bits) of their dimension,
    modulo 2: the exclusive or of its columns where a direction has a bit, which is among the first k.
    """
    count = directions.shape[1]
    columns = MAGNITUDES @ np.where(LOWER, matrices, DIAGONAL)[..., :count]
    bits = (directions[..., None] & MAGNITUDES[:count]) > 0
    return np.asarray(np.bitwise_xor.reduce(columns[:, None] * bits, axis=-1))
