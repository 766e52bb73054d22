"""Microseconds a gradient of every program with data in a folder, on each backend.

    python -m tests.benchmarks.programs tests/conformance/programs --backend autograd jax --rounds 5

CPU time, so that a busy machine shows less; the backends alternate, and the medians are shown.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ppl
from tests.benchmarks.clock import alternate, head, machine, row

AT_LEAST = 0.1  # seconds a measurement lasts
REST = 0.3  # seconds before it, in which threads of what ran before, which wait by spinning, fall asleep


def table(folder: Path, backends: list[str], rounds: int) -> Iterator[str]:
    """One row a program, the slowest with the first backend at the top."""
    yield machine()
    yield ""
    yield from head("program", "d", *backends)
    found = []
    for file in sorted(folder.glob("*.stan")) + sorted(folder.glob("*/*.model")):
        data = file.with_suffix(".data.json")
        if data.exists():
            posterior = ppl.compile_model(file).condition(data)
            u = np.random.default_rng(0).normal(0.0, 0.1, posterior.param_unc_num())
            targets = {b: on_backend(posterior, b) for b in backends}
            tasks = {b: _measured(target, u) for b, target in targets.items() if target is not None}
            found.append((file.stem, len(u), alternate(rounds, tasks)))
    for name, d, times in sorted(found, key=lambda f: -f[2].get(backends[0], 0.0)):
        yield row(name, d, *(times.get(b, "out of reach") for b in backends))


def on_backend(posterior: ppl.Posterior, backend: str, rows: Any = None) -> Any:
    """The target of all rows or of some; None where the program is out of the backend's reach."""
    whole = posterior if rows is None else posterior.by_rows()
    if backend == "jax":
        from ppl.compiled.batches import compiled_by_rows
        from ppl.compiled.device import make_ready
        from ppl.compiled.out_of_reach import OutOfReach
        from ppl.compiled.target import compiled_target

        make_ready()
        try:
            whole = compiled_target(posterior) if rows is None else compiled_by_rows(whole)
        except OutOfReach:
            return None
    return whole if rows is None else whole.minibatch(rows)


def _measured(target: Any, u: Any) -> Callable[[], float]:
    return lambda: microseconds(lambda: target.log_density_gradient(u))


def microseconds(f: Callable[[], Any]) -> float:
    """CPU time of one call, from as many as fill AT_LEAST."""
    time.sleep(REST)
    f()
    calls, began = 0, time.process_time()
    while (spent := time.process_time() - began) < AT_LEAST:
        f()
        calls += 1
    return 1e6 * spent / calls


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.programs", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backend", nargs="+", choices=("autograd", "jax"), default=["autograd"])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    for line in table(args.folder, args.backend, args.rounds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
