"""Mean, sd and quantiles of every column of draws, how many are nan, and of chains how they agree."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ppl import api, html
from ppl.errors import UnknownName
from ppl.floats import Floats
from ppl.kernel.draws.columns import in_columns
from ppl.kernel.draws.names import NO_LABELS, Labels
from ppl.methods.correct.standard_errors import INDEPENDENT, ErrorSources, errors_of
from ppl.methods.diagnose.convergence import agreement, by_columns, mcse_mean, mcse_quantile
from ppl.methods.diagnose.level import Level
from ppl.methods.numerics.quantiles import quantiles
from ppl.records import dataclass, fields, replace
from ppl.results.fits.density import varies
from ppl.results.report.style import USUAL, TableStyle
from ppl.results.report.text_table import TABLE_WIDTH, at_the_point, text_table
from ppl.system.distribution import extra

if TYPE_CHECKING:
    import pandas as pd


MOST_FIGURE_DIGITS = 6
"""Significant digits of a figure at most."""

NO_ERRORS = (math.nan,) * 5
"""The standard errors of what has none."""
MISSING = "nan draws"
"""The column of how many draws are nan, and left out of the others: there where any are."""


BY_QUANTILE = {
    **{"q5": "lower", "q50": "median", "q95": "upper"},
    **{"se_q5": "se_lower", "se_q50": "se_median", "se_q95": "se_upper"},
}
"""The names of the usual quantiles, and of their standard errors."""


def of_usual(own: str, meaning: str) -> Any:
    """A property of rows that have the usual interval, with its docstring."""

    def value(row: "Row") -> float:
        if not row.style.is_usual:
            raise AttributeError(
                "the ends of this interval are `lower` and `upper`, with `se_lower` and `se_upper`"
            )
        return float(getattr(row, own))

    value.__doc__ = f"""The {meaning}.

    Raises:
        AttributeError: the row has another interval.
    """
    return property(value)


@dataclass(frozen=True)
class Row:
    """One column's summary; `missing` draws that are nan were left out of it.

    `lower` and `upper` are the ends of the interval of `style`: usually `q5` and `q95`, the 5% and 95%
    quantiles; `median` is also `q50`. `se` is the standard error of the mean, `se_sd` that of the sd,
    `se_lower`, `se_median` and `se_upper` (`se_q5`, `se_q50`, `se_q95`) those of the quantiles: Monte Carlo
    error, and of a fit the error of the approximation as far as its draws tell. `constant` is whether there
    are several draws and all are the same.
    """

    name: str
    mean: float
    sd: float
    lower: float
    median: float
    upper: float
    se: float
    se_sd: float
    se_lower: float
    se_median: float
    se_upper: float
    missing: int = 0
    constant: bool = False
    style: TableStyle = USUAL

    q5 = of_usual("lower", "5% quantile")
    q50 = of_usual("median", "median")
    q95 = of_usual("upper", "95% quantile")
    se_q5 = of_usual("se_lower", "standard error of the 5% quantile")
    se_q50 = of_usual("se_median", "standard error of the median")
    se_q95 = of_usual("se_upper", "standard error of the 95% quantile")

    def record(self) -> dict[str, Any]:
        """The figures by name, quantiles by theirs: `q5`, or `lower` of another interval."""
        words = {own: name for name, own in BY_QUANTILE.items()} if self.style.is_usual else {}
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "style"}
        return {words.get(name, name): value for name, value in own.items()}

    @property
    def texts(self) -> tuple[str, ...]:
        """The cells of a table, of the digits that are known: of what never varies the value alone."""
        digits = self.style.sig_figs
        if self.constant:
            return (short(self.mean, digits or 3), "", "", "", "", "")
        figures = (
            (self.mean, self.se),
            (self.sd, self.se_sd),
            (self.lower, self.se_lower),
            (self.median, self.se_median),
            (self.upper, self.se_upper),
        )
        mean, *others = (short(x, digits) if digits else known_digits(x, se) for x, se in figures)
        return (mean, short(self.se, digits or 2), *others)


@dataclass(frozen=True, repr=False)
class Summary(api.OthersNames):
    """The rows of a summary table, in the order of the columns or by name; `level` is that of the verdict.

    It is printed with `labels`, and with `transform`, the name of a function of the draws.

    Example:
        >>> fit.summary()["tau"].mean > 0
        True
    """

    rows: tuple[Row, ...]
    level: Level = Level.UNKNOWN
    labels: Labels = NO_LABELS
    style: TableStyle = USUAL
    transform: str = ""

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the columns of figures."""
        return ("mean", "se", "sd", *self.style.headings)

    def label(self, name: str) -> str:
        """A column as it is printed, `exp(u[Hull])`."""
        return f"{self.transform}({self.labels.of(name)})" if self.transform else self.labels.of(name)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Row:
        """The row of one column, `theta.1`, `theta[1]` or `u[Hull]`.

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
        column = in_columns(names, name, self.labels)
        if column not in names:
            raise UnknownName("no column", name, names)
        return names.index(column)

    def only(self, names: Sequence[str]) -> Self:
        """The rows of those columns alone, in that order.

        Raises:
            UnknownName: there is no such column; a KeyError.
        """
        of = {row.name: row for row in self.rows}
        if missing := next((name for name in names if name not in of), None):
            raise UnknownName("no column", missing, of)
        return replace(self, rows=tuple(of[name] for name in names))

    def to_pandas(self) -> "pd.DataFrame":
        """The table as a DataFrame, a row each, in full precision: `mean`, `se`, `sd`, `q5`, `se_q5`, ...

        Raises:
            MissingPackage: pandas is not installed.

        Example:
            >>> bool(fit.summary("mu").to_pandas().loc["mu", "se"] > 0)
            True
        """
        pandas = extra("pandas", "A DataFrame", "pandas")
        rows = [{**row.record(), "name": self.label(row.name)} for row in self.rows]
        return pandas.DataFrame(rows).set_index("name").drop(columns="constant")

    def __repr__(self) -> str:
        return f"<Summary of {len(self)} columns{self.level.of_poor}: {', '.join(self.headings)}>"

    def _repr_html_(self) -> str:
        return as_html(self) + "".join(map(html.paragraph, self.level.caution))

    def __str__(self) -> str:
        return "\n".join([*as_text(self), *self.level.caution])


def transformed(rows: Floats, transform: Callable[[Floats], Floats] | None) -> tuple[Floats, str]:
    """Draws under a function, and its name for a table."""
    if transform is None:
        return rows, ""
    with np.errstate(all="ignore"):
        return transform(rows), name_of(transform)


def name_of(transform: Callable[[Floats], Floats]) -> str:
    """The name of its results; a lambda has no name."""
    name = getattr(transform, "__name__", "")
    return name if name.isidentifier() else "transformed"


def summarise(
    columns: Sequence[str], rows: Floats, by: ErrorSources = INDEPENDENT, style: TableStyle = USUAL
) -> Summary:
    """Summary of draws of shape (draws, columns); sd has divisor n - 1, quantiles interpolate linearly.

    Standard errors are those of draws with error sources `by`.
    """
    with np.errstate(all="ignore"):  # an overflow shows as inf in its cell
        own = tuple(_row(name, rows[:, k], by, style) for k, name in enumerate(columns))
    return Summary(own, style=style)


def _row(name: str, draws: Floats, by: ErrorSources, style: TableStyle) -> Row:
    finite = ~np.isnan(draws)
    present = draws[finite]
    missing = len(draws) - len(present)
    if not len(present):
        return Row(name, *(math.nan,) * 5, *NO_ERRORS, missing=missing, style=style)
    probabilities = style.probabilities(present)
    low, middle, high = quantiles(present, probabilities).tolist()
    if (
        len(present) > 1 and np.isfinite(present).all() and not varies(present)
    ):  # a mean would be off by rounding
        own = (float(present[0]), 0.0, low, middle, high)
        return Row(name, *own, *NO_ERRORS, missing=missing, constant=True, style=style)
    sd = float(np.std(present, ddof=1)) if len(present) > 1 else math.nan
    known = by.at(finite) if missing else by
    se, se_sd, (se_low, se_middle, se_high) = errors_of(present, probabilities, known)
    own, se_quantiles = (float(np.mean(present)), sd, low, middle, high), (se_low, se_middle, se_high)
    return Row(name, *own, se, se_sd, *se_quantiles, missing=missing, style=style)


def as_text(
    summary: Summary, width: int = TABLE_WIDTH, limit: int | None = None, rest: str = ""
) -> Iterator[str]:
    """The lines of a table of at most `limit` rows; the last counts those left out and ends with `rest`.

    Of a column that never varies, as after a search for the mode, the value alone is shown.
    """
    point = len(summary) > 0 and all(row.constant for row in summary)
    missing = any(row.missing for row in summary)
    headings = ("value",) if point else summary.headings
    first = summary.rows[:limit]
    figures = at_the_point([row.texts[: len(headings)] for row in first])
    names = [summary.label(row.name) for row in first]
    rows = [
        (name, *texts, *(str(row.missing),) * missing)
        for name, row, texts in zip(names, first, figures, strict=True)
    ]
    yield from text_table(("", *headings, *(MISSING,) * missing), rows, width)
    if limit is not None and len(summary) > limit:
        yield f"… and {len(summary) - limit} more{rest}"


def as_html(summary: Summary, limit: int = 20) -> str:
    """An HTML table of at most `limit` rows, for notebooks."""
    missing = any(row.missing for row in summary)
    rows = [
        (summary.label(row.name), *row.texts, *(str(row.missing),) * missing) for row in summary.rows[:limit]
    ]
    rest = html.paragraph(f"… and {len(summary) - limit} more") if len(summary) > limit else ""
    return html.table(("", *summary.headings, *(MISSING,) * missing), rows) + rest


def short(value: float, digits: int = 3) -> str:
    """So many significant digits, and never an exponent where a plain number is as short."""
    if not np.isfinite(value) or value == 0:
        return f"{value:g}"
    size = np.floor(np.log10(abs(value)))
    if size > 5 or size < -4:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, int(digits - 1 - size))}f}"


def known_digits(value: float, se: float) -> str:
    """A figure to the digit that two standard errors change by about one: `4.4`, not `4.39`, of 4.39 ± 0.05.

    Three digits where the standard error is not known; see `short`.
    """
    if not (np.isfinite(value) and np.isfinite(se) and se > 0):
        return short(value)
    place = round(math.log10(2 * se))
    rounded = round(value, -place)
    if rounded == 0:
        return f"{0:.{max(0, -place)}f}" if place > -MOST_FIGURE_DIGITS else "0"
    size = math.floor(math.log10(abs(rounded)))
    return short(rounded, min(max(1, size - place + 1), MOST_FIGURE_DIGITS))


# --- Chains ---


@dataclass(frozen=True, kw_only=True)
class ChainRow(Row):
    """One column's summary over all chains, with how they agree. Vehtari et al. (2021).

    Standard errors are those of Monte Carlo, ArviZ's `mcse_mean` and so on.
    """

    ess_bulk: float
    ess_tail: float
    r_hat: float

    @property
    def texts(self) -> tuple[str, ...]:
        """The figures as a table shows them: of what never varies the value alone."""
        of_chains = (short(self.ess_bulk), short(self.ess_tail), f"{self.r_hat:.3f}")
        return (*super().texts, *("" if self.constant else text for text in of_chains))


@dataclass(frozen=True, repr=False)
class ChainSummary(Summary):
    """The rows of a summary table of chains, in the order of the columns or by name."""

    rows: tuple[ChainRow, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the columns of figures."""
        return ("mean", "mcse_mean", "sd", *self.style.headings, "ESS_bulk", "ESS_tail", "R_hat")

    def __iter__(self) -> Iterator[ChainRow]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> ChainRow:
        return self.rows[self.place(name)]


def summary_of_chains(columns: Sequence[str], draws: Floats, style: TableStyle = USUAL) -> ChainSummary:
    """The summary of draws (chains, draws, columns)."""
    pooled = summarise(columns, draws.reshape(-1, len(columns)), style=style)
    figures = zip(pooled, by_columns(mcse_mean, draws), by_columns(agreement, draws), strict=True)
    rows = (_chain_row(row, draws[:, :, k], *own) for k, (row, *own) in enumerate(figures))
    return ChainSummary(tuple(rows), style=style)


def _chain_row(row: Row, draws: Floats, se: Floats, agreed: Floats) -> ChainRow:
    pooled = draws[~np.isnan(draws)]
    of_quantiles = (float(mcse_quantile(draws, p)) for p in row.style.probabilities(pooled))
    of_sd = float(mcse_mean((draws - row.mean) ** 2)) / (2 * row.sd) if row.sd else math.nan
    names = ("se", "se_sd", "se_lower", "se_median", "se_upper", "ess_bulk", "ess_tail", "r_hat")
    errors = (float(se), of_sd, *of_quantiles, *agreed.tolist())
    return ChainRow(**vars(row) | dict(zip(names, errors, strict=True)))
