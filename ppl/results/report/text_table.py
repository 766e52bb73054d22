"""Tables as text: nothing is ever cut, columns that find no room stand in a block of their own below."""

import re
from collections.abc import Iterable, Iterator, Sequence

GAP = "  "
TABLE_WIDTH = 100
"""Characters of a line, where the terminal does not say."""
PLAIN = re.compile(r"-?\d+(\.\d*)?")
"""A number without an exponent."""

Cells = Sequence[str]


def text_table(headings: Cells, rows: Sequence[Cells], width: int) -> Iterator[str]:
    """Lines of a table whose first column, the rows' names, is to the left and repeated in every block.

    Where all columns do not fit in `width`, the rest stand below, an empty line before them. A line is longer
    than that only where a name and one figure are.

    Example:
        >>> list(text_table(["", "mean", "sd"], [["mu", "1.25", "0.5"]], 80))
        ['    mean   sd', 'mu  1.25  0.5']
        >>> list(text_table(["", "mean", "sd"], [["mu", "1.25", "0.5"]], 10))
        ['    mean', 'mu  1.25', '', '     sd', 'mu  0.5']
    """
    table = [headings, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(headings))]
    for number, columns in enumerate(blocks(widths, width)):
        if number:
            yield ""
        for row in table:
            yield GAP.join([row[0].ljust(widths[0]), *(row[k].rjust(widths[k]) for k in columns)]).rstrip()


def at_the_point(columns: Iterable[Cells]) -> Iterator[tuple[str, ...]]:
    """The rows of figures given by row, with the decimal points of each column below one another.

    Example:
        >>> list(at_the_point([["0.6", "12"], ["-1.23", "3"]]))
        [('0.6 ', '12'), ('-1.23', '3')]
    """
    by_column = [_padded(cells) for cells in zip(*columns, strict=True)]
    return zip(*by_column, strict=True)


def _padded(cells: Cells) -> list[str]:
    tails = [len(cell) - point if (point := cell.find(".")) >= 0 and "e" not in cell else 0 for cell in cells]
    most = max(tails)
    return [
        cell + " " * (most - tail) if PLAIN.fullmatch(cell) else cell
        for cell, tail in zip(cells, tails, strict=True)
    ]


def blocks(widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Columns, by number from 1, that fit beside column 0; at least one a block."""
    here: list[int] = []
    taken = widths[0]
    for k in range(1, len(widths)):
        if here and taken + len(GAP) + widths[k] > width:
            yield here
            here, taken = [], widths[0]
        here.append(k)
        taken += len(GAP) + widths[k]
    yield here
