"""Tables as text: nothing is ever cut, columns that find no room stand in a block of their own below."""

from collections.abc import Iterator, Sequence

GAP = "  "

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
