"""The lines of a run as Markdown tables: a row a program, the median cost and worst error of its seeds; or
what fits cost beside NUTS.
"""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np

from tests.benchmarks.clock import head, row
from tests.benchmarks.tail.measure import Record
from tests.benchmarks.tail.problems import ALL

LONG = 2.0
"""CPU seconds from which on a run of NUTS is a long one."""
MOST_PROGRAMS = 15
"""Programs of which costs beside NUTS are shown."""
MOST_PARAMETERS, MOST_SECONDS = 500, 30.0
"""A fit of at most so many parameters should take at most so many CPU seconds."""
OF_ENGINE = ("CPU s", "gradients", "says", "mean", "sd ratios", "quantiles")


def table(found: Sequence[Record]) -> Iterator[str]:
    yield from head("program", *OF_ENGINE, *(f"NUTS: {name}" for name in OF_ENGINE))
    for name in ALL:
        of_name = [one for one in found if one["name"] == name]
        if of_name:
            both = [[one for one in of_name if one["engine"] == engine] for engine in ("fit", "nuts")]
            yield row(name, *(cell for records in both for cell in cells(records)))


def cells(found: Sequence[Record]) -> Iterator[str]:
    """Of one engine, empty where nothing is known."""
    yield f"{median(one['cpu'] for one in found):.1f}" if found else ""
    points = [one["gradients"] for one in found if "gradients" in one]
    yield f"{median(points):,.0f}" if points else ""
    yield ", ".join(dict.fromkeys(said(one) for one in found))
    yield worst(found, ("mean",))
    low = [one["ratios"]["low"][0] for one in found if "ratios" in one]
    high = [one["ratios"]["high"][0] for one in found if "ratios" in one]
    yield f"{min(low):.2f} to {max(high):.2f}" if low else ""
    yield worst(found, ("q05", "q95"))


def said(one: Record) -> str:
    """The verdict and the path of a fit, the largest R-hat and smallest effective sample size of chains."""
    about: Any = f"ESS {one['ess']}" if "ess" in one else one.get("path")
    return f"{one['level']}, {about}" if about else str(one["level"])


def worst(found: Sequence[Record], checks: Sequence[str]) -> str:
    errors = [abs(one[check][0]) for one in found for check in checks if check in one]
    return f"{max(errors):.2f}" if errors else ""


def ratios(found: Sequence[Record]) -> Iterator[str]:
    """CPU seconds of fits over those of NUTS, in all, and of the dearest programs where NUTS takes long."""
    by_name: dict[str, dict[str, list[Record]]] = {}
    for one in found:
        by_name.setdefault(one["name"], {}).setdefault(one["engine"], []).append(one)
    pairs = {name: both for name, both in by_name.items() if "fit" in both and sampled(both.get("nuts", ()))}
    cost = {
        name: [median(one["cpu"] for one in both[engine]) for engine in ("fit", "nuts")]
        for name, both in pairs.items()
    }
    share = {name: fit / nuts for name, (fit, nuts) in cost.items()}
    long = sorted((name for name, (_, nuts) in cost.items() if nuts >= LONG), key=lambda name: -share[name])
    late = [
        name
        for name, (fit, _) in cost.items()
        if fit > MOST_SECONDS and pairs[name]["fit"][0].get("parameters", 0) <= MOST_PARAMETERS
    ]
    yield from head("program", "parameters", "says", "CPU s", "NUTS, CPU s", "ratio")
    every = list(share.values())
    for label, value in (
        (f"median of {len(every)}", median(every)),
        ("90th percentile", float(np.quantile(every, 0.9))),
        (f"median of {len(long)} where NUTS takes {LONG:g} s or more", median(share[name] for name in long)),
        ("largest there", share[long[0]]),
    ):
        yield row(label, "", "", "", "", f"{value:.2f}")
    yield row(f"fits above {MOST_SECONDS:g} s", "", "", "", "", len(late))
    for name in long[:MOST_PROGRAMS]:
        fits, (fit, nuts) = pairs[name]["fit"], cost[name]
        says = ", ".join(dict.fromkeys(said(one) for one in fits))
        size = fits[0].get("parameters", "")
        yield row(name, size, says, f"{fit:.1f}", f"{nuts:.1f}", f"{share[name]:.2f}")


def sampled(runs: Sequence[Record]) -> bool:
    """Whether NUTS ran, to its end or to its limit."""
    return bool(runs) and all(run["level"] != "failed" for run in runs)
