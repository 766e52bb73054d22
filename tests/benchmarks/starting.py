"""CPU seconds of whole processes: what a user waits for before anything is computed, and small fits in all.

    python -m tests.benchmarks.starting             # commands on eight schools
    python -m tests.benchmarks.starting --fits      # six small programs beside stanli's NUTS

The processes of a table alternate; each figure is the least of all rounds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import rmtree

PPL = str(Path(sys.executable).with_name("ppl"))
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

FITS = (
    "eight_schools",
    "eight_schools_centred",
    "linear_regression",
    "linear_regression_ard",
    "logistic_regression",
    "weibull_poisson",
)

Commands = Mapping[str, Sequence[str]]


def files_of(name: str) -> tuple[str, str]:
    """The program and the data of a model."""
    folder = ROOT / "models" / name
    return str(folder / f"{name}.model"), str(folder / f"{name}.data.json")


def commands() -> Commands:
    model, data = files_of("eight_schools")
    return {
        "`ppl variational`": [PPL, "variational", model, data, "-o", "output.csv"],
        "`optimize` of an executable": ["./program", "optimize", "data", f"file={data}"],
        "`ppl --help`": [PPL, "--help"],
        "`ppl check`": [PPL, "check", model],
        "`ppl format`": [PPL, "format", model],
        "`ppl summary`": [PPL, "summary", "draws.csv"],
    }


def seconds(command: Sequence[str], folder: str) -> float:
    """Of the process and its children, user and system."""
    environment = {**ENVIRONMENT, "PPL_CACHE": f"{folder}/cache", "PYTHONPATH": str(ROOT)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_fit(name: str, folder: str) -> tuple[float, float, float]:
    """Of a fit by a program that is compiled, of the same again, and of four chains of stanli's NUTS.

    The tables of the grammar, which an installation builds once, are in the cache.
    """
    model, data = files_of(name)
    fit = [PPL, "variational", model, data, "-o", "output.csv"]
    nuts = [sys.executable, "-m", "tests.benchmarks.tail.nuts", model, data, "output.npz"]
    rmtree(f"{folder}/cache", ignore_errors=True)
    Path(folder, "empty.model").write_text("")
    seconds([PPL, "check", "empty.model"], folder)
    return seconds(fit, folder), seconds(fit, folder), seconds(nuts, folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fits", action="store_true", help="fits beside stanli's NUTS")
    parser.add_argument("--rounds", type=int, default=6)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.fits:
            print(
                "| program | first run | second run | NUTS | second / NUTS |\n| --- | --- | --- | --- | --- |"
            )
            for name in FITS:
                rounds = [of_fit(name, folder) for _ in range(args.rounds)]
                first, second, nuts = map(min, zip(*rounds, strict=True))
                print(
                    f"| {name} | {first:.2f} | {second:.2f} | {nuts:.2f} | {second / nuts:.1f} |", flush=True
                )
            return
        model, data = files_of("eight_schools")
        seconds([PPL, "build", model, "-o", "program"], folder)
        seconds([PPL, "variational", model, data, "-o", "draws.csv"], folder)
        print("| command | CPU s |\n| --- | --- |")
        for name, command in commands().items():
            least = min(seconds(command, folder) for _ in range(args.rounds))
            print(f"| {name} | {least:.2f} |", flush=True)


if __name__ == "__main__":
    main()
