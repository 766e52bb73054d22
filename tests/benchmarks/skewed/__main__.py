"""Fits of skewed and bounded posteriors beside exact means, sds and quantiles.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.skewed --seeds 5 [--only NAME ...]

A line for each fit that is wrong, then a table by posterior. Errors are in sds of the posterior and, in
brackets, in the standard errors that the fit states.
"""

import argparse
import warnings
from collections import Counter
from time import process_time

import numpy as np

import ppl
from tests.benchmarks.clock import head, row
from tests.benchmarks.skewed.posteriors import POSTERIORS
from tests.benchmarks.skewed.wrong import largest, measured, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=list(POSTERIORS), choices=list(POSTERIORS))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", ppl.PoorFitWarning)
    for text in head(
        "posterior", "verdicts", "mean", "5%", "95%", "sd ratio", "beyond 99%", "CPU s", "good and wrong"
    ):
        print(text)
    for name in chosen.only:
        known = POSTERIORS[name]
        laws, posterior = known.laws(), ppl.compile_model(known.program).condition(known.data)
        began, levels, every, bad = process_time(), Counter[str](), [], 0
        for seed in range(1, chosen.seeds + 1):
            fit = posterior.variational(seed=seed)
            own = [each for parameter, law in laws.items() for each in measured(fit, parameter, law)]
            reasons = [each for each in own if wrong(each)]
            levels[fit.level.value] += 1
            every += own
            bad += bool(reasons) and fit.level.value == "good"
            for each in reasons:
                print(
                    f"    {name}, seed {seed}, {fit.level.value}, {fit.verdict.made.value}: {each}",
                    flush=True,
                )
        of = {
            kind: [each for each in every if each.kind == kind]
            for kind in ("mean", "5%", "95%", "sd", "tail")
        }
        told = ", ".join(f"{count} {level}" for level, count in levels.items())
        seconds = (process_time() - began) / chosen.seeds
        ratios = [each.off for each in of["sd"]]
        cells = [largest(of[kind]) for kind in ("mean", "5%", "95%")]
        beyond = np.mean([each.off for each in of["tail"]])
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(row(name, told, *cells, spread, f"{beyond:.4f}", f"{seconds:.1f}", bad), flush=True)


if __name__ == "__main__":
    main()
