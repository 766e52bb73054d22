"""What runs cost as rows grow: `python tests/laws/cost/run.py [--all] [NAME ...]`.

Printed is what breaks the law, or with `--all` every count.
"""

import argparse
import os
import sys
import time
from pathlib import Path

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
sys.path.insert(0, str(Path(__file__).parents[2]))

from laws.cost.known import exponent_of  # noqa: E402
from laws.cost.law import broken, growths  # noqa: E402
from laws.cost.programs import programs  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="every count, not only those that break the law")
    given = parser.parse_args()
    worst = 0
    for program in programs():
        if not given.names or program.name in given.names:
            start = time.process_time()
            found = growths(program)
            wrong = broken(found, exponent_of(program.name))
            worst |= bool(wrong)
            print(f"{program.name}: {time.process_time() - start:.1f} s", flush=True)
            for growth in found if given.all else wrong:
                print(f"  {growth}", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
