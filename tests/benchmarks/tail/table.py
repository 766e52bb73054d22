"""The lines of a run as a Markdown table: a row a program, the median cost and worst error of its seeds."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from tests.benchmarks.clock import head, row
from tests.benchmarks.tail.measure import Record
from tests.benchmarks.tail.problems import PROBLEMS

OF_ENGINE = ("CPU s", "gradients", "says", "mean", "sd ratios", "quantiles")


def table(found: Sequence[Record]) -> Iterator[str]:
    yield from head("program", *OF_ENGINE, *(f"NUTS: {name}" for name in OF_ENGINE))
    for name in PROBLEMS:
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
