"""Gradients from some of the rows of data: the second stochasticity of doubly stochastic inference."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ppl.errors import InferenceError
from ppl.kernel.advi.target import OfRows, Target
from ppl.records import dataclass

Rows = NDArray[np.intp]


Words64 = NDArray[np.uint64]

MOST_SHUFFLED = 1 << 24
"""The order of so many rows is held in memory, 4 bytes each."""
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


def feistel(x: Words64, half: np.uint64, keys: Words64) -> Words64:
    """Numbers (n,) of two halves of so many bits, permuted: a round adds a hash of one half to the other."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = x >> half, x & mask
    for key in keys:
        left, right = right, left ^ (mixed(right + key) & mask)
    return (left << half) | right


def mixed(x: Words64) -> Words64:
    """A hash of 64 bits: the mixing function of SplitMix64 (Steele, Lea and Flood 2014, figure 16)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


PURPOSE_START = 1
"""The purpose of the sample of rows that a start is found on; 0 is judging."""
MOST_ROWS_ON_THE_WAY = 10_000
"""Rows that stand for all of them while a run is on its way."""


@dataclass(frozen=True)
class AllRows:
    """The whole target, always: as an iteration sees it, and as the path so far is judged by it."""

    def view(self, target: Target, iteration: int) -> Target:
        return target

    def on_the_way(self, target: Target, purpose: int = 0) -> Target:
        return target


ALL_ROWS = AllRows()


@dataclass(frozen=True)
class Minibatches:
    """Batches of `size` rows, in an order that is shuffled anew each epoch; the last batch has what is left.

    Weighted by their sizes, the gradients of the batches of an epoch average to the full gradient.
    """

    size: int
    seed: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InferenceError(f"minibatch = {self.size} is out of range; expected at least 1 row.")

    def view(self, target: Target, iteration: int) -> Target:
        """The target as iteration 0, 1, ... is to see it."""
        return minibatch(target, self.rows(rows_of(target), iteration))

    def on_the_way(self, target: Target, purpose: int = 0) -> Target:
        """The target by which a step size or the path so far is judged.

        It has all rows, or of more than `MOST_ROWS_ON_THE_WAY` the same sample each time, one a purpose.
        What is left out shifts every ELBO alike, and leaves the changes that a run is judged by. A start
        found on one sample has to prove itself on another: on its own, no step would seem to better it.
        """
        n_rows = rows_of(target)
        if n_rows <= MOST_ROWS_ON_THE_WAY:
            return target
        rng = np.random.default_rng([self.seed, n_rows, purpose])
        return minibatch(target, np.sort(rng.choice(n_rows, MOST_ROWS_ON_THE_WAY, replace=False)))

    def rows(self, n_rows: int, iteration: int) -> Rows:
        """The rows of iteration 0, 1, ...: at most `size` of n_rows."""
        epoch, batch = divmod(iteration, self.per_epoch(n_rows))
        places = slice(batch * self.size, (batch + 1) * self.size)
        return rows_in_order(n_rows, self.seed, epoch, places)

    def per_epoch(self, n_rows: int) -> int:
        """The number of batches in which every row is seen once."""
        return -(-n_rows // self.size)


RowChoice = AllRows | Minibatches
"""Which rows an iteration sees, as a function of the iteration alone, so that a run can be resumed."""


def row_choice(minibatch: int | None, seed: int) -> RowChoice:
    """The batches of so many rows, or all rows where `minibatch` is None."""
    return ALL_ROWS if minibatch is None else Minibatches(minibatch, seed)


def rows_of(target: Target) -> int:
    """The number of rows of a target; InferenceError where it has none to choose from."""
    if n_rows := target.n_rows:
        return n_rows
    raise InferenceError("The target is not a sum over rows of data, so it cannot be fitted by minibatches.")


def minibatch(target: Target, rows: Rows) -> Target:
    """The target on `rows` (B,) of its `rows_of` alone."""
    batch = target.view(OfRows(rows))
    assert batch
    return batch
