"""Look, panels and files of pictures. Matplotlib is imported when a picture is drawn.

Every picture comes wide, for a page or a file, and narrow, for a telephone: the same content in as many rows
as it needs, with type of the same size.
"""

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from io import StringIO
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ppl.errors import ArgumentError, MissingPackage
from ppl.files import replacing
from ppl.records import dataclass
from ppl.results.report.style import USUAL, TableStyle
from ppl.system.distribution import requirements

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Panels: TypeAlias = "list[Axes]"
"""The axes of a picture, row by row."""
FITTED, OTHER, GREY = "#1f5a8a", "#c8553d", "#8a8f98"
COLOURS = (FITTED, OTHER, "#4c8c4a", "#8d6bb0", "#b8860b", "#5b6770")
"""Colours of several runs, one after the other."""


@dataclass(frozen=True)
class PictureSizes:
    """The widths of pictures in inches."""

    wide: float = 10.5
    """1280 pixels less the margins, at 96 pixels an inch."""

    narrow: float = 4.0
    """390 pixels less the margins."""

    decade: float = 10.0
    """A log axis over a smaller ratio has ticks as a linear one has."""


PICTURE_SIZES = PictureSizes()
SUFFIXES = (".png", ".svg", ".pdf")
PATH, LONG = re.compile(r'\bd="[^"]*"'), re.compile(r"-?\d+\.\d{3,}")
STYLE = str(files(__package__).joinpath("pictures.mplstyle"))


@dataclass(frozen=True, eq=False)
class Look:
    """How a picture is drawn: wide or narrow, its title, a log axis of values, a reference line at a value.

    `values` is the axis of values, "x" or "y". `style` is that of intervals. `axes` are the user's own, for a
    picture of one panel. A figure that is `managed` is one of pyplot, which notebooks show.
    """

    wide: bool = True
    title: str = ""
    log: bool = False
    line: float | None = None
    values: str = "x"
    axes: Any = None
    managed: bool = False
    style: TableStyle = USUAL


WIDE_LOOK, NARROW_LOOK = Look(), Look(wide=False)


@contextmanager
def styled() -> Iterator[None]:
    """The style of pictures, whatever the user's own is.

    Raises:
        MissingPackage: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise MissingPackage("A picture", "matplotlib", *requirements("plot")) from None
    with matplotlib.rc_context(fname=STYLE):
        yield


# --- Panels --------------------------------------------------------------------------------------


def panels(look: Look, n: int, across: int, height: float, width: float | None = None) -> list["Axes"]:
    """`n` panels in rows of `across`, `height` inches each, with the log axis and the line of the look.

    Raises:
        ArgumentError: the user's axes are to hold several panels.
    """
    if look.axes is not None and n > 1:
        raise ArgumentError(f"ax cannot hold a picture of {n} panels; leave it out")
    rows = ceil(n / across)
    figure = (
        None
        if look.axes
        else blank(look, width or (PICTURE_SIZES.wide if look.wide else PICTURE_SIZES.narrow), rows * height)
    )
    each = [figure.add_subplot(rows, across, k + 1) for k in range(n)] if figure else [look.axes]
    for axes in each:
        if look.log:
            axes.set(**{f"{look.values}scale": "log"})
        if look.line is not None:
            draw_line = axes.axvline if look.values == "x" else axes.axhline
            draw_line(look.line, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    return each


def blank(look: Look, width: float, height: float) -> "Figure":
    """An empty figure, `width` times `height` inches."""
    if look.managed:
        from matplotlib import pyplot

        return pyplot.figure(figsize=(width, height))
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def finish(each: Panels, look: Look) -> None:
    """The title of the whole, and ticks of log axes as numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    figure = each[0].figure
    if look.title and len(figure.axes) == 1:
        each[0].set_title(look.title)
    elif look.title:
        figure.suptitle(look.title, x=0.01, ha="left", fontsize=10)
    for axes in each if look.log else ():
        axis = getattr(axes, f"{look.values}axis")
        low, high = axis.get_view_interval()
        narrow = high / low < PICTURE_SIZES.decade
        axis.set_major_locator(
            MaxNLocator(5, steps=[1, 2, 5, 10]) if narrow else LogLocator(subs=(1, 2, 5), numticks=6)
        )
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    for axes in each:
        fit_texts(axes, *figure_of(each).get_size_inches())


EMS_A_SIGN = 0.62
"""The width of a sign, in sizes of its font."""
SHARE_OF_TITLE, SHARE_OF_LABEL = 0.92, 0.62
"""The shares of a panel's width, or height, that a title and the label of an axis have."""


def fit_texts(axes: "Axes", width: float, height: float) -> None:
    """Shorten names, and wrap sentences, that are wider than their panel of a figure of these inches."""
    if (spec := axes.get_subplotspec()) is None:
        return
    rows, columns = spec.get_gridspec().get_geometry()
    title = axes.set_title(axes.get_title(loc="left"), loc="left", fontsize=axes.title.get_fontsize())
    for text, share in ((title, SHARE_OF_TITLE), (axes.xaxis.label, SHARE_OF_LABEL)):
        text.set_text(fitted(text, share * width / columns))
    axes.yaxis.label.set_text(fitted(axes.yaxis.label, SHARE_OF_LABEL * height / rows))


def fitted(text: "Text", inches: float) -> str:
    """The words of a text, in lines that fit; a name that does not fit without its middle."""
    words, most = text.get_text(), max(8, int(inches * 72 / (EMS_A_SIGN * float(text.get_fontsize()))))
    if len(words) <= most:
        return words
    if " " in words:
        return textwrap.fill(words, most, break_long_words=False)
    return f"{words[: most // 2]}…{words[len(words) - (most - most // 2 - 1) :]}"


def without_heights(axes: "Axes", **texts: Any) -> None:
    """Axes of which the form of a density matters, not its height."""
    axes.set(yticks=[], **texts)
    axes.spines["left"].set_visible(False)


def legend(each: Panels) -> None:
    """Above the panels, where it hides nothing; of many entries in the narrow picture in several rows."""
    axes, figure = each[0], figure_of(each)
    handles, labels = axes.get_legend_handles_labels()
    style = {"fontsize": 7, "handlelength": 1, "borderpad": 0}
    columns = 3 if figure.get_figwidth() < PICTURE_SIZES.wide / 2 else len(labels) or 1
    if len(each) > 1:
        figure.legend(handles, labels, loc="outside upper right", ncols=columns, **style)
    elif labels:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2, ncols=columns, **style)


def around(each: Panels, x: str, y: str) -> None:
    """Label the axes of all panels."""
    if len(each) == 1:
        each[0].set(xlabel=x, ylabel=y)
        return
    for axes in each:
        axes.set(xlabel="", ylabel="")
    each[0].figure.supxlabel(x, fontsize=8)
    each[0].figure.supylabel(y, fontsize=8)


def figure_of(each: Panels) -> "Figure":
    """The figure that panels are of."""
    return cast("Figure", each[0].figure)


# --- Files ---------------------------------------------------------------------------------------


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
    with styled():
        figure.savefig(where, **options)
