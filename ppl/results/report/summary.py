"""Mean, sd and quantiles of every column of draws, and how many draws of it are nan."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ppl import html
from ppl.errors import UnknownName
from ppl.results.files.columns import Floats, in_columns
from ppl.results.files.tables import text_table


@dataclass(frozen=True)
class SummarySettings:
    """What a summary shows."""

    quantiles: tuple[float, ...] = (0.05, 0.5, 0.95)
    """Quantiles of each column."""

    width: int = 100
    """Columns of the text, where the terminal does not say."""


SUMMARY = SummarySettings()

HEADINGS = ("mean", "sd", "5%", "50%", "95%")
MISSING = "nan draws"
"""The column of how many draws are nan, and left out of the others: there where any are."""


@dataclass(frozen=True)
class Row:
    """One column's summary; `missing` draws that are nan were left out of it.

    `constant` is whether there are several draws and all are the same.
    """

    name: str
    mean: float
    sd: float
    q5: float
    q50: float
    q95: float
    missing: int = 0
    constant: bool = False

    @property
    def figures(self) -> tuple[float, ...]:
        """Mean, sd, 5%, 50% and 95%."""
        return (self.mean, self.sd, self.q5, self.q50, self.q95)

    @property
    def texts(self) -> tuple[str, ...]:
        """The figures as a table shows them: of what never varies the value alone."""
        first, *others = map(short, self.figures)
        return (first, *("" if self.constant else other for other in others))


@dataclass(frozen=True, repr=False)
class Summary:
    """The rows of a summary table, in the order of the columns or by name.

    Example:
        >>> fit.summary()["tau"].mean > 0
        True
    """

    rows: tuple[Row, ...]
    headings: tuple[str, ...] = HEADINGS

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Row:
        """The row of one column, `theta.1` or `theta[1]`.

        Raises:
            UnknownName: there is no such column; a KeyError.
        """
        return self.rows[self.place(name)]

    def place(self, name: str) -> int:
        """Where the row of a column stands, from 0.

        Raises:
            UnknownName: there is no such column; a KeyError.
        """
        names = [row.name for row in self.rows]
        found = in_columns(names, name)
        if found not in names:
            raise UnknownName("no column", name, names)
        return names.index(found)

    def only(self, names: Sequence[str]) -> Self:
        """The rows of those columns alone, in that order."""
        of = {row.name: row for row in self.rows}
        return replace(self, rows=tuple(of[name] for name in names))

    def __repr__(self) -> str:
        return f"<Summary of {len(self)} columns: {', '.join(self.headings)}>"

    def _repr_html_(self) -> str:
        return as_html(self)

    def __str__(self) -> str:
        return "\n".join(as_text(self))


def summarise(columns: Sequence[str], rows: Floats) -> Summary:
    """Summary of draws of shape (draws, columns); sd has divisor n - 1, quantiles interpolate linearly."""
    with np.errstate(all="ignore"):  # an overflow shows as inf in its cell
        return Summary(tuple(_row(name, rows[:, k]) for k, name in enumerate(columns)))


def _row(name: str, draws: Floats) -> Row:
    kept = draws[~np.isnan(draws)]
    missing = len(draws) - len(kept)
    if not len(kept):
        return Row(name, math.nan, math.nan, math.nan, math.nan, math.nan, missing)
    q5, q50, q95 = np.quantile(kept, SUMMARY.quantiles).tolist()
    if len(kept) > 1 and np.ptp(kept) == 0:  # their mean and sd would be off by rounding
        return Row(name, float(kept[0]), 0.0, q5, q50, q95, missing, constant=True)
    sd = float(np.std(kept, ddof=1)) if len(kept) > 1 else math.nan
    return Row(name, float(np.mean(kept)), sd, q5, q50, q95, missing)


def as_text(
    summary: Summary, width: int = SUMMARY.width, limit: int | None = None, rest: str = ""
) -> Iterator[str]:
    """The lines of a table of at most `limit` rows; the last counts those left out and ends with `rest`.

    Of a column that never varies, as after a search for the mode, the value alone is shown.
    """
    point = len(summary) > 0 and all(row.constant for row in summary)
    missing = any(row.missing for row in summary)
    headings = ("value",) if point else summary.headings
    tail = (MISSING,) * missing
    rows = [
        (row.name, *row.texts[: len(headings)], *(str(row.missing),) * missing)
        for row in summary.rows[:limit]
    ]
    yield from text_table(("", *headings, *tail), rows, width)
    if limit is not None and len(summary) > limit:
        yield f"… and {len(summary) - limit} more{rest}"


def as_html(summary: Summary, limit: int = 20) -> str:
    """An HTML table of at most `limit` rows, for notebooks."""
    missing = any(row.missing for row in summary)
    tail = [MISSING] * missing
    rows = [(row.name, *row.texts, *[str(row.missing)] * missing) for row in summary.rows[:limit]]
    rest = html.paragraph(f"… and {len(summary) - limit} more") if len(summary) > limit else ""
    return html.table(("", *summary.headings, *tail), rows) + rest


def short(value: float, digits: int = 3) -> str:
    """So many significant digits, and never an exponent where a plain number is as short."""
    if not np.isfinite(value) or value == 0:
        return f"{value:g}"
    size = np.floor(np.log10(abs(value)))
    if size > 5 or size < -4:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, int(digits - 1 - size))}f}"
