"""Processes by launchers of several, as variables of the environment describe them.

Slurm's srun; mpiexec and mpirun of Open MPI, or of MPICH and its kin (PMI), as PBS and others start them;
torchrun. A batch script itself is no process of theirs, nor is a single process.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple
from zlib import crc32

from ppl.errors import InferenceError


class Launch(NamedTuple):
    """How many processes there are, which this one is, and where the first listens; None where JAX knows."""

    processes: int
    process: int
    coordinator: str | None = None


class Launcher(NamedTuple):
    """The variables with the number of processes and of this one, and others that it sets."""

    processes: str
    process: str
    also: tuple[str, ...] = ()


SLURM = Launcher("SLURM_NTASKS", "SLURM_PROCID", ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_LOCALID"))
OPEN_MPI = Launcher("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")
PMI = Launcher("PMI_SIZE", "PMI_RANK")
TORCHRUN = Launcher("WORLD_SIZE", "RANK", ("MASTER_ADDR", "MASTER_PORT"))
LAUNCHERS = (TORCHRUN, OPEN_MPI, PMI, SLURM)
"""In the order in which they are believed: mpirun may run within a job of Slurm."""

ON_THIS_HOST = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
"""How many of the processes run on this host, by Open MPI and MPICH."""
JOB = ("PBS_JOBID", "SLURM_JOB_ID", "PMIX_NAMESPACE")
"""Names of a job that its processes share."""
PORTS = range(61440, 65536)
"""Of the coordinator, as JAX chooses them."""


def launched(environment: Mapping[str, str]) -> Launch | None:
    """The process as a launcher describes it, or None for a process on its own.

    Raises:
        InferenceError: no variable says on which host the first process runs.
    """
    for launcher in LAUNCHERS:
        if all(name in environment for name in (launcher.processes, launcher.process, *launcher.also)):
            processes, process = int(environment[launcher.processes]), int(environment[launcher.process])
            if processes > 1:
                return Launch(processes, process, coordinator(launcher, environment))
    return None


def coordinator(launcher: Launcher, environment: Mapping[str, str]) -> str | None:
    """The address at which the first process is to listen."""
    if launcher is SLURM or (launcher is OPEN_MPI and "OMPI_MCA_orte_hnp_uri" in environment):
        return None
    if launcher is TORCHRUN:
        return f"{environment['MASTER_ADDR']}:{int(environment['MASTER_PORT']) + 1}"  # torchrun has that one
    return f"{first_host(launcher, environment)}:{port(environment)}"


def first_host(launcher: Launcher, environment: Mapping[str, str]) -> str:
    if "PBS_NODEFILE" in environment:
        with open(environment["PBS_NODEFILE"], encoding="utf-8") as nodes:
            return nodes.readline().strip()
    if environment[launcher.processes] in (environment.get(name) for name in ON_THIS_HOST):
        return "127.0.0.1"
    raise InferenceError(
        f"{launcher.processes} says that this is one of {environment[launcher.processes]} processes, but no "
        "variable says where the first runs. Give --coordinator HOST:PORT --processes N --process I, or "
        "--hosts 1 for a process on its own."
    )


def port(environment: Mapping[str, str]) -> int:
    """JAX_COORDINATOR_PORT, or one that the processes of a job agree on."""
    job = next((environment[name] for name in JOB if name in environment), str(os.getppid()))
    return int(environment.get("JAX_COORDINATOR_PORT") or PORTS[crc32(job.encode()) % len(PORTS)])
