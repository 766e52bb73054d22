"""Cost and memory against the number of rows and of dimensions, each fit a process of its own."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks.clock import head, machine, row
from tests.benchmarks.peers import process
from tests.benchmarks.problems import MODELS, Data, Problem, logistic

CLI = Path(sys.executable).with_name("ppl")
LOOP = ("--no-refine", "--no-upgrade", "--no-correct", "--seed=1")
MEANS = """
data { int<lower=0> N; vector[N] y; }
parameters { vector[N] theta; }
model { theta ~ normal(0, 2); y ~ normal(theta, 1); }
"""


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """Seconds and peak memory of one mean-field fit; the extra memory over the data's own size."""
    yield machine()
    yield ""
    yield from head("what", "size", "data MB", "CPU seconds", "peak MB", "peak over smallest / data")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        regression = MODELS / "logistic_regression" / "logistic_regression.model"
        rows = (1_000, 10_000, 100_000, 1_000_000)
        for backend in ("autograd", "jax"):
            yield from _series("rows", regression, folder, {n: _rows(n) for n in rows}, backend)
        means = folder / "means.model"
        means.write_text(MEANS)
        dimensions = (10, 100, 1_000, 10_000, 100_000)
        yield from _series("dimension", means, folder, {n: _means(n) for n in dimensions}, "autograd")


def _series(what: str, program: Path, folder: Path, sizes: dict[int, Data], backend: str) -> Iterator[str]:
    smallest = None
    for size, data in sizes.items():
        path = folder / "data.npz"
        np.savez(path, **data)
        megabytes = sum(np.asarray(v).nbytes for v in data.values()) / 2**20
        cost = process.timed_alone(
            [CLI, "variational", program, path, "-o", folder / "o.csv", *LOOP, "--backend", backend]
        )
        smallest = smallest or cost.megabytes
        extra = (cost.megabytes - smallest) / megabytes
        yield row(f"{what}, {backend}", size, megabytes, cost.cpu, round(cost.megabytes), extra)


def _rows(n: int) -> Data:
    made = logistic(n, 20)
    return {"N": n, "D": made["K"], "x": made["X"], "y": made["y"]}


def _means(n: int) -> Data:
    return {"N": n, "y": np.random.default_rng(1).standard_normal(n)}
