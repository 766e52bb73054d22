"""What runs cost as rows grow: `python tests/laws/cost/run.py [--all] [NAME ...]`, of all programs or some.

Printed is what breaks the law, or with `--all` every count.  `--generated 100 --seed 1` takes that many
programs of the generator instead, held to what they cost as they are written.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
sys.path.insert(0, str(Path(__file__).parents[2]))

from generator.program import generated  # noqa: E402
from laws.cost.as_written import steeper_than_written  # noqa: E402
from laws.cost.known import exponent_of  # noqa: E402
from laws.cost.law import Growth, broken, growths  # noqa: E402
from laws.cost.programs import programs  # noqa: E402


def of_programs(names: list[str], everything: bool) -> Iterator[tuple[str, list[Growth]]]:
    """What breaks the law of each program, or all its counts."""
    for program in programs():
        if not names or program.name in names:
            found = growths(program)
            yield program.name, found if everything else broken(found, exponent_of(program.name))


def of_generated(count: int, seed: int) -> Iterator[tuple[str, list[Growth]]]:
    for number in range(count):
        made = generated(seed, number)
        name = f"{number} of seed {seed}"
        yield name, steeper_than_written(name, made.text, made.data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="every count, not only those that break the law")
    parser.add_argument("--generated", type=int, metavar="COUNT", help="programs of the generator")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.generated:
        results = of_generated(given.generated, given.seed)
    else:
        results = of_programs(given.names, given.all)
    found, start = 0, time.process_time()
    for name, growth in results:
        now = time.process_time()
        print("\n  ".join([f"{name}: {now - start:.1f} s", *map(str, growth)]), flush=True)
        found, start = found + len(growth), now
    return 1 if found and not given.all else 0


if __name__ == "__main__":
    sys.exit(main())
