"""The order of the rows in an epoch: a shuffle in memory; of many rows, a formula."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Words = NDArray[np.uint64]

MOST_SHUFFLED = 1 << 24
"""Rows whose order is held in memory, 4 bytes each."""
ROUNDS = 6
"""Of a Feistel network; three make a permutation pseudorandom (Luby and Rackoff 1988)."""


def rows_in_order(n_rows: int, seed: int, epoch: int, places: slice) -> Rows:
    """The rows of an epoch at consecutive places of its order, from 0."""
    if n_rows <= MOST_SHUFFLED:
        return _shuffled(n_rows, seed, epoch)[places].astype(np.intp)
    return permuted(np.arange(*places.indices(n_rows)), n_rows, seed, epoch)


@lru_cache(maxsize=2)
def _shuffled(n_rows: int, seed: int, epoch: int) -> NDArray[np.unsignedinteger]:
    """All rows in another order, by numbers as short as they can be."""
    rows = np.arange(n_rows, dtype=np.min_scalar_type(n_rows))
    np.random.default_rng([seed, epoch]).shuffle(rows)
    return rows


def permuted(places: Rows, n_rows: int, seed: int, epoch: int) -> Rows:
    """The images (n,) of places in a pseudorandom permutation of 0, ..., n_rows - 1.

    A Feistel network permutes the numbers below a power of 4; what it takes beyond the rows goes through it
    again, until it is a row ("cycle walking"; Black and Rogaway 2002, Ciphers with arbitrary finite domains).
    """
    half = np.uint64((int(n_rows - 1).bit_length() + 1) // 2)
    keys = np.random.default_rng([seed, epoch]).integers(1 << 64, size=ROUNDS, dtype=np.uint64)
    images = feistel(places.astype(np.uint64), half, keys)
    while (outside := np.flatnonzero(images >= n_rows)).size:
        images[outside] = feistel(images[outside], half, keys)
    return images.astype(np.intp)


def feistel(x: Words, half: np.uint64, keys: Words) -> Words:
    """Numbers (n,) of two halves of so many bits, permuted: a round adds a hash of one half to the other."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = x >> half, x & mask
    for key in keys:
        left, right = right, left ^ (mixed(right + key) & mask)
    return (left << half) | right


def mixed(x: Words) -> Words:
    """A hash of 64 bits: the mixing function of SplitMix64 (Steele, Lea and Flood 2014, figure 16)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
