"""The pictures of a fit, each from plain arrays; the only file that imports matplotlib, and only to draw.

Every picture comes wide, for a page or a file, and narrow, for a telephone: the same content in as many rows
as it needs, with type of the same size.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.resources import files
from io import StringIO
from itertools import cycle
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from ppl.errors import MissingPackage
from ppl.files import replacing
from ppl.kernel.draws.columns import Floats, variables
from ppl.results.fits.density import density, is_discrete, masses, varies
from ppl.system.distribution import requirements

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FITTED, OTHER, GREY = "#1f5a8a", "#c8553d", "#8a8f98"
RUNS = (FITTED, OTHER, "#4c8c4a", "#8d6bb0", "#b8860b", "#5b6770")
"""Colours of several runs, one after the other."""


@dataclass(frozen=True)
class PlotSizes:
    """The sizes of the pictures, and how much they show."""

    wide: float = 10.5
    """The width of a wide picture in inches: 1280 pixels less the margins, at 96 pixels an inch."""

    narrow: float = 4.0
    """That of a narrow one: 390 pixels less the margins."""

    few_observations: int = 60
    """Observations up to which each is drawn."""

    replications: int = 40
    """Replicated data sets that are drawn."""


PLOT = PlotSizes()


STATISTICS: Mapping[str, Callable[..., Any]] = {
    "mean": np.mean,
    "sd": np.std,
    "least": np.min,
    "greatest": np.max,
}
"""What a predictive check compares of the data and of each replication."""

SUFFIXES = (".png", ".svg", ".pdf")
PATH, LONG = re.compile(r'\bd="[^"]*"'), re.compile(r"-?\d+\.\d{3,}")

STYLE = str(files(__package__).joinpath("pictures.mplstyle"))


@dataclass(frozen=True, eq=False)
class Draws:
    """Named columns of draws (draws, columns)."""

    columns: tuple[str, ...]
    rows: Floats

    def column(self, name: str) -> Floats:
        """The finite draws of one column."""
        values = self.rows[:, self.columns.index(name)]
        return values[np.isfinite(values)]

    def first(self, n: int) -> "Draws":
        return Draws(self.columns[:n], self.rows[:, :n])


P = ParamSpec("P")


def styled(draw: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """A picture drawn in the style above, whatever the user's own is."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        try:
            import matplotlib
        except ImportError:
            raise MissingPackage("A picture", "matplotlib", *requirements("plot")) from None
        with matplotlib.rc_context(fname=STYLE):
            return draw(*args, **kwargs)

    return drawn


# --- Pictures ------------------------------------------------------------------------------------


