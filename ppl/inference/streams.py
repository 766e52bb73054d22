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


def streams(seed: int) -> Streams:
    """The streams of a run."""
    start, search, gradients, elbo, draws = SeedSequence(seed).spawn(5)
    rng = np.random.default_rng
    return Streams(rng(start), search, rng(gradients), rng(elbo), rng(draws))
