"""Mean, sd and quantiles of every column of draws, and how many draws of it are nan."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ppl.results.columns import Floats

QUANTILES = (0.05, 0.5, 0.95)
HEADINGS = ("mean", "sd", "5%", "50%", "95%")
MISSING = "nan draws"
"""The column of how many draws are nan, and left out of the others: there where any are."""


@dataclass(frozen=True)
class Row:
    """One column's summary; `missing` draws that are nan were left out of it."""

    name: str
    mean: float
    sd: float
    q5: float
    q50: float
    q95: float
    missing: int = 0

    @property
    def figures(self) -> tuple[float, ...]:
        return (self.mean, self.sd, self.q5, self.q50, self.q95)


@dataclass(frozen=True)
class Summary:
    """The rows of a summary table, by position or by name: `fit.summary()["mu"].mean`."""

    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no column {name!r} in the summary")

    def _repr_html_(self) -> str:
        return as_html(self)

    def __str__(self) -> str:
        console = Console(width=100, color_system=None)
        with console.capture() as capture:
            console.print(as_table(self))
        return capture.get().rstrip()


def summarise(columns: Sequence[str], rows: Floats) -> Summary:
    """Summary of draws of shape (draws, columns); sd has divisor n - 1, quantiles interpolate linearly."""
    with np.errstate(all="ignore"):  # an overflow shows as inf in its cell
        return Summary(tuple(_row(name, rows[:, k]) for k, name in enumerate(columns)))


def _row(name: str, draws: Floats) -> Row:
    kept = draws[~np.isnan(draws)]
    missing = len(draws) - len(kept)
    if not len(kept):
        return Row(name, math.nan, math.nan, math.nan, math.nan, math.nan, missing)
    sd = float(np.std(kept, ddof=1)) if len(kept) > 1 else math.nan
    q5, q50, q95 = np.quantile(kept, QUANTILES).tolist()
    return Row(name, float(np.mean(kept)), sd, q5, q50, q95, missing)


def as_table(summary: Summary, limit: int | None = None, rest: str = "") -> Table:
    """A rich table of at most `limit` rows; the caption counts those left out and ends with `rest`."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    missing = any(row.missing for row in summary)
    if missing:
        table.add_column(MISSING, justify="right")
    for row in summary.rows[:limit]:
        table.add_row(row.name, *map(short, row.figures), *([str(row.missing)] if missing else []))
    if limit is not None and len(summary) > limit:
        table.caption = Text(f"… and {len(summary) - limit} more{rest}")
        table.caption_justify = "left"
    return table


def as_html(summary: Summary, limit: int = 20) -> str:
    """An HTML table of at most `limit` rows, for notebooks."""
    missing = any(row.missing for row in summary)
    head = "".join(f"<th>{heading}</th>" for heading in ("", *HEADINGS, *([MISSING] if missing else [])))
    rows = (_html_row(row, missing) for row in summary.rows[:limit])
    rest = f"<p>… and {len(summary) - limit} more</p>" if len(summary) > limit else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{rest}"


def _html_row(row: Row, missing: bool) -> str:
    figures = [*map(short, row.figures), *([str(row.missing)] if missing else [])]
    return f"<tr><th>{escape(row.name)}</th>{''.join(f'<td>{figure}</td>' for figure in figures)}</tr>"


def short(value: float, digits: int = 3) -> str:
    """So many significant digits, and never an exponent where a plain number is as short."""
    if not np.isfinite(value) or value == 0:
        return f"{value:g}"
    size = np.floor(np.log10(abs(value)))
    if size > 5 or size < -4:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, int(digits - 1 - size))}f}"
