"""Bars on a terminal or in a notebook that show how far runs are."""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rich import progress as rich
from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

from ppl.kernel.advi.progress import Listener, Phase, Progress
from ppl.run.progress_display import duration, name, status_text, time_left
from ppl.run.progress_meter import Meters

BAR_COLUMNS = 24
"""Columns of a bar."""
REDRAWS_A_SECOND = 5
"""Times a second that a bar is drawn."""


@contextmanager
def bars(console: Console, plan: Sequence[Phase]) -> Iterator[Listener]:
    """A line for each run: its stage, a bar, the time it took and may take, and what it last said."""
    # What a program prints on a terminal goes above the bar; what it prints into a file goes there.
    terminal = sys.stdout is not None and sys.stdout.isatty()
    bar_lines = rich.Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=max(6, min(BAR_COLUMNS, console.width - 84))),
        Times(),
        TextColumn("{task.fields[status]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        console=console,
        transient=True,
        expand=True,
        refresh_per_second=REDRAWS_A_SECOND,
        redirect_stdout=terminal,
    )
    meters = Meters(plan)
    lines: dict[int, TaskID] = {}
    elbos: dict[int, float] = {}

    def begun(stage: str) -> TaskID:
        return bar_lines.add_task(stage, total=1.0, meters=meters, status="")

    def listen(progress: Progress) -> None:
        run = progress.run
        if run not in lines:
            lines[run] = waiting.pop() if waiting else begun(name(progress))
        task, meter = lines[run], meters.hear(progress)
        if math.isnan(progress.elbo):
            progress = replace(progress, elbo=elbos.get(run, math.nan))
        elif progress.phase is not Phase.STEP_SIZE:  # whose candidates are not q
            elbos[run] = progress.elbo
        bar_lines.update(
            task, completed=meter.share, description=name(progress), status=status_text(progress)
        )
        if progress.phase is Phase.DONE:
            bar_lines.stop_task(task)

    with bar_lines:
        waiting = [begun("starting")]
        yield listen


class Times(ProgressColumn):
    """`12 s, about 40 s left`, the latter until the last of several runs ends."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        elapsed = task.finished_time or task.elapsed or 0.0
        return Text(", ".join([duration(elapsed), *time_left(task.fields["meters"])]))
