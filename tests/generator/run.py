"""The long run: `python tests/generator/run.py --count 1000 --seed 1 --jobs 2`.

Each disagreement is shrunk to a small program and written to a folder.  Programs whose forms agree are
compared with the extra `oracle` where it is installed.
"""

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402
from generator.against_stan import case_of, outcome, unexplained  # noqa: E402
from generator.against_stan import report as report_of  # noqa: E402
from generator.forms import Case, disagreements, forms_of, usable  # noqa: E402
from generator.interpreted_stan import INSTALLED, InterpretedStan  # noqa: E402
from generator.program import generated  # noqa: E402
from generator.shrink import shrunk  # noqa: E402

from ppl.errors import PPLError  # noqa: E402


class Found(NamedTuple):
    """What became of a program: "agrees", "refused", "not finite", or one of WRONG."""

    number: int
    verdict: str
    report: str = ""
    data: Any = None
    kind: tuple[str, ...] = ()


WRONG = ("disagrees", "no program", "differs from Stan", "crash")
"""The verdicts that end a run with status 1."""


class Task(NamedTuple):
    seed: int
    number: int
    each: int
    jax_every: int
    shrink: bool
    oracle: bool


def tried(task: Task) -> Found:
    """What became of the program; an exception that nobody expects is its report, and the run goes on."""
    try:
        return found_of(task)
    except Exception:
        return Found(
            task.number, "crash", f"program {task.number} of seed {task.seed}\n{traceback.format_exc()}"
        )


def found_of(task: Task) -> Found:
    seed, number = task.seed, task.number
    made = generated(seed, number)
    case = Case(made.text, made.data)
    try:
        case.program  # noqa: B018
    except PPLError as error:
        return Found(number, "no program", f"{error}\n{made.text}")
    found = list(disagreements(case, forms_of(number, task.each, task.jax_every)))
    if not found:
        if task.oracle and (differs := beside_stan(f"{seed}/{number}", case)):
            return Found(
                number, "differs from Stan", f"{differs}\n\n{made.text}{json.dumps(rounded(made.data))}"
            )
        try:
            finite = usable(case.values[0])
            return Found(number, "agrees" if finite else "not finite")
        except PPLError:
            return Found(number, "refused")
    first = found[0]
    text, data = made.text, made.data

    def fails(text: str, data: Any) -> bool:
        return any(d.kind == first.kind for d in disagreements(Case(text, data), [first.form]))

    if task.shrink:
        text, data = shrunk(text, data, fails)
    names = list(dict.fromkeys([first.form, *forms_of(number, 30)]))
    lines = [brief(str(d)) for d in disagreements(Case(text, data), names)]
    report = "\n".join([f"program {number} of seed {seed}", *lines[:12], "", text, json.dumps(rounded(data))])
    return Found(number, "disagrees", report, data, first.kind)


@cache
def oracle() -> InterpretedStan:
    return InterpretedStan()


def beside_stan(name: str, case: Case) -> str:
    """What differs from the interpreter's answer without a known reason, or ""."""
    asked = case_of(name, case.text, case.data)
    ((_, answer),) = oracle().ask([asked.question])
    found = outcome(asked, answer, oracle())
    return report_of(found) if unexplained(found) else ""


def brief(line: str) -> str:
    return " ".join(line.split())[:300]


def rounded(data: Any) -> Any:
    return {k: np.asarray(v).tolist() for k, v in data.items()}


def results(task: list[Task], jobs: int) -> Iterator[Found]:
    if jobs == 1:
        yield from map(tried, task)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(tried, task, chunksize=4)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--each", type=int, default=3, help="forms tried in turn, beside those always tried")
    parser.add_argument(
        "--jax-every", type=int, default=50, help="run one program in so many under JAX; 0 for none"
    )
    parser.add_argument("--folder", type=Path, default=Path("disagreements"))
    parser.add_argument("--no-oracle", dest="oracle", action="store_false", default=INSTALLED)
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.count)
    task = [Task(given.seed, n, given.each, given.jax_every, given.shrink, given.oracle) for n in numbers]
    counts: dict[str, int] = {}
    begun = time.monotonic()
    for k, found in enumerate(results(task, given.jobs), 1):
        counts[found.verdict] = counts.get(found.verdict, 0) + 1
        if found.verdict in WRONG:
            given.folder.mkdir(exist_ok=True, parents=True)
            name = f"{found.verdict.replace(' ', '-')}-{given.seed}-{found.number}.txt"
            (given.folder / name).write_text(found.report + "\n")
            print(f"\r{found.report}\n{'-' * 40}", flush=True)
        summary = ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items()))
        print(f"\r{k} of {given.count} ({summary}), {time.monotonic() - begun:.0f} s", end="", flush=True)
    print()
    return 1 if any(counts.get(verdict) for verdict in WRONG) else 0


if __name__ == "__main__":
    sys.exit(main())
