"""The tables of README.md beside this file, from the lines that references.py wrote.

python -m tests.benchmarks.table runs.jsonl > tests/benchmarks/tables.md
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

Runs = list[dict[str, Any]]
COLUMNS = (
    "program",
    "d",
    "runs",
    "gradients",
    "seconds",
    "error",
    "sd ratio",
    "k-hat of q",
    "draws",
    "verdict",
    "paper's error",
)


def main(paths: Iterable[str]) -> None:
    runs = [json.loads(line) for path in paths for line in Path(path).read_text().splitlines()]
    by: dict[str, dict[str, Runs]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by[run["variant"]][run["program"]].append(run)
    for variant in filter(by.__contains__, ("default", "fullrank")):
        paper = by["paper" if variant == "default" else "paper-fullrank"]
        print(f"## {variant}\n\n{summary(by[variant])}\n")
        print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
        for program, its in sorted(by[variant].items()):
            print("| " + " | ".join(row(program, its, paper.get(program, []))) + " |")
        print()


def row(program: str, runs: Runs, paper: Runs) -> list[str]:
    """Medians over seeds, but the worst error and the verdicts of all."""
    good = [run for run in runs if "seconds" in run and isinstance(run["error"], float)]
    if not good:
        return [program, *[""] * (len(COLUMNS) - 2), "failed"]
    sds = [run["sd_ratio"] for run in good]
    return [
        program,
        str(good[0]["d"]),
        str(len(good)),
        f"{median(run['gradients'] for run in good):.0f}",
        f"{median(run['seconds'] for run in good):.1f}",
        f"{max(run['error'] for run in good):.2f}",
        " ".join(f"{median(sd[k] for sd in sds):.2f}" for k in range(3)),
        f"{median(run['khat'] for run in good):.2f}",
        ", ".join(sorted({run["made"] for run in good})),
        ", ".join(sorted({run["verdict"] for run in good})),
        _worst(paper),
    ]


def _worst(runs: Runs) -> str:
    if not runs:
        return ""
    if any(isinstance(run["error"], str) for run in runs):
        return "failed"
    return f"{max(run['error'] for run in runs):.2f}"


def summary(programs: dict[str, Runs]) -> str:
    """How many programs are where they should be, over all their seeds."""
    n = len(programs)
    runs = [run for its in programs.values() for run in its]
    failed = [run for run in runs if isinstance(run["error"], str)]
    close = sum(
        all(isinstance(r["error"], float) and r["error"] < 0.2 for r in its) for its in programs.values()
    )
    wide = sum(
        all(isinstance(r["error"], float) and abs(r["sd_ratio"][1] - 1) < 0.15 for r in its)
        for its in programs.values()
    )
    silent = [
        run["program"]
        for run in runs
        if isinstance(run["error"], float) and run["error"] > 1 and run["verdict"] == "good"
    ]
    return (
        f"{len(runs)} runs of {n} programs, {len(failed)} failed. The largest mean error is under 0.2 sd in "
        f"every run on {close} programs ({close / n:.0%}); the median sd is within 15% on {wide} "
        f"({wide / n:.0%}); misses above 1 sd of which the verdict does not warn: "
        f"{', '.join(silent) or 'none'}."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