@styled
def elbo(trace: Floats, ending: str, wide: bool = True) -> "Figure":
    """The ELBO (evaluations, 2: iteration, nats) with the place where the run stopped."""
    figure, (axes,) = panels(1, 1, wide, height=3.2 if wide else 2.8)
    iterations, values = trace.T
    axes.plot(iterations, values, color=FITTED, marker="o", markersize=2.5, linewidth=1)
    late = values[len(values) // 4 :]
    spread = max(float(np.ptp(late)), 1.0)
    lowest = float(late.min()) - 0.25 * spread
    axes.set_ylim(min(lowest, values[-1] - 0.25 * spread), float(values.max()) + 0.25 * spread)
    below = values < lowest
    if below.any():
        axes.plot(iterations[below], np.full(below.sum(), axes.get_ylim()[0]), "v", color=GREY, clip_on=False)
    axes.axvline(iterations[-1], color=OTHER, linewidth=1, linestyle="--")
    axes.annotate(
        f"{ending} at {iterations[-1]:g}",
        (iterations[-1], 0.04),
        xycoords=("data", "axes fraction"),
        xytext=(-5, 0),
        textcoords="offset points",
        ha="right",
        color=OTHER,
    )
    axes.set(xlabel="iteration", ylabel="ELBO (nats)", title="ELBO by iteration")
    return figure


@styled
def marginals(draws: Draws, reference: Draws | None, wide: bool = True) -> "Figure":
    """The marginal density of each column, with the reference's where it has that column."""
    figure, all_axes = panels(len(draws.columns), 4 if wide else 2, wide, height=1.75)
    for name, axes in zip(draws.columns, all_axes, strict=False):
        marginal(axes, draws.column(name), FITTED, "fit", filled=True)
        interval(axes, draws.column(name), FITTED, 0.04)
        if reference and name in reference.columns:
            marginal(axes, reference.column(name), OTHER, "reference", filled=False)
            interval(axes, reference.column(name), OTHER, 0.14)
        without_heights(axes, title=name, ylim=(0, None))
        axes.locator_params(axis="x", nbins=4)
    if reference and all_axes[0].get_legend_handles_labels()[0]:
        legend(all_axes[0])
    heights = {"probability" if is_discrete(draws.column(name)) else "density" for name in draws.columns}
    around(figure, "value (bar: 90% interval, dot: mean)", " or ".join(sorted(heights)))
    return figure


@styled
def forest(draws: Draws, wide: bool = True) -> "Figure":
    """Mean, 50% and 90% interval of each column on one axis, the first on top."""
    n = len(draws.columns)
    figure, (axes,) = panels(1, 1, wide, height=0.9 + 0.21 * n, width=7.0 if wide else PLOT.narrow)
    finite = [draws.column(name) for name in draws.columns]
    low, lower, upper, high = np.array([np.quantile(x, (0.05, 0.25, 0.75, 0.95)) for x in finite]).T
    at = np.arange(n)
    axes.hlines(at, low, high, color=FITTED, alpha=0.45, linewidth=1.5)
    axes.hlines(at, lower, upper, color=FITTED, linewidth=3.5)
    axes.plot([x.mean() for x in finite], at, "o", color="white", markeredgecolor=FITTED, markersize=4)
    if low.min() < 0 < high.max():
        axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    axes.set_yticks(at, draws.columns, fontsize=7)
    axes.set(ylim=(n - 0.5, -0.5), xlabel="value (bars: 50% and 90% intervals, dot: mean)", ylabel="column")
    axes.tick_params(axis="y", length=0)
    return figure


@styled
def trace(runs: Sequence[Draws], labels: Sequence[str], wide: bool = True) -> "Figure":
    """Each column's draws in the order of their files, the runs one over the other."""
    columns = runs[0].columns
    figure, all_axes = panels(len(columns), 2 if wide else 1, wide, height=1.5)
    for k, (name, axes) in enumerate(zip(columns, all_axes, strict=True)):
        for run, label, colour in zip(runs, labels, cycle(RUNS), strict=False):
            values = np.where(np.isfinite(run.rows[:, k]), run.rows[:, k], np.nan)
            axes.plot(np.arange(1, len(values) + 1), values, color=colour, linewidth=0.5, label=label)
        axes.set(title=name, xlim=(1, max(2, *(len(run.rows) for run in runs))))
        axes.locator_params(axis="y", nbins=4)
    if len(runs) > 1:
        legend(all_axes[0])
    around(figure, "draw", "value")
    return figure


@styled
def pairs(draws: Draws, labels: Sequence[str], log_ratios: Floats | None, wide: bool = True) -> "Figure":
    """Each column against each other, a draw the darker the more importance it should have had.

    Draws are shaded by the rank of their importance ratio, so that a few large ones do not hide the rest, and
    the darkest lie on top.
    """
    columns = len(draws.columns)
    side = min(PLOT.wide, 1.9 * columns) if wide else PLOT.narrow
    figure = blank(side, side)
    grid = figure.subplots(columns, columns, squeeze=False)
    order = np.arange(len(draws.rows)) if log_ratios is None else np.argsort(log_ratios)
    shade: Any = {"c": GREY} if log_ratios is None else {"c": np.arange(len(order)), "cmap": "viridis_r"}
    for i, row in enumerate(draws.columns):
        for j, column in enumerate(draws.columns):
            axes = grid[i, j]
            if i == j:
                marginal(axes, draws.column(row), FITTED, "", filled=True)
                axes.set_title(labels[i], fontsize=8)
                axes.set_yticks([])
            elif j < i:
                x, y = draws.rows[order, j], draws.rows[order, i]
                axes.scatter(x, y, s=5, linewidths=0, rasterized=True, **shade)
            else:
                axes.set_axis_off()
            axes.locator_params(nbins=3)
            axes.tick_params(labelsize=7, labelbottom=i == columns - 1, labelleft=j == 0 and i > 0)
            if i == columns - 1:
                axes.set_xlabel(column)
            if j == 0 and i > 0:
                axes.set_ylabel(row)
    return figure


@styled
def covariance(draws: Draws, wide: bool = True) -> "Figure":
    """The covariance of the draws with every column at unit variance, as a heat map."""
    figure, (axes,) = panels(1, 1, wide, height=4.6 if wide else 3.6, width=6.0 if wide else PLOT.narrow)
    with np.errstate(all="ignore"):
        matrix = np.ma.masked_invalid(np.corrcoef(draws.rows, rowvar=False).reshape(len(draws.columns), -1))
    image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r", interpolation="nearest")
    bar = figure.colorbar(image, ax=axes, shrink=0.8, ticks=[-1, 0, 1])
    bar.outline.set_visible(False)
    bar.set_label("correlation")
    ticks = labelled(draws.columns, 30 if wide else 22)
    axes.set_xticks(ticks, [draws.columns[k] for k in ticks], rotation=90, fontsize=7)
    axes.set_yticks(ticks, [draws.columns[k] for k in ticks], fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("Covariance, scaled to unit variances")
    return figure


@styled
def predictive(y: Floats, y_rep: Floats, wide: bool = True, name: str = "y") -> "Figure":
    """Replicated data (draws, n) against the data (n,): intervals of few observations, densities of many."""
    figure, (axes,) = panels(1, 1, wide, height=3.2 if wide else 2.8)
    if y.size <= PLOT.few_observations:
        intervals(axes, y, y_rep, name)
    else:
        overlay(axes, y, y_rep, name)
    legend(axes)
    return figure


@styled
def ppc(y: Floats, y_rep: Floats, wide: bool = True, name: str = "y") -> "Figure":
    """A posterior predictive check: the distribution of the data (n,) over those of replications (draws, n).

    Beside it some statistics of each replication, with the data's as a line, and in how many replications it
    is at least as large (Gelman et al., BDA3, section 6.3).
    """
    figure, (first, *others) = panels(1 + len(STATISTICS), 3 if wide else 2, wide, height=2.2)
    overlay(first, y, y_rep, name)
    legend(first)
    for (statistic, of), axes in zip(STATISTICS.items(), others, strict=True):
        values, observed = of(y_rep, axis=1), float(of(y, axis=0))
        finite = values[np.isfinite(values)]
        marginal(axes, finite, FITTED, f"{name}_rep", filled=True)
        axes.axvline(observed, color=OTHER, linewidth=2)
        share = (finite >= observed).sum() / max(len(finite), 1)
        without_heights(
            axes, title=f"{statistic}: P({name}_rep ≥ {name}) = {share:.2f}", ylim=(0, None), xlabel=statistic
        )
        axes.locator_params(axis="x", nbins=4)
    return figure


@styled
def statistic(label: str, observed: float, values: Floats) -> "Figure":
    """The distribution of a statistic over replications, rows or draws (n,), and the observed value."""
    figure, (axes,) = panels(1, 1, False, height=2.4, width=6.5)
    finite = values[np.isfinite(values)]
    axes.hist(finite, bins="auto" if varies(finite) else 1, color=FITTED, alpha=0.45)
    axes.axvline(observed, color=OTHER, linewidth=2)
    without_heights(axes, xlabel=label)
    return figure


# --- Parts of pictures ---------------------------------------------------------------------------


@styled
def rank_histograms(ranks: NDArray[Any], columns: Sequence[str], draws: int) -> "Figure":
    """The ranks (simulations, columns) of each column; grey: where 99% of the bars of uniform ranks lie."""
    from scipy.stats import binom

    n = len(ranks)
    bins = max(2, min(20, n // 5, draws + 1))
    edges = np.linspace(-0.5, draws + 0.5, bins + 1)
    inside = np.diff(np.floor(edges + 0.5)) / (draws + 1)
    low, high = binom.ppf(0.005, n, inside), binom.ppf(0.995, n, inside)
    figure, grid = panels(len(columns), 4, True, height=1.7)
    for k, axes in enumerate(grid):
        axes.fill_between(
            edges, np.append(low, low[-1]), np.append(high, high[-1]), step="post", color=GREY, alpha=0.3
        )
        axes.hist(ranks[:, k], bins=edges.tolist(), color=FITTED, alpha=0.8)
        axes.set(title=columns[k], xlim=(edges[0], edges[-1]))
    around(figure, f"rank among {draws} draws", "simulations")
    return figure


def without_heights(axes: "Axes", **texts: Any) -> None:
    """Axes of which the form of a density matters, not its height."""
    axes.set(yticks=[], **texts)
    axes.spines["left"].set_visible(False)


def legend(axes: "Axes") -> None:
    """Above the axes, where it hides nothing."""
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0.98), ncols=3, fontsize=7, handlelength=1, borderpad=0)


def around(figure: "Figure", x: str, y: str) -> None:
    """What the axes of all panels are."""
    figure.supxlabel(x, fontsize=8)
    figure.supylabel(y, fontsize=8)


def interval(axes: "Axes", values: Floats, colour: str, height: float) -> None:
    """The 90% interval and the mean of draws, at a height that is a share of the panel's."""
    if not len(values):
        return
    low, high = np.quantile(values, (0.05, 0.95))
    across = axes.get_xaxis_transform()
    axes.plot([low, high], [height] * 2, color=colour, linewidth=3, solid_capstyle="butt", transform=across)
    mean = float(values.mean())
    axes.plot(mean, height, "o", color="white", markeredgecolor=colour, markersize=4.5, transform=across)


def marginal(axes: "Axes", values: Floats, colour: str, label: str, filled: bool) -> None:
    """The density of draws, or the shares of whole numbers; nothing of a column that never varies."""
    if not varies(values):
        return
    if is_discrete(values):
        at, mass = masses(values)
        axes.vlines(at + 0.1 * (not filled), 0, mass, color=colour, linewidth=2, label=label)
        return
    x, height = density(values)
    axes.plot(x, height, color=colour, linewidth=1.2, label=label)
    if filled:
        axes.fill([x[0], *x, x[-1]], [0, *height, 0], color=colour, alpha=0.18, linewidth=0)


def intervals(axes: "Axes", y: Floats, y_rep: Floats, name: str) -> None:
    """90% and 50% intervals of each replicated observation, in the data's order."""
    at = np.arange(1, y.size + 1)
    low, lower, middle, upper, high = np.nanquantile(y_rep, (0.05, 0.25, 0.5, 0.75, 0.95), axis=0)
    axes.vlines(at, low, high, color=FITTED, alpha=0.45, linewidth=1.5, label=f"{name}_rep, 90%")
    axes.vlines(at, lower, upper, color=FITTED, linewidth=3.5, label=f"{name}_rep, 50%")
    axes.plot(at, middle, "o", color="white", markeredgecolor=FITTED, markersize=4)
    axes.plot(at, y, "D", color=OTHER, markersize=4, label=name)
    axes.set(xlabel="observation", ylabel=name, title=f"{name}_rep against {name}")
    axes.locator_params(axis="x", integer=True)


def overlay(axes: "Axes", y: Floats, y_rep: Floats, name: str) -> None:
    """The density of the data over those of some replications."""
    step = max(1, len(y_rep) // PLOT.replications)
    for k, replication in enumerate(y_rep[::step]):
        finite = replication[np.isfinite(replication)]
        line(axes, finite, FITTED, 0.6, 0.35, f"{name}_rep" if k == 0 else "")
    line(axes, y, OTHER, 2.0, 1.0, name)
    without_heights(axes, xlabel=name, ylabel="density", title=f"{name}_rep against {name}")


def line(axes: "Axes", values: Floats, colour: str, width: float, alpha: float, label: str) -> None:
    if varies(values):
        x, height = masses(values) if is_discrete(values) else density(values)
        axes.plot(x, height, color=colour, linewidth=width, alpha=alpha, label=label)


def labelled(columns: Sequence[str], most: int) -> list[int]:
    """Positions to label: all of a few, else the first of each variable, else none too close."""
    if len(columns) <= most:
        return list(range(len(columns)))
    gap, labels = ceil(len(columns) / most), list[int]()
    for first, *_ in variables(columns).values():
        if not labels or first - labels[-1] >= gap:
            labels.append(first)
    return labels


# --- Figures and files ---------------------------------------------------------------------------


def panels(
    n: int, across: int, wide: bool, height: float, width: float | None = None
) -> tuple["Figure", list["Axes"]]:
    """A figure of `n` panels in rows of `across`, `height` inches each."""
    rows = ceil(n / across)
    figure = blank(width or (PLOT.wide if wide else PLOT.narrow), rows * height)
    return figure, [figure.add_subplot(rows, across, k + 1) for k in range(n)]


def blank(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def svg(figure: "Figure") -> str:
    """The figure as SVG text, the same bytes every time, its paths to a hundredth of a point."""
    out = StringIO()
    _save(figure, out, format="svg", metadata={"Date": None})
    return PATH.sub(lambda path: LONG.sub(lambda x: f"{float(x[0]):.2f}", path[0]), out.getvalue())


def save(figure: "Figure", path: Path) -> None:
    """Writes the figure as SVG, PDF or PNG, by the suffix of `path`; the same bytes every time."""
    with replacing(path) as part:
        if path.suffix == ".svg":
            part.write(svg(figure).encode())
        elif path.suffix == ".pdf":
            _save(figure, part, format="pdf", metadata={"CreationDate": None})
        else:
            _save(figure, part, format="png", dpi=150)


def _save(figure: "Figure", where: Any, **options: Any) -> None:
    import matplotlib

    with matplotlib.rc_context(fname=STYLE):
        figure.savefig(where, **options)
