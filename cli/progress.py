"""What a run shows of itself: one live line on a terminal, plain lines elsewhere."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ppl.inference.progress import Listener, Progress, silent


@contextmanager
def shown(console: Console, refresh: int) -> Iterator[Listener]:
    """A listener that shows progress on `console`, in plain lines every `refresh` iterations; 0 for none."""
    if refresh == 0:
        yield silent
    elif console.is_terminal:
        spinner = Spinner("dots", "starting")
        with Live(spinner, console=console, transient=True, refresh_per_second=10):
            yield _timed(lambda line: spinner.update(text=_on_one_line(line, console)), every=1)
    else:
        yield _timed(lambda line: console.print(line, highlight=False, markup=False, soft_wrap=True), refresh)


def _on_one_line(line: str, console: Console) -> Text:
    text = Text(line)
    text.truncate(console.width - 3, overflow="ellipsis")  # the spinner and its space stand before it
    return text


def _timed(show: Callable[[str], None], every: int) -> Listener:
    """Shows a line for each multiple of `every` iterations reached, and for each note that is new."""
    began: dict[str, tuple[float, int]] = {}
    last: dict[str, Progress] = {}

    def listen(progress: Progress) -> None:
        phase, now = progress.phase, perf_counter()
        began.setdefault(phase, (now, progress.iteration))
        before = last.get(phase, Progress(phase, 0, progress.total))
        if progress.iteration // every > before.iteration // every or progress.note != before.note:
            last[phase] = progress
            show(line(progress, _seconds_left(progress, now, *began[phase])))

    return listen


def _seconds_left(progress: Progress, now: float, began: float, first: int) -> float | None:
    done = progress.iteration - first
    return (now - began) / done * (progress.total - progress.iteration) if done else None


def line(progress: Progress, left: float | None) -> str:
    """`optimise  300 of 10000   ELBO -34.12   change 0.008 mean, 0.005 median   at most 4 s left`."""
    parts = [f"{progress.phase} {progress.iteration:>{len(str(progress.total))}} of {progress.total}"]
    if not math.isnan(progress.elbo):
        parts.append(f"ELBO {nats(progress.elbo)}")
    if progress.delta_mean == progress.delta_mean:  # nan until there are two ELBOs to compare
        parts.append(f"change {progress.delta_mean:.3g} mean, {progress.delta_median:.3g} median")
    if left is not None and left >= 1:
        parts.append(f"at most {duration(left)} left")
    if progress.note:
        parts.append(progress.note)
    return "   ".join(parts)


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
