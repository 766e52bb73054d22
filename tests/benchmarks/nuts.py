"""NUTS: `ppl sample` beside the real Stan's, four chains of 1,000 warm-up iterations and 1,000 draws of each.

Seconds are of the processor, of all chains together.  Warm, all is compiled and the data are in memory;
cold, Stan is compiled first and ours begins from the source in a new process, with nothing compiled before.
`z` is the largest difference of two means in its standard error, which of so many is about 3 by chance.
"""

import csv
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ppl
from ppl.methods.diagnose.convergence import mcse_mean
from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.cold import CLI
from tests.benchmarks.peers import process, stan
from tests.benchmarks.problems import Problem

CHAINS, ITERATIONS = 4, 1000
"""As CmdStan's users have them."""
Means = dict[str, tuple[float, float]]


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """One row a problem: seconds of ours and of Stan, their ratios, and how far apart the means are."""
    yield machine()
    yield ""
    yield from head(
        "program", "warm", "cold", "stan", "stan, compiled first", "warm / stan", "cold / stan", "z"
    )
    for problem in problems:
        with tempfile.TemporaryDirectory() as folder:
            yield row(problem.name, *measured(problem, Path(folder), rounds))


def measured(problem: Problem, folder: Path, rounds: int) -> tuple[float, ...]:
    data = problem.data_file(folder).resolve()
    began = used()
    binary = stan.build(problem.program, folder)
    building = used() - began
    posterior = ppl.compile_model(problem.program).condition(data)
    posterior.sample(num_chains=CHAINS, num_warmup=100, num_samples=10, seed=1)
    found = {}

    def warm() -> float:
        began = used()
        found["ours"] = means(posterior.sample(num_chains=CHAINS, seed=1))
        return used() - began

    def by_stan() -> float:
        began = used()
        files = [folder / f"{chain}.csv" for chain in range(1, CHAINS + 1)]
        for chain, file in enumerate(files, 1):
            words = [binary, "nuts", data, "seed=1", f"id={chain}", f"output={file}"]
            subprocess.run(words, check=True, capture_output=True, cwd=folder)
        seconds = used() - began
        found["stan"] = means_of_files(files)
        return seconds

    def cold() -> float:
        with tempfile.TemporaryDirectory() as cache:
            given = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache}
            words = [CLI, "sample", problem.program.resolve(), data, "-o", folder / "o.csv", "-q"]
            return process.timed(words, env=given, cwd=folder).cpu

    times = alternate(rounds, {"warm": warm, "cold": cold, "stan": by_stan})
    both = times["warm"] / times["stan"], times["cold"] / (building + times["stan"])
    apart = largest(found["ours"], found["stan"])
    return times["warm"], times["cold"], times["stan"], building + times["stan"], *both, apart


def used() -> float:
    """Seconds of processor of this process and of those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def means(chains: Any) -> Means:
    """Of each column the mean and its standard error."""
    draws = np.swapaxes(chains.draws(concat_chains=False), 0, 1)
    return {name: moments(draws[..., k]) for k, name in enumerate(chains.column_names)}


def means_of_files(files: Sequence[Path]) -> Means:
    """The same of Stan's files."""
    chains = []
    for file in files:
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        names, *rows = csv.reader(lines)
        chains.append(np.array(rows, dtype=float))
    draws = np.stack(chains)
    return {name: moments(draws[..., k]) for k, name in enumerate(names) if not name.endswith("__")}


def moments(draws: np.ndarray) -> tuple[float, float]:
    return float(draws.mean()), mcse_mean(draws)


def largest(ours: Means, theirs: Means) -> float:
    """The largest difference of two means over its standard error."""
    common = ours.keys() & theirs.keys()
    return max(
        abs(ours[name][0] - theirs[name][0]) / np.hypot(ours[name][1], theirs[name][1])
        for name in common
        if ours[name][1] > 0
    )
