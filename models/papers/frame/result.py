"""What an experiment leaves: where its data come from, tables, claims held to the paper, a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns; a column called "paper" holds the paper's figures, None where it has none.

    `formats` gives numbers of a column their format, by its name; the others get three digits.

    Example:
        Table("KL in nats", ("model", "paper", "ours"), [("Gamma(1, 2)", 8.1e-2, 8.06e-2)], {"paper": ".1e"})
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    formats: Mapping[str, str] = field(default_factory=dict)

    def words(self) -> list[list[str]]:
        """The rows as they are printed."""
        return [
            [word(cell, self.formats.get(column, "")) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]


def word(cell: Cell, form: str = "") -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return format(cell, form or (",d" if isinstance(cell, int) else ".3g"))


@dataclass(frozen=True)
class Claim:
    """What the paper says, what came out here, and whether the one bears the other out."""

    says: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Result:
    """What `run(quick, data)` of an experiment returns.

    Attributes:
        data: one sentence that says whether the data are exact, a subset, a stand-in or simulated.
        tables: the paper's figures, ours and a baseline's.
        claims: what the paper claims, held to what came out.
        remarks: sentences on sizes that were cut, and on why a claim is missed.
        figure: the picture.
        numbers: further figures, for the JSON alone.
    """

    data: str
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    remarks: Sequence[str] = ()
    figure: Figure | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
