"""Fit programs that have long reference runs, and measure how far off the fits are.

A folder holds NAME.stan, NAME.data.json and NAME.reference.json: {"params": {"theta.1": {"mean", "sd"}}}.

    python -m tests.benchmarks.references FOLDER --variant default fullrank --seeds 5 --out runs.jsonl
    python -m tests.benchmarks.table runs.jsonl

Every fit is a line of the output, so that a run can be interrupted and begun again where it stopped.
"""

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any

import numpy as np

import ppl
from ppl.errors import PPLError
from ppl.records import dataclass, field
from ppl.results.fits.fit import Fit, variational
from tests.benchmarks.errors import Quantities, errors_of, read_reference, worst

PAPER = {"start": "random", "refine": False, "average": False, "correct": False}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "fullrank": {"algorithm": "fullrank"},
    "lowrank": {"algorithm": "lowrank"},
    "resample": {"algorithm": "fullrank", "resample": True},
    "paper": PAPER,
    "paper-fullrank": {"algorithm": "fullrank", **PAPER},
}


@dataclass(eq=False)
class Counting:
    """A posterior that counts what is asked of it; a log density without gradient counts as a third."""

    inner: Any
    gradients: float = field(default=0.0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def log_density(self, u, **options):
        self.gradients += 1 / 3
        return self.inner.log_density(u, **options)

    def log_density_gradient(self, u, **options):
        self.gradients += 1
        return self.inner.log_density_gradient(u, **options)

    def log_densities(self, us, **options):
        self.gradients += len(us) / 3
        return self.inner.log_densities(us, **options)

    def log_density_gradients(self, us, **options):
        self.gradients += len(us)
        return self.inner.log_density_gradients(us, **options)

    def log_joint(self, *options):
        joint = self.inner.log_joint(*options)

        def gradients(us):
            self.gradients += len(us)
            return joint.gradients(us)

        return SimpleNamespace(gradients=gradients, values_at_once=joint.values_at_once)


def run(folder: Path, name: str, variant: str, seed: int) -> dict[str, Any]:
    """One fit, as a record for JSON; a fit that raises is a record with `error`."""
    record: dict[str, Any] = {"program": name, "variant": variant, "seed": seed}
    reference = read_reference(folder / f"{name}.reference.json")
    model = ppl.compile_model(folder / f"{name}.stan")
    posterior = Counting(model.condition(folder / f"{name}.data.json"))
    began = process_time()
    try:
        fit = variational(posterior, seed=seed, **VARIANTS[variant])
    except PPLError as error:
        return {**record, "error": str(error), "seconds": process_time() - began}
    record |= {"d": posterior.param_unc_num(), "seconds": process_time() - began}
    return {**record, "gradients": round(posterior.gradients), **measure(fit, reference)}


def measure(fit: Fit, reference: Quantities) -> dict[str, Any]:
    """Errors of means in reference sds, ratios of sds, and what the fit says of itself."""
    found = errors_of(fit.draws(), fit.column_names, reference)
    error, ratio = found.errors["mean"], 1 + found.errors["sd"]
    signed, name = worst(found.names, error)
    return {
        "error": abs(signed),
        "worst": name,
        "signed": signed,
        "rms": float(np.sqrt(np.mean(error**2))),
        "sd_ratio": [float(q) for q in np.quantile(ratio, [0, 0.5, 1])],
        "sd_within_15": float(np.mean(np.abs(ratio - 1) < 0.15)),
        "elbo": fit.elbo,
        "outcome": fit.outcome.ending.value,
        "khat": fit.verdict.khat,
        "moved": fit.verdict.mean_shift,
        "verdict": fit.verdict.level.value,
        "made": fit.verdict.made.value,
        "notes": list(fit.notes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variant", nargs="+", choices=VARIANTS, default=["default"])
    parser.add_argument("--program", nargs="*", help="names; all by default")
    parser.add_argument("--skip", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=5, help="seeds 1 to this")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs.jsonl"))
    args = parser.parse_args()
    with ProcessPoolExecutor(args.jobs) as pool, args.out.open("a") as out:
        futures = [pool.submit(run, *task) for task in _tasks(args)]
        for future in as_completed(futures):
            record = future.result()
            out.write(json.dumps(record) + "\n")
            out.flush()
            print(_line(record), flush=True)


def _tasks(args: argparse.Namespace) -> Iterator[tuple[Path, str, str, int]]:
    """What is to be run and not in the output yet."""
    lines = args.out.read_text().splitlines() if args.out.exists() else []
    done = {(r["program"], r["variant"], r["seed"]) for r in map(json.loads, lines)}
    names = sorted(path.name.removesuffix(".reference.json") for path in args.folder.glob("*.reference.json"))
    for seed in range(1, args.seeds + 1):
        for name in names:
            if (args.program and name not in args.program) or name in args.skip:
                continue
            for variant in args.variant:
                if (name, variant, seed) not in done:
                    yield args.folder, name, variant, seed


def _line(record: dict[str, Any]) -> str:
    head = f"{record['program']:36} {record['variant']:9} {record['seed']:2}"
    if "error" in record and isinstance(record["error"], str):
        return f"{head} FAILED {record['error'][:120]!r}"
    low, middle, high = record["sd_ratio"]
    return (
        f"{head} d={record['d']:3} {record['gradients']:6} grads {record['seconds']:6.1f} s  "
        f"error {record['error']:5.2f} ({record['worst']})  sd {low:.2f} {middle:.2f} {high:.2f}  "
        f"khat {record.get('khat', float('nan')):.2f}  {record['outcome']} {record.get('verdict', '')}"
    )


if __name__ == "__main__":
    main()
