"""A command that is one of the processes of a run: joining the others, and ending with them."""

import os
import sys

import typer


def joined(hosts: int | None, coordinator: str | None, processes: int | None, process: int | None) -> bool:
    """Join the processes of the run, if there are others; whether this one writes its files."""
    by_hand = (coordinator, processes, process)
    if hosts is None and by_hand == (None, None, None):
        return True
    if (hosts is None) == (None in by_hand) or (hosts is not None and any(x is not None for x in by_hand)):
        raise typer.BadParameter(
            "processes are found by --hosts N where SLURM, Open MPI or Kubernetes started them; by hand they "
            "are given as --coordinator HOST:PORT --processes N --process I.",
            param_hint="--hosts",
        )
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # XLA's log, before it is imported: no warnings
    from ppl.compiled.joining import join

    return join(coordinator, processes if hosts is None else hosts, process)


def end_together(together: bool) -> None:
    """Wait for the other processes, so that none is missed."""
    if together:
        from ppl.compiled.processes import leave

        leave()


def end_others(end: SystemExit) -> None:
    """Where this is one process of a run on many, and has not waited for the others, they end with it."""
    if "ppl.compiled.processes" in sys.modules:
        from ppl.compiled.processes import end_early

        error = end.__context__
        end_early(int(end.code or 0), (str(error or "").strip() or "interrupted").splitlines()[0])
