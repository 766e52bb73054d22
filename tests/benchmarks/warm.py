"""Seconds to reach the ELBO that Stan's ADVI ends at, with everything compiled and the data in memory.

Where Stan cannot, or is not asked because it would take hours, it is the ELBO of NumPyro after so many steps.

Like beside like: the paper's loop from a random start, its step size searched for as Stan's is; and beside
NumPyro, which has no search and no stopping rule, ours without them, either with the best of a few choices:
of step sizes of Adam and of first sds the same, and ours of the paper's rule too.  These two begin at the
origin: from random points they take as long as their luck has it.  `default` is our own way, whose start
costs more than such a fit of a small program.

By minibatches an ELBO is but an estimate on some rows, another of either tool's: there it is so many steps of
the same size that count.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.peers import process, stan
from tests.benchmarks.problems import Problem

STEPS = 2_000
MOST = 50_000
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
ONLY = {"refine": False, "upgrade": False, "correct": False}
LOOP = {**ONLY, "start": "random", "average": False}
GIVEN = {**LOOP, "stop": "fixed", "init": 0.0}
ETAS = (1.0, 0.3, 0.1)
STEP_SIZES = (0.3, 0.1, 0.03, 0.01)
FIRST_SDS = (0.1, 0.01)
ADAM = tuple(product(STEP_SIZES, FIRST_SDS))
CHOICES: tuple[dict[str, Any], ...] = (
    *({"eta": eta} for eta in ETAS),
    *({"eta": size, "step_rule": "adam", "init_scale": sds} for size, sds in ADAM),
)


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """One row a problem; a tool that does not reach the ELBO has the seconds it took in brackets."""
    yield machine()
    yield ""
    yield from head("program", "ELBO", *TOOLS, *(f"{one} / {other}" for one, other in PAIRS))
    for problem in problems:
        with tempfile.TemporaryDirectory() as folder:
            yield (_row_of_steps if problem.minibatch else _row)(problem, Path(folder), rounds)


def _row_of_steps(problem: Problem, folder: Path, rounds: int) -> str:
    """Of a problem by minibatches: the first two cells say what was done."""
    data, rows = problem.data_file(folder), {"minibatch": problem.minibatch}
    batches = {**rows, "iter": STEPS, "eval_elbo": STEPS, "elbo_samples": 1}
    adam = {"step_rule": "adam", "eta": STEP_SIZES[-1], "init_scale": FIRST_SDS[0]}
    tools = {"jax, eta given": _ours(problem, data, -inf, backend="jax", **GIVEN, **batches, **adam)}
    if process.PEERS_PYTHON:
        tools["numpyro"] = _numpyro(problem, data, step_size=STEP_SIZES[-1], iterations=STEPS, **rows)
    found = alternate(rounds, {tool: partial(_seconds, command) for tool, command in tools.items()})
    return _cells(problem.name, f"{STEPS} steps", found, set())


def _seconds(command: list[str]) -> float:
    return float(process.answer(command)["seconds"])


def _row(problem: Problem, folder: Path, rounds: int) -> str:
    data = problem.data_file(folder)
    binary, elbo = _target(problem, data, folder)
    failed: set[str] = set()

    def seconds(tool: str, command: list[str]) -> float:
        found = process.answer(command)
        if not found["reached"]:
            failed.add(tool)
        return float(found["seconds"])

    ours = partial(_ours, problem, data, elbo)
    given = best([partial(ours, backend="jax", **GIVEN, **choice) for choice in CHOICES])
    tools: dict[str, Callable[[], float]] = {
        "jax": lambda: seconds("jax", ours(backend="jax", **LOOP)),
        "autograd": lambda: seconds("autograd", ours(backend="autograd", **LOOP)),
        "default": lambda: seconds("default", ours(backend="jax", **ONLY)),
        "jax, eta given": lambda: seconds("jax, eta given", given),
    }
    if binary:
        tools["stan"] = lambda: float(stan.advi(binary, data, problem.algorithm, 1)["wall_seconds"])
    if process.PEERS_PYTHON:
        there = partial(_numpyro, problem, data, iterations=MOST, target=elbo - SLACK, patience=PATIENCE)
        theirs = best([partial(there, step_size=size, first_sds=sds) for size, sds in ADAM])
        tools["numpyro"] = lambda: seconds("numpyro", theirs)
    return _cells(problem.name, round(elbo, 1), alternate(rounds, tools), failed)


def _cells(name: str, elbo: float | str, found: dict[str, float], failed: set[str]) -> str:
    cells = [f"({found[tool]:.3g})" if tool in failed else found.get(tool, "") for tool in TOOLS]
    ratios = [found[one] / found[other] if one in found and other in found else "" for one, other in PAIRS]
    return row(name, elbo, *cells, *ratios)


def _target(problem: Problem, data: Path, folder: Path) -> tuple[Path | None, float]:
    """Stan's program, where it can fit, and the ELBO to reach."""
    with suppress(CalledProcessError):
        if "stan" in problem.peers:
            binary = stan.build(problem.program, folder)
            return binary, stan.final_elbo(binary, data, problem.algorithm, 1)
    command = _numpyro(problem, data, step_size=0.01, iterations=STEPS, output=str(folder / "numpyro.csv"))
    return None, float(process.answer(command)["elbo"])


def best(commands: Sequence[Callable[..., list[str]]]) -> list[str]:
    """The command that gets there first; each has little longer than the best before it took."""
    first, least = commands[0], PATIENCE
    for command in commands:
        found = process.answer(command(patience=least + 1.0))
        if found["reached"] and found["seconds"] < least:
            first, least = command, found["seconds"]
    return first()


def _ours(
    problem: Problem, data: Path, elbo: float, *, patience: float = PATIENCE, **settings: Any
) -> list[str]:
    return process.ours(
        {
            "program": str(problem.program),
            "data": str(data),
            "target": elbo - SLACK,
            "patience": patience,
            "settings": {"algorithm": problem.algorithm, **settings},
        }
    )


def _numpyro(problem: Problem, data: Path, **asked: Any) -> list[str]:
    fixed = {"name": problem.name, "data": str(data), "algorithm": problem.algorithm, "seed": 1}
    return process.peer("run_numpyro.py", fixed | asked)
