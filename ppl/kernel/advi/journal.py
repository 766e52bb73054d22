"""What a run has come to, stage by stage, so that one that was interrupted can go on.

A stage records its state together with the generators of random numbers that it draws from. Recalling the
state sets those generators to where they stood, so that everything after it happens as it would have: a run
that goes on ends in the same bytes as one that was never interrupted.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numpy.random import Generator

from ppl.kernel.advi.outcome import Ending

State = TypeVar("State")


class Journal:
    """Where states are kept: nowhere, of a run that is not going to be resumed."""

    def recall(self, stage: str, *generators: Generator) -> Any:
        """The state last recorded for the stage, the generators set to what they were then; else None."""

    def record(self, stage: str, state: Any, *generators: Generator) -> None:
        """Keep the state of the stage, and where the generators stand."""


NULL_JOURNAL = Journal()


def once(journal: Journal, stage: str, compute: Callable[[], State], *generators: Generator) -> State:
    """What `compute` gives, unless the journal has it; what Ctrl-C cut short is not recorded."""
    recorded: State | None = journal.recall(stage, *generators)
    if recorded is not None:
        return recorded
    state = compute()
    outcome = getattr(state, "outcome", None)
    if outcome is None or outcome.ending is not Ending.INTERRUPTED:
        journal.record(stage, state, *generators)
    return state
