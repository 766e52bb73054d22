"""What every stage of a run is given beside its target."""

from dataclasses import dataclass

from ppl.inference.run.journal import NULL_JOURNAL, Journal
from ppl.inference.run.progress import Listener, silent
from ppl.inference.run.settings import Settings
from ppl.inference.run.streams import Streams


@dataclass(frozen=True)
class Context:
    """The settings, the streams of random numbers, who hears of progress, and where states are kept."""

    settings: Settings
    streams: Streams
    listen: Listener = silent
    journal: Journal = NULL_JOURNAL

    @classmethod
    def of(cls, settings: Settings, listen: Listener = silent, journal: Journal = NULL_JOURNAL) -> "Context":
        """With streams from the seed of the settings."""
        return cls(settings, Streams(settings.seed), listen, journal)
