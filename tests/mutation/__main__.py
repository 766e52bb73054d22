"""Mutation testing: what share of small faults do the tests notice?

python -m tests.mutation psis verdict --sample 100 --seed 1
"""

import argparse
import ast
import os
import random
import time
from collections import Counter
from collections.abc import Iterator

from tests.mutation import driver
from tests.mutation.driver import KILLED, ROOT, SURVIVED, TIMEOUT, UNTESTED, Traced
from tests.mutation.equivalent import EQUIVALENT, names_by_line
from tests.mutation.groups import GROUPS, Group
from tests.mutation.operators import Mutant

NOTICED = (KILLED, TIMEOUT)


def main() -> None:
    given = _arguments()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins cost time and are not needed
    rows = []
    for name in given.groups or GROUPS:
        group = GROUPS[name]
        tests = driver.traced(group.files, group.tests, group.by_line)
        driver.imported_once(group.tests)
        _unchanged_survives(group, tests)
        print(f"{name}: {len(tests)} tests, {sum(t.seconds for t in tests):.0f} s", flush=True)
        for file in group.files:
            rows.append((file, tried(group, file, tests, given)))
            _row(*rows[-1])
    print(f"\n{'file':58} mutants  killed  timeout  survived  score")
    total = Counter[str]()
    for file, found in rows:
        _row(file, found)
        total += found
    _row("total", total)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; all of them by default")
    parser.add_argument("--sample", type=int, help="so many mutants a file, all by default")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--most", type=float, default=30.0, help="seconds of tests a mutant meets at most")
    return parser.parse_args()


def _unchanged_survives(group: Group, tests: list[Traced]) -> None:
    """Stop if tests fail on a file as it is, imported anew as a mutant is: every mutant would seem killed."""
    file = group.files[0]
    child = driver.start(file, ast.parse((ROOT / file).read_text()), tests)
    if driver.wait(child, time.monotonic() + 3600) != 0:
        raise SystemExit(f"the tests do not pass after {file} is imported anew")


def tried(group: Group, file: str, tests: list[Traced], given: argparse.Namespace) -> Counter[str]:
    """How many mutants of a file met each end; a line for each that was not killed."""
    source = (ROOT / file).read_text()
    names = names_by_line(ast.parse(source))
    own = file.removeprefix("ppl/")
    every = [m for m in group.mutants(source) if (own, names.get(m.first, ""), m.change) not in EQUIVALENT]
    some = every
    if given.sample is not None and given.sample < len(every):
        some = sorted(
            random.Random(f"{given.seed} {file}").sample(every, given.sample), key=lambda m: m.first
        )
    found = Counter[str]()
    for mutant, end in ends(file, some, tests, group.by_line, given):
        found[end] += 1
        if end != KILLED:
            print(f"{end:9} {file}:{mutant.first}: {mutant.change}", flush=True)
    return found


def ends(
    file: str, some: list[Mutant], tests: list[Traced], by_line: bool, given: argparse.Namespace
) -> Iterator[tuple[Mutant, str]]:
    """Each mutant and how it ended, as they end."""
    waiting, running = list(reversed(some)), dict[int, tuple[Mutant, float]]()
    while waiting or running:
        while waiting and len(running) < given.jobs:
            mutant = waiting.pop()
            concerned = driver.on_line(tests, file, mutant) if by_line else tests
            few = driver.first(driver.named_first(concerned, file), given.most)
            if not few:
                yield mutant, UNTESTED
                continue
            limit = 30 + 5 * sum(test.seconds for test in few)
            running[driver.start(file, mutant.tree, few)] = mutant, time.monotonic() + limit
        for child, (mutant, until) in list(running.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                yield mutant, KILLED if os.waitstatus_to_exitcode(status) else SURVIVED
                del running[child]
            elif time.monotonic() > until:
                driver.wait(child, 0)
                yield mutant, TIMEOUT
                del running[child]
        time.sleep(0.01)


def _row(name: str, found: Counter[str]) -> None:
    every = sum(found.values())
    noticed = sum(found[end] for end in NOTICED)
    survived = every - noticed
    score = f"{noticed / every:6.1%}" if every else "     -"
    print(f"{name:58} {every:7} {found[KILLED]:7} {found[TIMEOUT]:8} {survived:9} {score}", flush=True)


if __name__ == "__main__":
    main()
