"""Who listens to a run: what the keyword `progress` asks for."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from ppl.arguments import repr_of
from ppl.errors import ArgumentError
from ppl.kernel.advi.progress import Listener, Phase, silent


def listener_of(progress: Listener | bool | None, plan: Sequence[Phase]) -> AbstractContextManager[Listener]:
    """The listener; True stands for one that shows how far a run through the stages of `plan` is."""
    if callable(progress):
        return nullcontext(progress)
    if progress is None or progress is False:
        return nullcontext(silent)
    if progress is not True:
        raise ArgumentError(f"progress is {repr_of(progress)}, but must be True, False, None or a function")
    from rich.console import Console  # which takes longer to import than a small fit to compile

    from ppl.run.progress_display import display

    console = Console()  # below a notebook's cell, else on standard error
    return display(console if console.is_jupyter else Console(stderr=True), plan=plan)
