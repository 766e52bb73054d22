"""A log density of which rows of data that are alike are computed once, each as often as it counts.

Of 11,566 answers to a poll 2,185 are different: sex, age, education, state and vote are what they are.
"""

from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.density.layout import Rows
from ppl.kernel.ir.rows import row_axes, row_sizes
from ppl.kernel.ir.walk import used_names
from ppl.late import LateModule
from ppl.records import replace

passes, splits = LateModule("ppl.optimise.passes.counted_rows"), LateModule("ppl.density.rows")
KEY = "distinct rows"
"""Of the posterior by these among the targets of a posterior."""


class DistinctLimits(NamedTuple):
    """When it pays that rows are told apart."""

    share: float = 0.5
    """The share of the rows that are different, at most."""

    numbers: int = 1024
    """Numbers of data, at least: the program is compiled anew, in a twentieth of a second."""

    tries: int = 10
    """Random points at which the density is compared with that of all rows."""

    tolerance: float = 1e-9
    """The relative difference of both."""


DISTINCT = DistinctLimits()


def by_distinct_rows(posterior: LogDensity) -> LogDensity:
    """The same density by the rows that are different, made when it is first asked for.

    The posterior itself where few rows are alike, or terms of rows cannot be told from the others.
    """
    if KEY not in posterior.targets:
        here = posterior
        for size in row_sizes(posterior.model.lowered) if is_whole(posterior) else ():
            here = by_rows_of(here, size) or here
        posterior.targets[KEY] = here
    return cast(LogDensity, posterior.targets[KEY])


def is_whole(posterior: LogDensity) -> bool:
    """Whether it is of a program, not timed, with all its data in memory and none missing."""
    model = posterior.model
    is_part = model.compilation.part is not None or posterior.earlier is not None
    return not (is_part or posterior.on_disk or model.completions or model.keeps_time)


def by_rows_of(posterior: LogDensity, size: str) -> LogDensity | None:
    """By the different rows of those that `size` counts; None where that cannot be."""
    distinct = distinct_rows(posterior, size)
    return distinct and counted(posterior, size, *distinct)


def distinct_rows(posterior: LogDensity, size: str) -> tuple[Rows, Floats] | None:
    """The rows (n,) that `size` counts and are different, and how often data have each (n,).

    None where they are too many, others than data have an entry a row, or a row of data is a tuple.
    """
    program, n = posterior.model.lowered, int(posterior.d.of(size))
    read = used_names(program.log_density)
    data = row_axes((*program.data, *program.transformed_data_names), size)
    values = [(posterior.d.of(name), axis) for name, axis in data if name in read]
    of_data = size not in used_names(program.parameters) and all(isinstance(x, np.ndarray) for x, _ in values)
    if not of_data or sum(x.size for x, _ in values) < DISTINCT.numbers:
        return None
    codes = np.zeros(n, dtype=np.intp)
    for column in chain.from_iterable(np.moveaxis(x, axis, -1).reshape(-1, n) for x, axis in values):
        _, own = np.unique(column, return_inverse=True)
        _, rows, codes, counts = np.unique(codes * n + own, True, True, True)
        if len(rows) > DISTINCT.share * n:
            return None
    return rows, counts.astype(float)


def counted(posterior: LogDensity, size: str, rows: Rows, counts: Floats) -> LogDensity | None:
    """By these rows, each as often as it counts; None where that is another density, as some points tell."""
    rng = np.random.default_rng(0)
    try:
        batches = splits.whole_rows(posterior, size)
        part = passes.counted_rows(posterior.model.lowered, size)
        if splits.why_not(batches, rng, rows if len(rows) > 1 else None) is not None:
            return None
        model = posterior.model.changed(part=part)
        data = batches.minibatch(rows).cut.with_values({passes.counts_of(size): counts})
        by_counts = replace(
            posterior, model=model, d=model.prepared(data), whole=posterior.whole or posterior
        )
        u = rng.normal(0.0, 0.5, (DISTINCT.tries, posterior.param_unc_num()))
        values, own = (each.log_densities(u) for each in (posterior, by_counts))
    except (passes.NotCounted, InferenceError, ValueError, IndexError):
        return None
    same = np.isclose(values, own, rtol=DISTINCT.tolerance, atol=DISTINCT.tolerance, equal_nan=True)
    return by_counts if same.all() and 2 * np.isfinite(values).sum() >= DISTINCT.tries else None
