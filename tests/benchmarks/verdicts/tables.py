"""Tables of what verdicts are worth, in Markdown."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from statistics import median
from typing import TypeVar

from tests.benchmarks.clock import head, row
from tests.benchmarks.verdicts.lines import Record
from tests.benchmarks.verdicts.record import CRASHED, REFUSED, TOO_LONG
from tests.benchmarks.verdicts.uniform import calibration, places
from tests.benchmarks.verdicts.wrong import excess, is_wrong, worst_check

LEVELS = ("good", "usable", "poor", "unknown", REFUSED, CRASHED, TOO_LONG)
EVERY = "every"
Records = list[Record]
K = TypeVar("K", bound=Hashable)


def tables(records: Records) -> Iterator[str]:
    """All of them, with the commits that the records are of."""
    yield f"Commits: {', '.join(sorted({one['commit'] for one in records}))}."
    yield ""
    yield from by_level(records)
    yield ""
    yield from by_ranks([one for one in records if "ranks" in one])
    yield ""
    yield from section("Good and wrong", [one for one in records if one["level"] == "good" and is_wrong(one)])
    yield from section(
        "Poor and right", [one for one in records if one["level"] == "poor" and is_wrong(one) is False]
    )
    yield from section("No fit", [one for one in records if one["level"] in (REFUSED, CRASHED, TOO_LONG)])


def by(records: Iterable[Record], group_of: Callable[[Record], K]) -> dict[K, Records]:
    found: dict[K, Records] = defaultdict(list)
    for one in records:
        found[group_of(one)].append(one)
    return found


def by_level(records: Records) -> Iterator[str]:
    """For each group and level, and each level over the groups that can tell, how many are wrong."""
    yield from head("group", "level", "fits", "wrong", "share wrong", "CPU seconds, median", "in all")
    for group, its in by(records, lambda one: one["group"]).items():
        yield from _levels(group, its)
    yield from _levels(EVERY, [one for one in records if is_wrong(one) is not None])


def _levels(group: str, records: Records) -> Iterator[str]:
    levels = by(records, lambda one: one["level"])
    for level in sorted(levels, key=_order):
        its = levels[level]
        judged = [wrong for wrong in map(is_wrong, its) if wrong is not None]
        share = f"{sum(judged) / len(judged):.1%}" if judged else ""
        seconds = [one["seconds"] for one in its]
        count = str(sum(judged)) if judged else ""
        yield row(group, level, len(its), count, share, median(seconds), sum(seconds))


def _order(level: str) -> tuple[int, str]:
    """The best level first; one that is not known here comes last."""
    return (LEVELS.index(level) if level in LEVELS else len(LEVELS)), level


def by_ranks(records: Records) -> Iterator[str]:
    """For each simulated program and level, whether the parameters that were drawn lie as draws do."""
    if not records:
        return
    names = ("program", "level", "data sets", "in 50%", "in 90%", "p of chi-squared", "p of the ECDF")
    yield from head(*names)
    for name, its in by(records, lambda one: one["name"]).items():
        levels = by(its, lambda one: one["level"])
        counted = [(level, levels[level]) for level in sorted(levels, key=_order)]
        for level, some in [*counted, *([(EVERY, its)] if len(counted) > 1 else [])]:
            columns = sorted(some[0]["ranks"])
            ranks = [[one["ranks"][column] for column in columns] for one in some]
            found = calibration(places(ranks, some[0]["draws"]))
            half, most = (f"{share:.1%} ± {se:.1%}" for share, se in (found[:2], found[2:4]))
            p_values = ("" if math.isnan(p) else p for p in (found.chi_squared, found.ecdf))
            yield row(name, level, len(some), half, most, *p_values)


def section(title: str, records: Records) -> Iterator[str]:
    """A line for each program, with its seeds and the worst of what is off."""
    yield f"{title}: {len(records)}."
    yield ""
    for (group, name), its in by(records, lambda one: (one["group"], one["name"])).items():
        seeds = ", ".join(str(one["seed"]) for one in sorted(its, key=lambda one: one["seed"]))
        yield f"- {group} {name}, seeds {seeds}: {_worst(its)}"
    if records:
        yield ""


def _worst(records: Records) -> str:
    if "message" in records[0]:
        return f"{records[0]['level']}: {records[0]['message'].splitlines()[0]}"
    return worst_check(max(records, key=_excess))


def _excess(record: Record) -> float:
    return max((excess(record, check) for check in record.get("sure", ())), default=0.0)
