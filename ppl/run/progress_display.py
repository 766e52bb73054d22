"""How far a run is, and how long it may take: a bar on a terminal or in a notebook, plain lines elsewhere."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING

from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.methods.run.phases import OF_FIT, PHASES
from ppl.run.console import Console, PlainConsole

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

ITERATIONS_A_LINE = 100
"""Iterations a plain line, where nothing else was asked for."""
BAR_COLUMNS = 24
"""Columns of a bar."""
REDRAWS_A_SECOND = 5
"""Times a second that a bar is drawn."""
SHARE_TO_FORECAST = 0.02
"""A share of the work from which on the time it took tells how long the rest may take."""


def display(
    console: Console, refresh: int = ITERATIONS_A_LINE, plan: Sequence[Phase] = OF_FIT
) -> AbstractContextManager[Listener]:
    """A listener that shows on `console` how far a run through the stages of `plan` is.

    On a terminal, or in a notebook with ipywidgets, it is a bar that goes away at the end; elsewhere a plain
    line every `refresh` iterations and for every note that is new. 0 for neither.
    """
    if refresh == 0:
        return nullcontext(silent)
    if isinstance(console, PlainConsole):
        return nullcontext(_lines(console, refresh, plan))
    terminal = console.is_terminal and not console.is_dumb_terminal
    if terminal or (console.is_jupyter and find_spec("ipywidgets")):
        return _bars(console, plan)
    return nullcontext(_lines(console, refresh, plan))


class Meter:
    """Listens to one run, or to several beside each other and one after the other."""

    def __init__(self, plan: Sequence[Phase], clock: Callable[[], float] = perf_counter):
        self._costs = {phase: PHASES[phase].cost for phase in plan}
        self._clock, self._updated_at = clock, 0.0
        self._began: tuple[float, float] | None = None
        """The clock and the work spent at the first report: a program may be compiled before it."""
        self._work: dict[int, tuple[float, float]] = {}
        """Of each run: the work of the stages that were there, and the work ahead if all others come."""
        self._stages: dict[int, tuple[Phase, float]] = {}
        """The last stage of each run, and the work before it."""
        self.runs = 0

    def hear(self, progress: Progress) -> None:
        """Takes a report into account.

        A stage that is left out or ends early counts as done, one that comes a second time changes nothing.
        """
        run, phase, order = progress.run, progress.phase, [*self._costs]
        self.runs = max(self.runs, progress.runs)
        spent, ahead = self._work.get(run, (0.0, sum(self._costs.values())))
        if phase is Phase.DONE:
            self._work[run] = spent, 0.0
        if phase not in self._costs:
            return
        stage, before = self._stages.get(run, (phase, 0.0))
        if order.index(phase) > order.index(stage):
            before = spent
        elif phase is not stage:
            return
        self._stages[run] = phase, before
        part = min(1.0, progress.iteration / progress.total) if progress.total else 0.0
        later = sum(self._costs[other] for other in order[order.index(phase) + 1 :])
        self._work[run] = (
            max(spent, before + part * self._costs[phase]),
            min(ahead, later + (1 - part) * self._costs[phase]),
        )
        self._updated_at = self._clock()
        self._began = self._began or (self._updated_at, self._spent)

    def share(self, run: int = 0) -> float:
        """How far a run is, in [0, 1]; it never falls."""
        _, ahead = self._work.get(run, (0.0, math.inf))
        return 1 - min(1.0, ahead / sum(self._costs.values()))

    @property
    def left(self) -> float | None:
        """About how many seconds are left, if all stages come; None where it is too early to say.

        The rate is that since the first report, of the stages that were there: one left out took no time.
        """
        if self._began is None:
            return None
        whole, (began_at, spent_before) = sum(self._costs.values()), self._began
        ahead = sum(ahead for _, ahead in self._work.values()) + whole * max(0, self.runs - len(self._work))
        spent = self._spent - spent_before
        if spent < SHARE_TO_FORECAST * whole or not ahead:
            return None
        return (self._updated_at - began_at) * ahead / spent

    @property
    def _spent(self) -> float:
        return sum(spent for spent, _ in self._work.values())

    @property
    def in_words(self) -> list[str]:
        """`about 40 s left of all runs`, where so much is known."""
        left, of_all = self.left, " of all runs" if self.runs else ""
        return [f"about {roughly(left)} left{of_all}"] if left is not None and left >= 1 else []


@contextmanager
def _bars(console: "RichConsole", plan: Sequence[Phase]) -> Iterator[Listener]:
    """A line for each run: its stage, a bar, the time it took and may take, and what it last said."""
    from rich import progress as rich
    from rich.table import Column
    from rich.text import Text

    meter = Meter(plan)
    lines: dict[int, rich.TaskID] = {}
    elbos: dict[int, float] = {}

    class Times(rich.ProgressColumn):
        """`12 s, about 40 s left`, the latter until the last of several runs ends."""

        max_refresh = 0.5

        def render(self, task: rich.Task) -> Text:
            elapsed = task.finished_time or task.elapsed or 0.0
            return Text(", ".join([duration(elapsed), *meter.in_words]))

    # What a program prints on a terminal goes above the bar; what it prints into a file goes there.
    terminal = sys.stdout is not None and sys.stdout.isatty()
    bar_lines = rich.Progress(
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(bar_width=max(6, min(BAR_COLUMNS, console.width - 84))),
        Times(),
        rich.TextColumn("{task.fields[status]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        console=console,
        transient=True,
        expand=True,
        refresh_per_second=REDRAWS_A_SECOND,
        redirect_stdout=terminal,
    )

    def begun(stage: str) -> rich.TaskID:
        return bar_lines.add_task(stage, total=1.0, status="")

    def listen(progress: Progress) -> None:
        run = progress.run
        if run not in lines:
            lines[run] = waiting.pop() if waiting else begun(name(progress))
        meter.hear(progress)
        if math.isnan(progress.elbo):
            progress = replace(progress, elbo=elbos.get(run, math.nan))
        elif progress.phase is not Phase.STEP_SIZE:  # whose candidates are not q
            elbos[run] = progress.elbo
        status = status_text(progress)
        bar_lines.update(lines[run], completed=meter.share(run), description=name(progress), status=status)
        if progress.phase is Phase.DONE:
            bar_lines.stop_task(lines[run])

    with bar_lines:
        waiting = [begun("starting")]
        yield listen


def _lines(console: Console, every: int, plan: Sequence[Phase]) -> Listener:
    """Prints a line where a stage begins, every so many iterations, and for each note that is new."""
    meter = Meter(plan)
    last: dict[tuple[int, Phase], Progress] = {}

    def listen(progress: Progress) -> None:
        key = progress.run, progress.phase
        meter.hear(progress)
        before = last.get(key, Progress(progress.phase, 0, progress.total))
        begins = key not in last and progress.iteration == 0
        if begins or progress.iteration // every > before.iteration // every or progress.note != before.note:
            last[key] = progress
            text = line(progress, *meter.in_words)
            console.print(text, highlight=False, markup=False, soft_wrap=True)

    return listen


def line(progress: Progress, *more: str) -> str:
    """`stochastic optimisation  300 of 10000   ELBO -34.12   change 0.008 mean, 0.005 median`."""
    count = f" {progress.iteration:>{len(str(progress.total))}} of {progress.total}" if progress.total else ""
    return "   ".join(filter(None, [f"{name(progress)}{count}", status_text(progress), *more]))


def name(progress: Progress) -> str:
    """The stage, and the run or the chain where there are several."""
    what = "chain" if progress.phase in (Phase.WARMUP, Phase.SAMPLING) else "run"
    return f"{what} {progress.run}: {progress.phase}" if progress.run else str(progress.phase)


def status_text(progress: Progress) -> str:
    """The ELBO, its changes and the note, as far as they are known."""
    mean, median = progress.delta_mean, progress.delta_median  # nan until there are two ELBOs to compare
    elbo = "" if math.isnan(progress.elbo) else f"ELBO {nats(progress.elbo)}"
    changes = "" if math.isnan(mean) else f"change {mean:.3g} mean, {median:.3g} median"
    return "   ".join(filter(None, (elbo, changes, progress.note)))


def nats(elbo: float) -> str:
    """Two decimals, or three digits of a number too large for decimals to matter."""
    return f"{elbo:.2f}" if abs(elbo) < 1e9 else f"{elbo:.3g}"


def duration(seconds: float) -> str:
    """`12 s`, `3 min 05 s`, `2 h 10 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def roughly(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h`: as many digits as an estimate has."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
