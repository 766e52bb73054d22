"""A command that is one of the processes of a run: joining the others, and ending with them."""

import os
import sys

import click

from ppl.jax_backend.launched import launched


def joined(
    hosts: int | None, coordinator: str | None, processes: int | None, process: int | None
) -> tuple[bool, bool]:
    """Join the processes of the run, if there are others: those given, or those that a launcher started.

    Returns whether this process is one of several, and whether it writes the files.
    """
    by_hand = (coordinator, processes, process)
    given = by_hand != (None, None, None)
    if given and (hosts is not None or None in by_hand):
        raise click.BadParameter(
            "--hosts, --coordinator, --processes and --process do not go together. Give none for processes "
            "started by SLURM, MPI or torchrun, --hosts N if JAX detects them, and otherwise "
            "--coordinator HOST:PORT --processes N --process I.",
            param_hint="--hosts",
        )
    if not given:
        environment = launched(os.environ) if hosts is None else None
        if environment is None and hosts in (None, 1):
            return False, True
        processes, process, coordinator = environment or (hosts, None, None)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # XLA's log, before it is imported: no warnings
    from ppl.jax_backend.joining import join

    return True, join(coordinator, processes, process)


def end_together(together: bool) -> None:
    """Wait for the other processes, so that none is missed."""
    if together:
        from ppl.jax_backend.processes import leave

        leave()


def end_others(end: SystemExit) -> None:
    """Where this is one process of a run on many, and has not waited for the others, they end with it."""
    if "ppl.jax_backend.processes" in sys.modules:
        from ppl.jax_backend.processes import end_early

        error = end.__context__
        end_early(int(end.code or 0), (str(error or "").strip() or "interrupted").splitlines()[0])
