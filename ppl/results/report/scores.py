"""Log scores of new rows, as a table and as CSV."""

from collections.abc import Iterator, Mapping

import numpy as np

from ppl.results.fits.new_rows import Scores
from ppl.results.report.loo import se_of_sum
from ppl.results.report.text_table import TABLE_WIDTH, text_table
from ppl.stdlib.constraints.sentences import position


def table(scores: Mapping[str, Scores]) -> Iterator[str]:
    """The lines of a table: of each outcome its rows, the sum of their scores, its error, their mean."""
    texts = []
    for name, each in scores.items():
        given = each.values[~np.isnan(each.values)]
        parts = (given.sum(), se_of_sum(given), given.mean())
        texts.append((name, str(len(given)), *(f"{part:.2f}" for part in parts)))
    return text_table(("", "rows", "log score", "SE", "mean"), texts, TABLE_WIDTH)


def csv_lines(scores: Mapping[str, Scores]) -> Iterator[str]:
    """A line a row that is given: its name, its log score, the Monte Carlo error of this."""
    yield "row,log_score,mcse\n"
    for name, each in scores.items():
        for index in np.argwhere(~np.isnan(each.values)).tolist():
            at = tuple(index)
            yield f'"{name}{position(at)}",{float(each.values[at])!r},{float(each.errors[at])!r}\n'
