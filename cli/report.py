"""What is said at the end of a run."""

import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from ppl.cli.progress import nats
from ppl.inference.outcome import Ending, Outcome
from ppl.results.fit import Fit
from ppl.results.summary import Summary, as_table

ROWS = 20


def report(console: Console, fit: Fit, files: Iterable[Path]) -> None:
    """The parameters' table, the ELBO, the outcome, what deserves a note, the files written."""
    names = set(fit.posterior.param_names())
    files = list(files)
    parameters = Summary(tuple(row for row in fit.summary() if row.name in names))
    if len(parameters):
        console.print(as_table(parameters, limit=ROWS, rest=f" (all in {files[0]})"))
        console.print()
    left = checkpoint_of(files[0])
    for text in (
        quality(fit),
        fit.outcome.sentence,
        fit.judgement,
        *fit.notes,
        f"Wrote {' and '.join(map(str, files))}.",
        *([f"The same command with --resume goes on from {left}."] if is_resumable(left) else []),
    ):
        console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def interruptible(left: Path) -> Iterator[None]:
    """Ctrl-C in here, before there is anything to write, ends the command with a word and status 130."""
    try:
        yield
    except KeyboardInterrupt:
        kept = f" The same command with --resume goes on from {left}." if is_resumable(left) else ""
        print(f"ppl: interrupted; no output was written.{kept}", file=sys.stderr)
        raise typer.Exit(130) from None


def checkpoint_of(output: Path) -> Path:
    """Where a run keeps the state that it may be resumed from."""
    return output.with_name(f"{output.name}.checkpoint")


def is_resumable(left: Path) -> bool:
    """Whether a run, or the first of several, left a checkpoint."""
    return left.exists() or left.with_name(f"{left.name}.1").exists()


def quality(fit: Fit) -> str:
    """What was run, and the ELBO it came to."""
    how = "found by search" if fit.settings.eta is None else "as given"
    loop = f" after {fit.result.iterations} iterations" if fit.result.iterations else ""
    eta = f", eta = {fit.eta:g} {how}" if fit.result.iterations and math.isfinite(fit.eta) else ""
    return (
        f"ELBO {nats(fit.elbo)} ± {fit.elbo_se:.2f}{loop} "
        f"({fit.settings.algorithm}{eta}, seed {fit.settings.seed})."
    )


def exit_status(outcome: Outcome, require_converged: bool) -> int:
    """0, but 3 for a run that failed and 130, the shell's word for it, for one stopped by Ctrl-C."""
    if outcome.ending is Ending.INTERRUPTED:
        return 130
    if outcome.ending is Ending.DIVERGED or (require_converged and not outcome.converged):
        print(f"ppl: {outcome.sentence}", file=sys.stderr)
        return 3
    return 0
