"""What a run shows of itself: one live line on a terminal, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner

from ppl.inference.progress import Listener, Progress, silent


@contextmanager
def shown(console: Console, refresh: int) -> Iterator[Listener]:
    """A listener that shows progress on `console`, in plain lines every `refresh` iterations; 0 for none."""
    if refresh == 0:
        yield silent
    elif console.is_terminal:
        spinner = Spinner("dots", "starting")
        with Live(spinner, console=console, transient=True, refresh_per_second=10):
            yield _timed(lambda line: spinner.update(text=line), every=1)
    else:
        yield _timed(lambda line: console.print(line, highlight=False, markup=False, soft_wrap=True), refresh)


def _timed(show, every: int) -> Listener:
    """Passes on one line for each multiple of `every` iterations reached, with the time left."""
    began, last = {}, {}

    def listen(progress: Progress) -> None:
        phase, now = progress.phase, perf_counter()
        began.setdefault(phase, (now, progress.iteration))
        if progress.iteration // every > last.get(phase, 0) // every or progress.note:
            last[phase] = progress.iteration
            show(line(progress, _seconds_left(progress, now, *began[phase])))

    return listen


def _seconds_left(progress: Progress, now: float, began: float, first: int) -> float | None:
    done = progress.iteration - first
    return (now - began) / done * (progress.total - progress.iteration) if done else None


def line(progress: Progress, left: float | None) -> str:
    """`iteration  300 of 10000   ELBO -34.12   change 0.8% mean, 0.5% median   at most 4 s left`."""
    parts = [f"{progress.phase} {progress.iteration:>{len(str(progress.total))}} of {progress.total}"]
    parts.append(f"ELBO {progress.elbo:.2f}")
    if progress.delta_mean == progress.delta_mean:  # nan until there are two ELBOs to compare
        parts.append(f"change {progress.delta_mean:.2%} mean, {progress.delta_median:.2%} median")
    if progress.note:
        parts.append(progress.note)
    if left is not None and left >= 1:
        parts.append(f"at most {duration(left)} left")
    return "   ".join(parts)


def duration(seconds: float) -> str:
    """`12 s`, `3 min 05 s`, `2 h 10 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
