"""The report at the end of a run."""

import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ppl.cli.output import wrapped
from ppl.files import STDOUT
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.draws.columns import folded
from ppl.late import LateModule, tempfile
from ppl.results.fits.density import varies
from ppl.results.fits.fit import Fit
from ppl.results.report.style import TableStyle
from ppl.results.report.summary import Summary, as_text
from ppl.run.checkpoint import Checkpoint
from ppl.run.console import Console
from ppl.run.interrupt import INTERRUPTED
from ppl.run.processes import ended_in_order
from ppl.run.progress_display import nats

if TYPE_CHECKING:
    from ppl.results.fits.chains import Chains

machine = LateModule("ppl.results.report.machine")

SUMMARY_ROWS = 20
"""Rows of the summary that is printed at the end of a run."""


def report(
    console: Console,
    fit: Fit,
    files: Iterable[Path],
    columns: Sequence[str],
    style: TableStyle,
    named: bool = False,
    verbose: bool = False,
) -> None:
    """The table of `columns`, the ELBO, the outcome, what deserves a note, the files written."""
    files = list(files)
    print_table(console, fit, columns, style, named, files[0])
    left = checkpoint_of(files[0])
    for text in (
        fit.provenance.judgement,
        quality(fit),
        fit.outcome.sentence,
        *([fit.details] if verbose else []),
        *fit.notes,
        f"Wrote {' and '.join(map(str, files))}.",
        *([onward(left, files[0])] if is_resumable(left) else []),
    ):
        sentence(console, text)


def json_report(fit: Fit, files: Iterable[Path], columns: Sequence[str], style: TableStyle) -> str:
    """The report as JSON: the rows of `columns`, the log evidence, the outcome, notes, the files written."""
    content = {
        "backend": fit.backend,
        "outcome": fit.outcome.sentence,
        "log_evidence": machine.of_evidence(fit.provenance.evidence),
        "notes": fit.notes,
        "files": [*map(str, files)],
        "rows": [row.record() for row in summary(fit, columns, style)],
    }
    return machine.document("variational", fit.level, fit.provenance.judgement, content)


ENGINES = {"nuts": "NUTS", "batch": "Short chains of HMC"}
"""The names of the engines of `ppl sample`."""


def report_chains(
    console: Console,
    chains: "Chains",
    columns: Sequence[str],
    style: TableStyle,
    named: bool,
    files: Sequence[Path],
) -> None:
    """The table of `columns`, the verdict on the chains, what deserves a note, the files written."""
    print_table(console, chains, columns, style, named, files[0])
    how = f"{ENGINES[chains.settings.engine]} (backend {chains.backend}, seed {chains.settings.seed})."
    for text in (wrapped(chains.judgement), how, *chains.notes, f"Wrote {', '.join(map(str, files))}."):
        sentence(console, text)


def print_table(
    console: Console, fit: "Fit | Chains", columns: Sequence[str], style: TableStyle, named: bool, file: Path
) -> None:
    """The table with its first line in bold."""
    for k, line in enumerate(table(fit, columns, style, named, console.width, file)):
        console.print(line, style=None if k else "bold", highlight=False, markup=False, soft_wrap=True)


def sentence(console: Console, text: str) -> None:
    """Broken between words on a terminal, one line in a file."""
    console.print(text, highlight=False, markup=False, soft_wrap=not console.is_terminal)


def summary(fit: "Fit | Chains", columns: Sequence[str], style: TableStyle) -> Summary:
    """The rows of these columns, in their order."""
    return fit.summary(columns, style.interval, style.hdi, style.sig_figs).only(columns)


