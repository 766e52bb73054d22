"""What numbers of the verdict separate wrong fits from right ones, and what another constant would do."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import rankdata

from tests.benchmarks.clock import head, row
from tests.benchmarks.errors import Floats
from tests.benchmarks.verdicts.lines import Record
from tests.benchmarks.verdicts.wrong import is_wrong

Cuts = Sequence[tuple[str, float]]


def constants(records: list[Record], cuts: Cuts) -> Iterator[str]:
    """A line for each number that a verdict holds, and one for each cut of it that is asked for."""
    judged = [one for one in records if "verdict" in one and is_wrong(one) is not None]
    names = sorted({name for one in judged for name in one["verdict"]})
    yield from head(
        "number", "fits", "wrong", "larger where wrong", *(f"wrong in quarter {k}" for k in (1, 2, 3, 4))
    )
    for name in names:
        values, wrong = column(judged, name)
        if len(np.unique(values)) > 1:
            shares = (f"{share:.0%} to {upper:.3g}" for share, upper in quarters(values, wrong))
            yield row(name, len(values), int(wrong.sum()), separation(values, wrong), *shares)
    if cuts:
        yield ""
        yield from head("cut", "fits up to it", "wrong", "share", "fits above", "wrong", "share")
    for name, value in cuts:
        yield cut(name, value, *column(judged, name))


def column(records: list[Record], name: str) -> tuple[Floats, Floats]:
    """The values of a number (fits,), and 1 for wrong fits, 0 for right; records without it left out."""
    some = [one for one in records if _is_number(one["verdict"].get(name))]
    values = np.array([float(one["verdict"][name]) for one in some])
    return values, np.array([float(bool(is_wrong(one))) for one in some])


def _is_number(value: object) -> bool:
    return isinstance(value, (float, int)) and value == value


def separation(values: Floats, wrong: Floats) -> float:
    """How often a wrong fit has the larger value of a pair (area under the ROC curve); nan of one kind."""
    n, m = wrong.sum(), (1 - wrong).sum()
    ranks: Floats = rankdata(values)
    return float((ranks[wrong == 1].sum() - n * (n + 1) / 2) / (n * m)) if n and m else float("nan")


def quarters(values: Floats, wrong: Floats) -> Iterator[tuple[float, float]]:
    """The share of wrong fits and the largest value in each quarter of the fits, smallest values first."""
    for part in np.array_split(np.argsort(values, kind="stable"), 4):
        if part.size:
            yield float(wrong[part].mean()), float(values[part].max())


def cut(name: str, value: float, values: Floats, wrong: Floats) -> str:
    cells: list[object] = [f"{name} {value:g}"]
    for side in (values <= value, values > value):
        cells += [int(side.sum()), int(wrong[side].sum()), f"{wrong[side].mean():.1%}" if side.any() else ""]
    return row(*cells)
