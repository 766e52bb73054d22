"""Seconds to reach the ELBO that Stan's ADVI ends at, with everything compiled and the data in memory."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.peers import process, stan
from tests.benchmarks.problems import Problem

SLACK = 1.0  # nats below Stan's ELBO that count as reached: the noise of an estimate from 100 draws
STEP_SIZES = (0.1, 0.03, 0.01)  # NumPyro has no search for one: it is given the best of these
PATIENCE = 60.0
TOOLS = ("jax", "autograd", "stan", "numpyro")
LOOP = {"polish": False, "step_up": False}


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """One row a problem; a tool that does not reach the ELBO has the seconds it took in brackets.

    `jax` and `autograd` are ours. The last column is for the first Gaussian along a path of the start.
    """
    yield machine()
    yield ""
    ratios = ("jax / stan", "jax / numpyro", "autograd / stan", "jax, first path / stan")
    yield from head("program", "Stan's ELBO", *TOOLS, *ratios)
    for problem in problems:
        if "stan" not in problem.peers:
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield _row(problem, Path(folder), rounds)


def _row(problem: Problem, folder: Path, rounds: int) -> str:
    data = problem.data_file(folder)
    binary = stan.build(problem.program, folder)
    elbo = stan.final_elbo(binary, data, problem.algorithm, 1)
    failed: set[str] = set()
    first: list[float] = []

    def ours(backend: str) -> float:
        found = process.answer(_ours(problem, data, elbo, backend))
        if backend == "jax":
            first.append(found["first"])
        return _seconds(backend, found, failed)

    tools = {
        "jax": lambda: ours("jax"),
        "autograd": lambda: ours("autograd"),
        "stan": lambda: float(stan.advi(binary, data, problem.algorithm, 1)["wall_seconds"]),
    }
    if process.PEERS_PYTHON:
        command = _numpyro(problem, data, elbo, best_step_size(problem, data, elbo))
        tools["numpyro"] = lambda: _seconds("numpyro", process.answer(command), failed)
    found = alternate(rounds, tools)
    cells = [f"({found[tool]:.3g})" if tool in failed else found.get(tool, "") for tool in TOOLS]
    pairs = (("jax", "stan"), ("jax", "numpyro"), ("autograd", "stan"))
    ratios = [found[one] / found[other] if other in found else "" for one, other in pairs]
    return row(problem.name, round(elbo, 1), *cells, *ratios, median(first) / found["stan"])


def _ours(problem: Problem, data: Path, elbo: float, backend: str) -> list[str]:
    settings = {"algorithm": problem.algorithm, "backend": backend, **LOOP}
    return process.ours(
        {"program": str(problem.program), "data": str(data), "target": elbo - SLACK, "settings": settings}
    )


def _numpyro(problem: Problem, data: Path, elbo: float, step_size: float) -> list[str]:
    return process.peer(
        "run_numpyro.py",
        {
            "name": problem.name,
            "data": str(data),
            "algorithm": problem.algorithm,
            "step_size": step_size,
            "seed": 1,
            "target": elbo - SLACK,
            "iterations": 50_000,
            "patience": PATIENCE,
        },
    )


def best_step_size(problem: Problem, data: Path, elbo: float) -> float:
    """The one that gets there first."""

    def rank(size: float) -> tuple[bool, float]:
        found = process.answer(_numpyro(problem, data, elbo, size))
        return not found["reached"], found["seconds"]

    return min(STEP_SIZES, key=rank)


def _seconds(tool: str, found: dict[str, Any], failed: set[str]) -> float:
    if not found["reached"]:
        failed.add(tool)
    return float(found["seconds"])