def table(
    fit: "Fit | Chains", columns: Sequence[str], style: TableStyle, named: bool, width: int, file: Path
) -> list[str]:
    """The lines of the table, an empty one last; all `columns` where they were asked for.

    Else large variables are one line below it, unless there are no others, and of entries that never vary,
    such as the zeros of a Cholesky factor, nothing is shown.
    """
    if not columns:
        return []
    if named:
        return [*as_text(summary(fit, columns, style), width), ""]
    small, large = folded(columns)
    if not small:
        small, large = tuple(columns), {}
    values = dict(zip(fit.column_names, fit.draws().T, strict=True))
    varying = [name for name in small if varies(values[name])] or small
    first = varying[:SUMMARY_ROWS]
    more = [f"… and {len(varying) - len(first)} more (all in {file})"] if len(varying) > len(first) else []
    what = ", ".join(f"{name} ({n} entries)" for name, n in large.items())
    omitted = [f"Not shown: {what}; all in {file}, and by --variables {','.join(large)}."] if large else []
    return [*as_text(summary(fit, first, style), width), *more, *omitted, ""]


@contextmanager
def interruptible(output: Path) -> Iterator[list[Checkpoint]]:
    """Save the result of a run that ends early here; the message says how to go on.

    Ctrl-C before all is written, and SIGTERM and SIGHUP, end the command with a word and the status that
    shells give them. The journal of a run that is done belongs in the list: where its files cannot be
    written, it is kept.
    """
    left, done = checkpoint_of(output), list[Checkpoint]()
    try:
        with ended_in_order():
            yield done
    except (KeyboardInterrupt, SystemExit) as ended:
        hint = f" {onward(left, output)}" if is_resumable(left) else ""
        print(f"ppl: interrupted; no output was written.{hint}", file=sys.stderr)
        raise click.exceptions.Exit(ended.code if isinstance(ended, SystemExit) else INTERRUPTED) from None
    except Exception as error:
        if done:
            error.add_note(rescued(done[0], left, output))
        raise


def rescued(journal: Checkpoint, left: Path, output: Path) -> str:
    """Where the run is kept whose files could not be written."""
    if not journal.stages and not is_resumable(left):
        return "Short runs write no checkpoint; run the same command again."
    saved = journal.rescue() if journal.stages else left
    return f"The fit is not lost. {onward(saved, output)}" if saved else "No space is left to save the fit."


def onward(left: Path, output: Path) -> str:
    """How to go on from a checkpoint."""
    if left == checkpoint_of(output) and not _is_device(output):
        return f"The same command with --resume continues from {left}."
    return (
        f"It is in {left}. Rename it to OUT.checkpoint; the same command with -o OUT --resume continues "
        "from it."
    )


def checkpoint_of(output: Path) -> Path:
    """Where a run keeps the state that it may be resumed from: beside the output, unless that is a device."""
    if _is_device(output):
        return Path(tempfile.gettempdir()) / f"ppl-{os.getpid()}.checkpoint"
    return output.with_name(f"{output.name}.checkpoint")


def _is_device(output: Path) -> bool:
    return output == STDOUT or (output.exists() and not output.is_file())


def is_resumable(left: Path) -> bool:
    """Whether a run, or the first of several, left a checkpoint."""
    return left.exists() or left.with_name(f"{left.name}.1").exists()


def quality(fit: Fit) -> str:
    """The run, and its ELBO."""
    origin = "found by search" if fit.settings.eta is None else "as given"
    loop = f" after {fit.result.path.iterations} iterations" if fit.result.path.iterations else ""
    eta = f", eta = {fit.eta:g} {origin}" if fit.result.path.iterations and math.isfinite(fit.eta) else ""
    setting = fit.settings.algorithm
    algorithm = f"auto: {fit.family}" if setting == "auto" else setting
    chosen = fit.backend if fit.settings.backend == "auto" and fit.backend != "autograd" else ""
    backend = f", backend {chosen}" if chosen else ""
    how = f"{algorithm}{eta}{backend}, seed {fit.settings.seed}"
    elbo = f"ELBO {nats(fit.elbo)} ± {fit.elbo_se:.2f}{loop} ({how})."
    return elbo + fit.provenance.about_evidence


def exit_status(outcome: Outcome, require_converged: bool) -> int:
    """0, but 3 for a run that failed and 130, the shell's word for it, for one stopped by Ctrl-C."""
    if outcome.ending is Ending.INTERRUPTED:
        return 130
    if outcome.ending is Ending.DIVERGED or (require_converged and not outcome.converged):
        print(f"ppl: {outcome.sentence}", file=sys.stderr)
        return 3
    return 0
