"""How often means and quantiles of default fits are within 2 and 4 standard errors of what is known.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.coverage --seeds 1 --out coverage.jsonl
    python -m tests.benchmarks.coverage --table coverage.jsonl

The programs are those of tests/benchmarks/verdicts with a known answer, except those of SLOW.
The error of the reference itself, from the independent draws that it is worth, is added to that of the fit.
Every fit is a line of the output; a run begun again does what is not there yet.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ppl.errors import PPLError
from ppl.results.fits.fit import Fit
from tests.benchmarks.clock import head, row
from tests.benchmarks.errors import Quantity
from tests.benchmarks.verdicts.__main__ import seeds
from tests.benchmarks.verdicts.case import Known
from tests.benchmarks.verdicts.groups import GROUPS
from tests.benchmarks.verdicts.lines import Record, key, mend, read

MEASURED = ("references", "models", "made-to-fail")
SLOW = (
    "circular_von_mises_mixture",
    "dawid_skene_raters",
    "election88",
    "gp_logistic_matern",
    "hmm_discrete_builtin",
    "lda",
    "mixture_k_student",
    "ragged_choice_sets_mixed_logit",
    "soft_tree_and_piecewise_regression",
    "spatial_gp_binomial_matern52",
)
"""Programs that take longer."""
CHECKS = {"mean": ("mean", "se"), "q05": ("q5", "se_q5"), "q95": ("q95", "se_q95")}
"""What a reference knows, and the names of its estimate and standard error in a row of the summary."""
NORMAL_QUANTILE = 2.11
"""The standard error of the 5% and 95% quantiles of a normal, in standard errors of its mean."""


def fitted(group: str, name: str, seed: int) -> Record:
    """A default fit, and for each check the errors in standard errors, by column."""
    case = GROUPS[group].case(name, seed)
    known = case.truth.quantities if isinstance(case.truth, Known) else {}
    record: Record = {"group": group, "name": name, "seed": seed}
    posterior, began = case.posterior(), process_time()
    try:
        fit = posterior.variational(seed=seed)
    except PPLError as error:
        return {**record, "level": "refused", "message": str(error)}
    quality = {"level": fit.verdict.level.value, "made": fit.verdict.made.value}
    found = {check: dict(errors(fit, known, check)) for check in CHECKS}
    return {**record, **quality, "seconds": process_time() - began, "errors": found}


def errors(fit: Fit, known: Any, check: str) -> Iterator[tuple[str, float]]:
    """The error of each column, in standard errors of both the fit and the reference."""
    value, se = CHECKS[check]
    names = [name for name in known if name in fit.column_names]
    for line in fit.summary(names).only(names):
        quantity: Quantity = known[line.name]
        off = getattr(line, value) - getattr(quantity, check)
        if math.isfinite(off) and not math.isnan(getattr(line, se)):  # as of a poor fit
            factor = 1.0 if check == "mean" else NORMAL_QUANTILE
            own = factor * quantity.scale / math.sqrt(quantity.worth)
            yield line.name, float(off / np.hypot(getattr(line, se), own))


def table(records: list[Record]) -> Iterator[str]:
    """By how the draws were made and by verdict: fits, quantities, and the shares within 2 and 4."""
    some = [record for record in records if "errors" in record]
    yield from head("draws", "fits", "means", "±2 se", "±4 se", "quantiles", "±2 se", "±4 se", "worst mean")
    for kind in sorted({record["made"] for record in some}):
        yield line(kind, [record for record in some if record["made"] == kind])
    for group in MEASURED:
        if own := [record for record in some if record["group"] == group]:
            yield line(group, own)
    for level in ("good", "usable", "poor"):
        if own := [record for record in some if record["level"] == level]:
            yield line(f"verdict {level}", own)
    yield line("all", some)


def line(kind: str, records: list[Record]) -> str:
    means = {
        (record["name"], column): z for record in records for column, z in record["errors"]["mean"].items()
    }
    quantiles = [
        z for record in records for check in ("q05", "q95") for z in record["errors"][check].values()
    ]
    worst = max(means, key=lambda one: abs(means[one]), default=None)  # of poor fits no error is known
    named = f"{means[worst]:+.1f} ({worst[0]}, {worst[1]})" if worst else ""
    return row(kind, len(records), *shares(list(means.values())), *shares(quantiles), named)


def shares(errors: list[float]) -> Iterator[object]:
    """How many there are, and the shares of them within 2 and 4."""
    sizes = np.abs(errors)
    yield len(errors)
    yield from (f"{(sizes <= most).mean():.1%}" if errors else "" for most in (2, 4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=seeds, default=seeds("1"), help="such as 1-5")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="programs; all by default")
    parser.add_argument("--out", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--table", type=Path, metavar="FILE", help="the table of a file, without a fit")
    args = parser.parse_args()
    if args.table is None:
        mend(args.out)
        done = set(map(key, read(args.out)))
        for seed in args.seeds:
            for group in MEASURED:
                for name in GROUPS[group].names:
                    if name in SLOW or (args.only and name not in args.only) or (group, name, seed) in done:
                        continue
                    record = fitted(group, name, seed)
                    with args.out.open("a") as out:
                        out.write(json.dumps(record) + "\n")
                    print(f"{name} {record['level']} {record.get('seconds', math.nan):.1f} s", flush=True)
    for text in table(read(args.table or args.out)):
        print(text)


if __name__ == "__main__":
    main()
