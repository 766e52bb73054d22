"""CPU seconds of default fits of programs that step through time, each in a process of its own.

    python -m tests.benchmarks.stepping.fits FOLDER --seeds 1 2 3

writes programs and data to the folder, the same bytes every time, and a line of JSON a fit: seconds of the
process from its first import on, of all its threads and children, the verdict, means and sds.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.integrate import solve_ivp

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
Data = dict[str, Any]


def influenza_sir(rng: Generator) -> Data:
    """Those of models/: counts of 14 days."""
    found: Data = json.loads((ROOT / "models/influenza_sir/influenza_sir.data.json").read_text())
    return found


def michaelis_menten(rng: Generator) -> Data:
    """One compartment, 20 times."""
    from tests.benchmarks.verdicts.kinetics import DATA

    return DATA


def lotka_volterra(rng: Generator) -> Data:
    """Twenty years after the first, with lognormal errors of 0.25."""

    def rate(t: float, z: Any) -> list[float]:
        return [(0.55 - 0.028 * z[1]) * z[0], (-0.8 + 0.024 * z[0]) * z[1]]

    years = np.arange(21.0)
    z = solve_ivp(rate, (0, 20), [33.0, 6.0], t_eval=years, rtol=1e-9, atol=1e-9).y.T
    y = np.round(z * np.exp(0.25 * rng.standard_normal(z.shape)), 2)
    return {"N": 20, "ts": years[1:].tolist(), "y_init": y[0].tolist(), "y": y[1:].tolist()}


def arma11(rng: Generator) -> Data:
    """Two hundred times."""
    y, before, error = [], 0.5, 0.0
    for e in 0.5 * rng.standard_normal(200):
        before, error = 0.5 + 0.5 * before + 0.3 * error + e, e
        y.append(round(before, 3))
    return {"T": 200, "y": y}


def garch11(rng: Generator) -> Data:
    """Two hundred times."""
    r, sigma = [], 0.8
    for z in rng.standard_normal(200):
        r.append(round(0.05 + sigma * z, 3))
        sigma = np.sqrt(0.1 + 0.3 * (sigma * z) ** 2 + 0.5 * sigma**2)
    return {"T": 200, "r": r, "sigma1": 0.8}


PROGRAMS = {
    influenza_sir: ROOT / "models/influenza_sir/influenza_sir.model",
    lotka_volterra: HERE / "lotka_volterra.stan",
    michaelis_menten: ROOT / "tests/benchmarks/verdicts/made_to_fail/michaelis_menten.stan",
    arma11: ROOT / "tests/conformance/programs/arma11.stan",
    garch11: ROOT / "tests/conformance/programs/garch11.stan",
}


def write(folder: Path) -> list[Path]:
    """Write each program with its data."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for simulate, program in PROGRAMS.items():
        files.append(folder / f"{simulate.__name__}.stan")
        shutil.copy(program, files[-1])
        data = simulate(np.random.default_rng(1))
        files[-1].with_suffix(".data.json").write_text(json.dumps(data) + "\n")
    return files


def measured(file: Path, seed: int) -> Data:
    """One default fit, in this process."""
    import ppl

    posterior = ppl.compile_model(file).condition(file.with_suffix(".data.json"))
    fit = posterior.variational(seed=seed)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    names = posterior.param_names()
    draws = fit.draws()[:, : len(names)]
    return {
        "program": file.stem,
        "seed": seed,
        "seconds": round(sum(u.ru_utime + u.ru_stime for u in used), 2),
        "level": fit.verdict.level.value,
        "draws": fit.verdict.made.value,
        "mean": dict(zip(names, draws.mean(axis=0).tolist(), strict=True)),
        "sd": dict(zip(names, draws.std(axis=0).tolist(), strict=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--one", type=Path, help="fit this program alone, here, with the first seed")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measured(args.one, args.seeds[0])))
        return
    for file in write(args.folder):
        for seed in args.seeds:
            command = [sys.executable, "-m", __spec__.name, str(args.folder), "--one", str(file)]
            subprocess.run([*command, "--seeds", str(seed)], check=True)


if __name__ == "__main__":
    main()
