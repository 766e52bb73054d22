"""Independent streams of random numbers, one a purpose, from one seed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator, SeedSequence


@dataclass(frozen=True)
class Streams:
    """Streams by purpose, each made when it is first asked for.

    More draws for one of them leave the numbers of the others as they were.  A new one has the next number.

    Example:
        >>> bool(Streams(1).draws.random() == Streams(1).draws.random())
        True
    """

    seed: int

    @cached_property
    def start(self) -> Generator:
        return self._generator(0)

    @property
    def search(self) -> SeedSequence:
        """A seed, because every candidate of the eta search begins with the same numbers."""
        return self._seed(1)

    @cached_property
    def gradients(self) -> Generator:
        return self._generator(2)

    @cached_property
    def elbo(self) -> Generator:
        return self._generator(3)

    @cached_property
    def draws(self) -> Generator:
        return self._generator(4)

    @cached_property
    def pathfinder(self) -> Generator:
        return self._generator(5)

    @cached_property
    def polish(self) -> Generator:
        return self._generator(6)

    def _generator(self, k: int) -> Generator:
        return np.random.default_rng(self._seed(k))

    def _seed(self, k: int) -> SeedSequence:
        """What `SeedSequence(seed).spawn` gives as its child k."""
        return SeedSequence(self.seed, spawn_key=(k,))
