"""What every stage of a run is given beside its target."""

from typing import Generic, Protocol, TypeVar

from ppl.kernel.advi.journal import NULL_JOURNAL, Journal
from ppl.kernel.advi.progress import Listener, silent
from ppl.kernel.advi.streams import Streams
from ppl.records import dataclass


class Asked(Protocol):
    """The settings that the search for a step size and the loop read."""

    @property
    def seed(self) -> int: ...
    @property
    def adapt_iter(self) -> int: ...


Settings = TypeVar("Settings", bound=Asked)


@dataclass(frozen=True)
class Context(Generic[Settings]):
    """The settings, the streams of random numbers, who hears of progress, and where states are kept."""

    settings: Settings
    streams: Streams
    listen: Listener = silent
    journal: Journal = NULL_JOURNAL

    @classmethod
    def of(
        cls, settings: Settings, listen: Listener = silent, journal: Journal = NULL_JOURNAL
    ) -> "Context[Settings]":
        """With streams from the seed of the settings."""
        return cls(settings, Streams(settings.seed), listen, journal)
