"""Sample a program by stanli's NUTS and write the draws, in a process of its own.

    python -m tests.benchmarks.tail.nuts PROGRAM DATA OUT.npz --seed 1 --draws 1000 --delta 0.8

The file has `names`, in the spelling of CmdStan, `draws` (chains, draws, names) with `divergent` (chains,
draws), and `leapfrog` (chains, transitions), those of the warm-up included.
"""

import argparse
from pathlib import Path

import numpy as np
import stanli

from tests.benchmarks.columns import column

WARMUP = 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--warmup", type=int, default=WARMUP)
    parser.add_argument("--delta", type=float, default=0.8)
    args = parser.parse_args()
    model = stanli.Model(stan_file=str(args.program), data=str(args.data))
    fit = model.sample(
        seed=args.seed,
        warmup=args.warmup,
        samples=args.draws,
        delta=args.delta,
        save_warmup=True,
        parallel_chains=1,
        refresh=0,
    )
    statistics = dict(zip(stanli.SAMPLER_COLUMNS, np.moveaxis(fit.sampler_stats, 2, 0), strict=True))
    np.savez(
        args.out,
        names=np.array([column(name) for name in fit.names]),
        draws=fit.draws()[:, args.warmup :],
        divergent=statistics["divergent__"][:, args.warmup :],
        leapfrog=statistics["n_leapfrog__"],
    )


if __name__ == "__main__":
    main()
