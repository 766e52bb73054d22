"""The context of every stage of a run: settings, streams, listener, journal."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.random import Generator, SeedSequence

from ppl.kernel.advi.outcome import Ending, Listener, silent
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
        """Child k of `SeedSequence(seed).spawn`."""
        return SeedSequence(self.seed, spawn_key=(k,))


Recorded = TypeVar("Recorded")


class Journal:
    """Where states are kept: nowhere, of a run that is not going to be resumed."""

    def recall(self, stage: str, *generators: Generator) -> Any:
        """The state last recorded for the stage, the generators set to what they were then; else None."""

    def record(self, stage: str, state: Any, *generators: Generator) -> None:
        """Keep the state of the stage, and where the generators stand."""


NULL_JOURNAL = Journal()


def once(journal: Journal, stage: str, compute: Callable[[], Recorded], *generators: Generator) -> Recorded:
    """The state that the journal has, or that `compute` returns; an interrupted one is not recorded."""
    recorded: Recorded | None = journal.recall(stage, *generators)
    if recorded is not None:
        return recorded
    state = compute()
    outcome = getattr(state, "outcome", None)
    if outcome is None or outcome.ending is not Ending.INTERRUPTED:
        journal.record(stage, state, *generators)
    return state


class Asked(Protocol):
    """The settings that the search for a step size and the loop read."""

    @property
    def seed(self) -> int: ...
    @property
    def adapt_iter(self) -> int: ...


AnySettings = TypeVar("AnySettings", bound=Asked)


@dataclass(frozen=True)
class Context(Generic[AnySettings]):
    """The settings, the streams of random numbers, who hears of progress, and where states are kept."""

    settings: AnySettings
    streams: Streams
    listen: Listener = silent
    journal: Journal = NULL_JOURNAL

    @classmethod
    def of(
        cls, settings: AnySettings, listen: Listener = silent, journal: Journal = NULL_JOURNAL
    ) -> "Context[AnySettings]":
        """With streams from the seed of the settings."""
        return cls(settings, Streams(settings.seed), listen, journal)
