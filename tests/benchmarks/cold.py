"""From source file and data file to posterior draws in a CSV, each tool in a new process.

Ours with either backend, JAX with nothing compiled before, and as a whole or as one mean-field loop, which is
what the peers run.  PyMC with nothing compiled before, and again with what it compiled of such programs.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.peers import process, stan
from tests.benchmarks.problems import Problem

STEPS = {"run_numpyro.py": 5_000, "run_pymc.py": 10_000}  # PyMC's default; what NumPyro's tutorials take
CLI = Path(sys.executable).with_name("ppl")


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """One row a problem and way of ours: seconds of it and of each peer, and ours over theirs."""
    yield machine()
    yield ""
    yield from head("program", "ppl", "seconds", *PEERS, *(f"/ {peer}" for peer in PEERS))
    for problem in problems:
        with tempfile.TemporaryDirectory() as folder:
            data = problem.data_file(Path(folder))
            found = alternate(rounds, tasks(problem, data, Path(folder)))
        theirs = [found.get(peer, float("nan")) for peer in PEERS]
        for way in OURS:
            yield row(problem.name, way, found[way], *theirs, *(found[way] / peer for peer in theirs))


def tasks(problem: Problem, data: Path, folder: Path) -> dict[str, Callable[[], float]]:
    """The tools that are there and can do this problem."""
    named = {peer: make for peer, make in PEERS.items() if peer.partition(",")[0] in problem.peers}
    peers = {peer: make for peer, make in named.items() if is_there(peer)}
    tools: dict[str, Callable[[], float]] = {}
    for way, switches in OURS.items():
        tools[way] = lambda switches=switches: ours(problem, data, folder, *switches)  # type: ignore[misc]
    for peer, make in peers.items():
        tools[peer] = lambda make=make: make(problem, data, folder)  # type: ignore[misc]
    return tools


def is_there(tool: str) -> bool:
    return stan.available() if tool == "stan" else bool(process.PEERS_PYTHON)


def ours(problem: Problem, data: Path, folder: Path, *switches: str) -> float:
    words = [f"--algorithm={problem.algorithm}", "--seed=1", "-o", folder / "ours.csv", *switches]
    if problem.minibatch:
        words.append(f"--minibatch={problem.minibatch}")
    with tempfile.TemporaryDirectory() as cache:
        given = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache}
        return process.timed([CLI, "variational", problem.program, data, *words], env=given).seconds


def by_stan(problem: Problem, data: Path, folder: Path) -> float:
    """stanc, g++ with a precompiled header, the run; as CmdStan would do it."""
    source = Path(tempfile.mkdtemp(dir=folder)) / f"{problem.program.stem}.stan"
    source.write_text(problem.program.read_text())
    binary = source.with_suffix("")
    built = process.timed(["bash", stan.os.environ["STAN_BUILD_SH"], source, binary])
    run = [binary, "advi", data, f"algorithm={problem.algorithm}", "seed=1", f"output={folder / 'stan.csv'}"]
    return built.seconds + process.timed(run, cwd=binary.parent).seconds


def by_numpyro(problem: Problem, data: Path, folder: Path) -> float:
    return process.timed(python_peer("run_numpyro.py", problem, data, folder)).seconds


def by_pymc(problem: Problem, data: Path, folder: Path) -> float:
    with tempfile.TemporaryDirectory() as cache:
        given = {**os.environ, "PYTENSOR_FLAGS": f"base_compiledir={cache}"}
        return process.timed(python_peer("run_pymc.py", problem, data, folder), env=given).seconds


def by_pymc_compiled(problem: Problem, data: Path, folder: Path) -> float:
    command = python_peer("run_pymc.py", problem, data, folder)
    process.timed(command)
    return process.timed(command).seconds


def python_peer(script: str, problem: Problem, data: Path, folder: Path) -> list[str]:
    request = {
        "name": problem.name,
        "data": str(data),
        "algorithm": problem.algorithm,
        "step_size": 0.03,
        "seed": 1,
        "iterations": STEPS[script],
        "output": str(folder / "peer.csv"),
        "minibatch": problem.minibatch,
    }
    return process.peer(script, request)


LOOP_ONLY = ("--no-refine", "--no-upgrade", "--no-correct")
OURS = {
    "default": ("--backend=autograd",),
    "loop only": ("--backend=autograd", *LOOP_ONLY),
    "jax, default": ("--backend=jax",),
    "jax, loop only": ("--backend=jax", *LOOP_ONLY),
}
PEERS: dict[str, Callable[[Problem, Path, Path], float]] = {
    "stan": by_stan,
    "numpyro": by_numpyro,
    "pymc": by_pymc,
    "pymc, compiled": by_pymc_compiled,
}
