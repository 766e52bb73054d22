"""What a run shows of itself: a bar on a terminal or in a notebook, plain lines elsewhere."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec

from rich.console import Console

from ppl.kernel.advi.progress import Listener, Phase, Progress, silent
from ppl.methods.run.phases import OF_FIT
from ppl.run.progress_meter import Meters

ITERATIONS_A_LINE = 100
"""Iterations a plain line, where nothing else was asked for."""


def display(
    console: Console, refresh: int = ITERATIONS_A_LINE, plan: Sequence[Phase] = OF_FIT
) -> AbstractContextManager[Listener]:
    """A listener that shows on `console` how far a run through the stages of `plan` is.

    On a terminal, or in a notebook with ipywidgets, it is a bar that goes away at the end; elsewhere a plain
    line every `refresh` iterations and for every note that is new. 0 for neither.
    """
    if refresh == 0:
        return nullcontext(silent)
    terminal = console.is_terminal and not console.is_dumb_terminal
    if terminal or (console.is_jupyter and find_spec("ipywidgets")):
        from ppl.run.progress_bars import bars

        return bars(console, plan)
    return nullcontext(_lines(console, refresh, plan))


def time_left(meters: Meters) -> list[str]:
    left, of_all = meters.left, " of all runs" if meters.runs else ""
    return [f"about {roughly(left)} left{of_all}"] if left is not None and left >= 1 else []


def _lines(console: Console, every: int, plan: Sequence[Phase]) -> Listener:
    """Prints a line where a stage begins, every so many iterations, and for each note that is new."""
    meters = Meters(plan)
    last: dict[tuple[int, Phase], Progress] = {}

    def listen(progress: Progress) -> None:
        key = progress.run, progress.phase
        meters.hear(progress)
        before = last.get(key, Progress(progress.phase, 0, progress.total))
        begins = key not in last and progress.iteration == 0
        if begins or progress.iteration // every > before.iteration // every or progress.note != before.note:
            last[key] = progress
            text = line(progress, *time_left(meters))
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
