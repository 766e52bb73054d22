"""A fit, or a run of stanli's NUTS, as a record for JSON: CPU seconds of the process, errors of its draws."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ppl.results.files.read_csv import read_draws
from tests.benchmarks.errors import Errors, Floats, errors_of, read_reference
from tests.benchmarks.tail.problems import ALL, ROOT

PPL = str(Path(sys.executable).with_name("ppl"))
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
"""Python keeps its bytecode, as it does of what is installed."""
SHORT = 20
"""CPU seconds of a fit that compiling a program is a part of."""
Record = dict[str, Any]


def fit(name: str, program: Path, data: Path, folder: Path, seed: int, most: int) -> Record:
    """A default fit by the command line; a short one is run twice, for its program to be compiled before."""
    out = folder / f"{name}.csv"
    command = [PPL, "variational", program, data, "-o", out, "--seed", seed, "--quiet"]
    cpu, status = seconds(command, folder, most)
    if not status and cpu < SHORT:
        cpu, status = seconds(command, folder, most)
    if status:
        return {"cpu": cpu, "level": status}
    file = read_draws(out)
    said = {"level": file.config["fit_verdict"], "path": file.config["fit_draws"]}
    points = file.config.get("fit_gradient_points")
    gradients = {} if points is None else {"gradients": int(points)}
    size = {"parameters": parameters(file.columns, file.config["parameters"].split(","))}
    return {"cpu": cpu, **size, **said, **gradients, **errors(name, file.draws, file.columns)}


def parameters(columns: Sequence[str], names: Sequence[str]) -> int:
    """The columns that are entries of these."""
    return sum(name.partition(".")[0] in names for name in columns)


def nuts(name: str, program: Path, data: Path, folder: Path, seed: int, most: int) -> Record:
    """Four chains of 1,000 draws after 1,000; a leapfrog step is a gradient, in the warm-up too."""
    cpu, run = sampled(program, data, folder / f"{name}.npz", ["--seed", seed], most)
    if isinstance(run, str):
        return {"cpu": cpu, "level": run}
    draws = run["draws"].reshape(-1, len(run["names"]))
    found = {"path": "NUTS", "gradients": int(run["leapfrog"].sum()), **mixing(run["draws"])}
    return {"cpu": cpu, **found, **errors(name, draws, run["names"].tolist())}


def sampled(
    program: Path, data: Path, out: Path, options: Sequence[Any], most: int
) -> tuple[float, Mapping[str, Any] | str]:
    """CPU seconds of NUTS in a process of its own, and the arrays that it wrote, or why there are none."""
    command = [sys.executable, "-m", "tests.benchmarks.tail.nuts", program, data, out, *options]
    cpu, status = seconds(command, ROOT, most)
    return cpu, status or dict(np.load(out))


def mixing(draws: Floats) -> Record:
    """The largest R-hat and the smallest effective sample size of draws (chains, draws, columns)."""
    import arviz  # an extra, and slow to import

    columns = [column for column in np.moveaxis(draws, 2, 0) if column.std() > 0]
    rhat = max(float(arviz.rhat(column)) for column in columns)
    ess = min(float(arviz.ess(column)) for column in columns)
    return {"level": f"R-hat {rhat:.3f}", "ess": round(ess)}


def errors(name: str, draws: Floats, columns: Sequence[str]) -> Record:
    """The largest errors of means and quantiles in sds, and the extreme ratios of sds, with their columns."""
    path = ALL[name].reference
    if not path.exists():
        return {}
    found = errors_of(draws, columns, read_reference(path))
    ends = {check: extreme(found, check) for check in ("mean", "q05", "q95")}
    ratio = 1 + found.errors["sd"]
    at = {"low": int(np.nanargmin(ratio)), "high": int(np.nanargmax(ratio))}
    return {**ends, "ratios": {end: (float(ratio[k]), found.names[k]) for end, k in at.items()}}


def extreme(found: Errors, check: str) -> tuple[float, str]:
    error = np.abs(found.errors[check])
    k = int(np.nanargmax(error))
    return float(found.errors[check][k]), found.names[k]


def seconds(command: Sequence[Any], folder: Path, most: int) -> tuple[float, str]:
    """CPU seconds of a process of at most so many, all its threads and children, and what ended it early."""
    limited = ["sh", "-c", f'ulimit -t {most}; exec "$@"', "sh", *map(str, command)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(limited, cwd=folder, capture_output=True, env=ENVIRONMENT).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    late = code in (-signal.SIGXCPU, -signal.SIGKILL)
    return cpu, "too long" if late else "failed" if code else ""
