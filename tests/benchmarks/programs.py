"""Microseconds a gradient of every program with data in a folder, on each backend, and by the real Stan.

    python -m tests.benchmarks.programs tests/conformance/programs --backend autograd jax --rounds 5
    python -m tests.benchmarks.programs tests/conformance/programs --backend autograd jax stan

CPU time, so that a busy machine shows less; they alternate, and the medians are shown, with ratios to
Stan's and the median and the largest of these below.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ppl
from ppl.density.rows import by_rows
from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.peers import stan

AT_LEAST = 0.1  # seconds a measurement lasts
STAN = "stan"
REST = 0.3  # seconds before it, in which threads of what ran before, which wait by spinning, fall asleep


def table(folder: Path, backends: list[str], rounds: int, only: list[str]) -> Iterator[str]:
    """One row a program, the slowest with the first backend at the top; then the ratios to Stan's."""
    yield machine()
    yield ""
    ours = [b for b in backends if b != STAN]
    ratios = [f"{b} / {STAN}" for b in ours if STAN in backends]
    yield from head("program", "d", *backends, *ratios)
    found = []
    for file in sorted(folder.glob("*.stan")) + sorted(folder.glob("*/*.model")):
        if file.with_suffix(".data.json").exists() and (not only or file.stem in only):
            found.append((file.stem, *measured(file, backends, rounds)))
    for name, d, times in sorted(found, key=lambda f: -f[2].get(backends[0], 0.0)):
        relative = [times[b] / times[STAN] if {b, STAN} <= times.keys() else "" for b in ours if ratios]
        yield row(name, d, *(times.get(b, "out of reach") for b in backends), *relative)
    for b in ours if ratios else ():
        all_ratios = [times[b] / times[STAN] for _, _, times in found if {b, STAN} <= times.keys()]
        if not all_ratios:
            continue
        yield ""
        yield (
            f"{b} / {STAN}, {len(all_ratios)} programs: median {statistics.median(all_ratios):.3g}, "
            f"largest {max(all_ratios):.3g}."
        )


def measured(file: Path, backends: list[str], rounds: int) -> tuple[int, dict[str, float]]:
    """Dimension, and microseconds by each backend that can run the program."""
    data = file.with_suffix(".data.json").resolve()
    posterior = ppl.compile_model(file).condition(data)
    u = np.random.default_rng(0).normal(0.0, 0.1, posterior.param_unc_num())
    targets = {b: on_backend(posterior, b) for b in backends if b != STAN}
    tasks = {b: _measured(target, u) for b, target in targets.items() if target is not None}
    with tempfile.TemporaryDirectory() as folder:
        try:
            if STAN in backends:
                binary = stan.build(file, Path(folder))
                tasks[STAN] = lambda: stan.gradient(binary, data)
            return len(u), alternate(rounds, tasks)
        except subprocess.CalledProcessError as error:  # newer than this Stan, or its ADVI found no density
            print(f"{file.stem}: {STAN} failed: {(error.stderr or b'')[-200:]!r}", file=sys.stderr)
            tasks.pop(STAN, None)
            return len(u), alternate(rounds, tasks)


def on_backend(posterior: ppl.Posterior, backend: str, rows: Any = None) -> Any:
    """The target of all rows or of some; None where the program is out of the backend's reach."""
    whole = posterior if rows is None else by_rows(posterior)
    if backend == "jax":
        from ppl.jax_backend.batches import compiled_by_rows
        from ppl.jax_backend.jit import make_ready
        from ppl.jax_backend.not_traceable import NotTraceable
        from ppl.jax_backend.target import compiled_target

        make_ready()
        try:
            whole = compiled_target(posterior) if rows is None else compiled_by_rows(whole)
        except NotTraceable:
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
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.programs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backend", nargs="+", choices=("autograd", "jax", STAN), default=["autograd"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[], metavar="PROGRAM")
    args = parser.parse_args()
    for line in table(args.folder, args.backend, args.rounds, args.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
