"""CSV files of draws as CmdStan writes them, so that its readers read ours.

Layout: CmdStan 2.39. Comments on what was run, the header, what the method says below it, the draws. Floats
are written with the fewest digits that read back to the same double.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ppl.floats import Floats
from ppl.late import orjson

Texts = Iterable[str]
"""Lines, each with its newline."""

LEADING = ("lp__", "log_p__", "log_g__")
"""Columns before the variables."""

WIDE_ROW = 50
"""Columns from which on importing a fast writer of numbers is worth it for a thousand rows."""


def cell(value: float) -> str:
    """`3`, `0.1`, `nan`, `inf`, `-inf`: the shortest text of a double."""
    return repr(float(value)).removesuffix(".0")


def line(values: Iterable[float]) -> str:
    """One row of the file."""
    row = list(map(float, values))
    text = orjson.dumps(row).decode() if len(row) >= WIDE_ROW else "null"
    if "null" in text:  # of JSON, for what is not finite
        text = repr(row).replace(", ", ",")
    return f"{text[1:-1]},".replace(".0,", ",")[:-1] + "\n"


def file_lines(
    comments: Texts, head: Texts, rows: Iterable[Iterable[float]], adaptation: Texts = (), closing: Texts = ()
) -> Iterator[str]:
    """The whole file, with the names `head` of the columns."""
    yield from comments
    yield ",".join(head) + "\n"
    yield from adaptation
    yield from map(line, rows)
    yield from closing


def csv_lines(
    comments: Texts, columns: Sequence[str], eta: float, mean: Floats, *draws: Floats
) -> Iterator[str]:
    """The file of method `variational` (`stan::services::experimental::advi`).

    `mean` is the constrained image of the unconstrained mean, the first row. `draws` are log p (draws,),
    log g and the variables (draws, columns).
    """
    rows = (chain((0, p, g), row.tolist()) for p, g, row in zip(*draws, strict=True))
    first = chain((0, 0, 0), mean.tolist())
    return file_lines(comments, (*LEADING, *columns), chain([first], rows), eta_lines(eta))


def eta_lines(eta: float) -> Iterator[str]:
    """The lines that readers expect after the header, with or without a search for the step size."""
    yield "# Stepsize adaptation complete.\n"
    yield f"# eta = {cell(eta)}\n"
