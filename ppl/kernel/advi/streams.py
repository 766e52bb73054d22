"""Independent streams of random numbers, one a purpose, from one seed."""

from functools import cached_property

import numpy as np
from numpy.random import Generator, SeedSequence

from ppl.records import dataclass


def stream(k: int) -> cached_property[Generator]:
    return cached_property(lambda streams: np.random.default_rng(streams.child(k)))


@dataclass(frozen=True)
class Streams:
    """Streams by purpose, each made when it is first asked for.

    More draws for one of them leave the numbers of the others as they were.  A new one has the next number.

    Example:
        >>> bool(Streams(1).draws.random() == Streams(1).draws.random())
        True
    """

    seed: int

    start = stream(0)
    gradients = stream(2)
    elbo = stream(3)
    draws = stream(4)
    pathfinder = stream(5)
    refine = stream(6)
    nested = stream(7)
    images = stream(8)

    @property
    def search(self) -> SeedSequence:
        """A seed, because every candidate of the eta search begins with the same numbers."""
        return self.child(1)

    def child(self, k: int) -> SeedSequence:
        """What `SeedSequence(seed).spawn` gives as its child k."""
        return SeedSequence(self.seed, spawn_key=(k,))
