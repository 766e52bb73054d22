"""Values by name, as they were given, and where each is from."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ppl.errors import DataError
from ppl.printable import printable
from ppl.records import dataclass, field


@dataclass(frozen=True)
class Rows:
    """How many rows a column has, and at which lines of its file, where it is from one."""

    count: int
    lines: Sequence[int] = field(default=(), repr=False)


@dataclass(frozen=True)
class Inputs:
    """Values by name as they were given, unchecked; `label` says where from: the file, or "data".

    `files` are the variables that have a file of their own, by name; `columns` those that are a column of a
    table. `levels` are those that an earlier fit has given codes, by variable; None of a first fit.
    """

    values: Mapping[str, Any]
    label: str
    files: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Rows] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] | None = None

    def label_of(self, name: str) -> str:
        """Where a variable is from."""
        return self.files.get(name, self.label)

    def place_of(self, name: str, index: int | None) -> str:
        """Where the element at an index of a variable is from: the file, and of a column the line too."""
        rows = self.columns.get(name)
        if rows is None or index is None or not len(rows.lines):
            return self.label_of(name)
        return f"{self.label_of(name)}:{rows.lines[index]}"


def unknown_names(inputs: Inputs, known: Collection[str]) -> list[str]:
    """Names in the data that the program does not declare; they are allowed, and ignored."""
    return [printable(name) for name in inputs.values if name not in known]


def merged(parts: Sequence[Inputs]) -> Inputs:
    """Several inputs as one.

    Raises:
        DataError: a variable is in two of them; names both.
    """
    if len(parts) == 1:
        return parts[0]
    files: dict[str, str] = {}
    for part in parts:
        for name in part.values:
            if name in files:
                here = part.label_of(name)
                raise DataError(f"{here}: `{name}` is in {files[name]} too; give it once", name, "PPL905")
            files[name] = part.label_of(name)
    values = {name: value for part in parts for name, value in part.values.items()}
    columns = {name: rows for part in parts for name, rows in part.columns.items()}
    return Inputs(values, " and ".join(part.label for part in parts) or "data", files, columns)
