"""Seconds to reach the ELBO that Stan's ADVI ends at, with everything compiled and the data in memory.

Like beside like: the paper's loop from a random start, its step size searched for as Stan's is; and beside
NumPyro, which has no search and no stopping rule, ours without them, either with the best of a few step
sizes: NumPyro's of Adam from sds of 0.1, ours of that or of the paper's rule.  These two begin at the origin:
from random points they take as long as their luck has it.  `default` is our own way, whose start costs more
than such a fit of a small program.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.peers import process, stan
from tests.benchmarks.problems import Problem

SLACK = 1.0  # nats below Stan's ELBO that count as reached: the noise of an estimate from 100 draws
PATIENCE = 60.0
TOOLS = ("jax", "autograd", "default", "stan", "jax, eta given", "numpyro")
PAIRS = (
    ("jax", "stan"),
    ("autograd", "stan"),
    ("default", "stan"),
    ("jax, eta given", "numpyro"),
    ("default", "numpyro"),
)
ONLY = {"polish": False, "step_up": False}
LOOP = {**ONLY, "start": "random", "average": False}
ETAS = (1.0, 0.3, 0.1)
GIVEN = {**LOOP, "stop": "fixed", "init": 0.0}
STEP_SIZES = (0.1, 0.03, 0.01)
RULES: tuple[dict[str, Any], ...] = ({}, {"step_rule": "adam", "init_scale": 0.1})


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """One row a problem; a tool that does not reach the ELBO has the seconds it took in brackets."""
    yield machine()
    yield ""
    yield from head("program", "Stan's ELBO", *TOOLS, *(f"{one} / {other}" for one, other in PAIRS))
    for problem in problems:
        if "stan" not in problem.peers:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield _row(problem, Path(folder), rounds)
            except CalledProcessError as failure:
                yield row(problem.name, f"{Path(failure.cmd[0]).name} fails")


def _row(problem: Problem, folder: Path, rounds: int) -> str:
    data = problem.data_file(folder)
    binary = stan.build(problem.program, folder)
    elbo = stan.final_elbo(binary, data, problem.algorithm, 1)
    failed: set[str] = set()

    def seconds(tool: str, command: list[str]) -> float:
        found = process.answer(command)
        if not found["reached"]:
            failed.add(tool)
        return float(found["seconds"])

    ours = partial(_ours, problem, data, elbo)
    given = best(ours(backend="jax", eta=eta, **GIVEN, **rule) for rule in RULES for eta in ETAS)
    tools: dict[str, Callable[[], float]] = {
        "jax": lambda: seconds("jax", ours(backend="jax", **LOOP)),
        "autograd": lambda: seconds("autograd", ours(backend="autograd", **LOOP)),
        "default": lambda: seconds("default", ours(backend="jax", **ONLY)),
        "stan": lambda: float(stan.advi(binary, data, problem.algorithm, 1)["wall_seconds"]),
        "jax, eta given": lambda: seconds("jax, eta given", given),
    }
    if process.PEERS_PYTHON:
        theirs = best(_numpyro(problem, data, elbo, size) for size in STEP_SIZES)
        tools["numpyro"] = lambda: seconds("numpyro", theirs)
    found = alternate(rounds, tools)
    cells = [f"({found[tool]:.3g})" if tool in failed else found.get(tool, "") for tool in TOOLS]
    ratios = [found[one] / found[other] if other in found else "" for one, other in PAIRS]
    return row(problem.name, round(elbo, 1), *cells, *ratios)


def best(commands: Iterator[list[str]]) -> list[str]:
    """The command that gets there first."""

    def rank(command: list[str]) -> tuple[bool, float]:
        found = process.answer(command)
        return not found["reached"], found["seconds"]

    return min(commands, key=rank)


def _ours(problem: Problem, data: Path, elbo: float, **settings: Any) -> list[str]:
    return process.ours(
        {
            "program": str(problem.program),
            "data": str(data),
            "target": elbo - SLACK,
            "patience": PATIENCE,
            "settings": {"algorithm": problem.algorithm, **settings},
        }
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
