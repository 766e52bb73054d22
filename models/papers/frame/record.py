"""A result as JSON, and how a run of an experiment becomes one."""

import json
import platform
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import ppl

from frame.experiments import Experiment
from frame.result import Result, Table

HERE = Path(__file__).parents[1]
RESULTS = HERE / "results"
DOTS = 110
"""Dots per inch of the pictures: small files, sharp enough for a page."""


def run_and_record(experiment: Experiment, quick: bool, data: Path | None, folder: Path) -> dict[str, Any]:
    """Runs the experiment; writes NAME.json and NAME.png into `folder`, and returns what the JSON holds."""
    began = time.perf_counter(), time.process_time()
    result = experiment.run(quick, data)
    seconds = {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1]}
    record = described(experiment, quick, result) | {"seconds": {k: round(s, 1) for k, s in seconds.items()}}
    folder.mkdir(parents=True, exist_ok=True)
    if result.figure is not None:
        result.figure.savefig(folder / f"{experiment.name}.png", dpi=DOTS, metadata={"Software": None})
    text = json.dumps(record, indent=1, default=plain, ensure_ascii=False)
    (folder / f"{experiment.name}.json").write_text(text + "\n", "utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def described(experiment: Experiment, quick: bool, result: Result) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "title": experiment.title,
        "place": experiment.place,
        "size": "quick" if quick else "full",
        "data": result.data,
        "tables": [asdict(table) for table in result.tables],
        "claims": [asdict(claim) for claim in result.claims],
        "remarks": list(result.remarks),
        "picture": f"{experiment.name}.png" if result.figure is not None else None,
        "numbers": dict(result.numbers),
        "made_with": made_with(),
    }


def made_with() -> dict[str, str]:
    packages = {"ppl": ppl.__version__, **{name: version(name) for name in ("numpy", "scipy")}}
    return {
        "python": platform.python_version(),
        "machine": f"{sys.platform} {platform.machine()}",
        **packages,
    }


def plain(value: Any) -> Any:
    """What JSON has no word for, in words that it has."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a result's JSON")


def load(name: str, folder: Path = RESULTS) -> dict[str, Any] | None:
    """The record of an experiment, None if it has none yet."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return record


def tables(record: dict[str, Any]) -> list[Table]:
    return [Table(**table) for table in record["tables"]]
