"""Who listens to a run: what the keyword `progress` asks for."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from time import perf_counter
from typing import Any

from ppl.arguments import repr_of
from ppl.errors import ArgumentError
from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.records import dataclass, field


class Interrupted(KeyboardInterrupt):
    """A run was interrupted; `fit` is what it gives so far: a Fit, or Chains."""

    def __init__(self, fit: Any):
        self.fit = fit
        super().__init__(
            "The run was interrupted. The partial fit is the attribute `fit` of this exception; "
            'on_interrupt="return" returns it.'
        )


OF_DRAWS = (Phase.OTHER_MODES, Phase.MOVES)
"""Stages after the draws of q, which Ctrl-C leaves with the draws that there are."""
LOGGER = "ppl"
"""The logger of the standard library that stages are told to, at level DEBUG."""


@contextmanager
def logging_stages(listen: Listener) -> Iterator[Listener]:
    """The listener, which also tells the logger the seconds of each stage, if the program logs at all."""
    module = sys.modules.get("logging")  # without it there is nobody to read
    if module is None or not module.getLogger(LOGGER).isEnabledFor(module.DEBUG):
        yield listen
        return
    log = module.getLogger(LOGGER)
    stages: dict[int, tuple[Phase, float]] = {}

    def ended(run: int) -> None:
        phase, began = stages.pop(run)
        log.debug("%s%s: %.3f s", phase.value, f" of run {run}" if run else "", perf_counter() - began)

    def told(report: Progress) -> None:
        if report.run in stages and stages[report.run][0] is not report.phase:
            ended(report.run)
        stages.setdefault(report.run, (report.phase, perf_counter()))
        listen(report)

    try:
        yield told
    finally:
        for run in [*stages]:
            ended(run)


@dataclass
class Deadline:
    """A listener of a run that ends, as by Ctrl-C, at the first report after some seconds; None is never.

    Then each of the stages that draws still pass is left at its first report, with what it has.
    """

    listen: Listener
    seconds: float | None
    began: float = field(default_factory=perf_counter)
    left: set[Phase] = field(default_factory=set)

    @property
    def end(self) -> float:
        """What the clock `perf_counter` shows then."""
        return inf if self.seconds is None else self.began + self.seconds

    @property
    def over(self) -> bool:
        return perf_counter() > self.end

    @property
    def passed(self) -> bool:
        return bool(self.left)

    def __call__(self, report: Progress) -> None:
        self.listen(report)
        if not self.over:
            return
        if not self.passed or (report.phase in OF_DRAWS and report.phase not in self.left):
            self.left.add(report.phase)
            raise KeyboardInterrupt


def listener_of(progress: Listener | bool | None, plan: Sequence[Phase]) -> AbstractContextManager[Listener]:
    """The listener; True stands for one that shows how far a run through the stages of `plan` is."""
    if callable(progress):
        return nullcontext(progress)
    if progress is None or progress is False:
        return nullcontext(silent)
    if progress is not True:
        raise ArgumentError(f"progress is {repr_of(progress)}, but must be True, False, None or a function")
    from ppl.run.console import console_of
    from ppl.run.progress_display import display

    if "IPython" in sys.modules:
        from rich.console import Console

        if (console := Console()).is_jupyter:  # below the cell
            return display(console, plan=plan)
    return display(console_of(sys.stderr), plan=plan)
