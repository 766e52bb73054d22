"""Measure speed against other tools, side by side in one run.

    python -m tests.benchmarks cold --small            source to posterior CSV, each tool in a new process
    python -m tests.benchmarks warm --small --large    to the ELBO that Stan's ADVI ends at, all compiled
    python -m tests.benchmarks gradients               microseconds a gradient, beside JAX by hand
    python -m tests.benchmarks sizes                   cost and memory against rows and dimension
    python -m tests.benchmarks nuts --small            chains of NUTS, beside Stan's
    python -m tests.benchmarks discrete                sums over discrete parameters, by hand and by NumPyro

Peers: PEERS_PYTHON names a Python that has numpyro and pymc; STAN_ENV and STAN_BUILD_SH as in peers/stan.py.
A peer that is not there is left out of the table.
"""

import argparse
import sys

from tests.benchmarks import cold, discrete, gradients, nuts, sizes, warm
from tests.benchmarks.problems import LARGE, PROBLEMS, SMALL, Problem

KINDS = {
    "cold": cold.table,
    "warm": warm.table,
    "gradients": gradients.table,
    "sizes": sizes.table,
    "discrete": discrete.table,
    "nuts": nuts.table,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--small", action="store_true", help="the ten small programs")
    parser.add_argument("--large", action="store_true", help="the large models")
    parser.add_argument("--problem", nargs="*", choices=PROBLEMS, default=[])
    parser.add_argument("--rounds", type=int, default=5, help="repeats, alternating between the tools")
    args = parser.parse_args()
    for line in KINDS[args.kind](_chosen(args), args.rounds):
        print(line, flush=True)


def _chosen(args: argparse.Namespace) -> list[Problem]:
    named = [PROBLEMS[name] for name in args.problem]
    return [*(SMALL if args.small else ()), *(LARGE if args.large else ()), *named] or list(SMALL)


if __name__ == "__main__":
    sys.exit(main())
