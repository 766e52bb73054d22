"""Measured figures in README.md, in pages and in the README of the benchmarks, from `results/*.json`.

    python -m tests.benchmarks.starting --fits | python -m tests.benchmarks.measured starting
    python -m tests.benchmarks.measured

The first records the table that a benchmark prints, with commit, date and machine; the second writes results
into the texts, between markers. `<!-- measured: NAME -->` and `<!-- /measured -->` have a table between them,
`<!-- measured: NAME; ROW; COLUMN -->` a cell, or with `*` for the row the least and the greatest of a column.
"""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results"
TEXTS = (
    *(ROOT / "README.md", Path(__file__).parent / "README.md", ROOT / "ppl/optimise/README.md"),
    *sorted((ROOT / "cli/site").glob("*.md")),
)
MARKED = re.compile(r"(<!-- measured: (.+?) -->)(.*?)(<!-- /measured -->)", re.DOTALL)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")

Result = Mapping[str, Any]


def results() -> dict[str, Result]:
    """By the name of the file: columns, rows of texts, command, commit, date, machine."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("*.json"))}


def filled(text: str, known: Mapping[str, Result]) -> str:
    """The text with the results between its markers."""
    return MARKED.sub(lambda found: found[1] + value(found[2], known) + found[4], text)


def value(reference: str, known: Mapping[str, Result]) -> str:
    """The table of NAME, or the cell of `NAME; ROW; COLUMN`."""
    name, *place = reference.split("; ")
    result = known[name]
    if not place:
        return f"\n{table(result['columns'], result['rows'])}\n\n*{source(result)}*\n"
    row, column = place
    at = result["columns"].index(column)
    cells = [cells[at] for cells in result["rows"] if row in ("*", cells[0]) and NUMBER.match(cells[at])]
    if not cells:
        raise ValueError(f"{name} has no row {row!r}")
    ends = (min(cells, key=number), max(cells, key=number)) if row == "*" else cells
    return " to ".join(dict.fromkeys(ends))


def number(cell: str) -> float:
    """The number that a cell begins with."""
    (first,) = NUMBER.findall(cell)[:1]
    return float(first.replace(",", ""))


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = (columns, ["---"] * len(columns), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def source(result: Result) -> str:
    """When, with which commit, and where."""
    return f"{result['date']}, commit {result['commit']}, {result['machine']}."


# --- Recording -----------------------------------------------------------------------------------


def record(name: str, printed: str, command: str) -> None:
    """Stores the first table of what a benchmark printed."""
    lines = [line.strip().strip("|").split("|") for line in printed.splitlines() if line.startswith("|")]
    columns, _, *rows = ([cell.strip() for cell in line] for line in lines)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    here = f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}"
    result = {"command": command, "date": f"{date.today()}", "commit": commit.stdout.strip(), "machine": here}
    write(name, {**result, "columns": columns, "rows": rows})


def write(name: str, result: Result) -> None:
    """One row a line, so that a change shows as such."""
    *head, (_, rows) = result.items()
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head]
    body = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in rows)
    text = "{\n" + "\n".join(lines) + f'\n  "rows": [\n{body}\n  ]\n}}\n'
    (RESULTS / f"{name}.json").write_text(text, "utf-8")


def processor() -> str:
    """Its name, as Linux has it."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", info.read_text()) if info.exists() else []
    return names[0] if names else platform.processor()


def main(words: list[str]) -> None:
    if words:
        known = results().get(words[0], {})
        printed = sys.stdin.read()
        record(
            words[0],
            printed,
            " ".join(words[1:]) or known.get("command", f"python -m tests.benchmarks.{words[0]}"),
        )
    for path in TEXTS:
        path.write_text(filled(path.read_text("utf-8"), results()), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
