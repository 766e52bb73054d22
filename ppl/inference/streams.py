"""Independent streams of random numbers, one a purpose, from one seed."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence


@dataclass(frozen=True)
class Streams:
    """Seeds by purpose: more draws for one of them leave the numbers of the others as they were.

    `search` stays a seed because every candidate of the eta search begins with the same numbers.
    """

    start: Generator
    search: SeedSequence
    gradients: Generator
    elbo: Generator
    draws: Generator
    pathfinder: Generator
    polish: Generator


def streams(seed: int) -> Streams:
    """The streams of a run. A new one goes to the end, where it leaves the others as they are."""
    start, search, *rest = SeedSequence(seed).spawn(7)
    return Streams(np.random.default_rng(start), search, *map(np.random.default_rng, rest))
