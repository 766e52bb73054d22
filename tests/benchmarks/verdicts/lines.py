"""A file with one line of JSON a fit, which a run that is cut off leaves usable."""

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Key = tuple[str, str, int]


def key(record: Record) -> Key:
    return record["group"], record["name"], record["seed"]


def mend(path: Path) -> None:
    """Cut off what follows the last end of line: a record that was being written."""
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)


def read(path: Path) -> list[Record]:
    """The whole lines of a file; none where there is no file."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
