"""Progress of a command: on standard error, so that standard output has results alone."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TextIO, cast

from ppl.cli.output import TolerantStream
from ppl.kernel.advi.outcome import Listener, Phase
from ppl.run.console import console_of
from ppl.run.progress_display import ITERATIONS_A_LINE, display


def on_stderr(
    plan: Sequence[Phase],
    refresh: int = ITERATIONS_A_LINE,
    quiet: bool = False,
    err: TolerantStream | None = None,
) -> AbstractContextManager[Listener]:
    """A listener for a run through the stages of `plan`; a reader of `err` that goes away ends nothing."""
    console = console_of(cast(TextIO, err or TolerantStream("stderr")))
    return display(console, 0 if quiet else refresh, plan)
