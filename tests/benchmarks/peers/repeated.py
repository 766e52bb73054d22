"""The time of a fit, taken often enough; of the standard library alone, as either Python loads it."""

import statistics
from collections.abc import Callable
from typing import Any

FEWEST, MOST = 3, 30
ENOUGH = 0.3


def repeated(fit: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What the first of a few fits says of itself, its `seconds` their median.

    There are `FEWEST` of them, or more, up to `MOST`, until they have taken `ENOUGH` seconds.
    """
    timed: list[dict[str, Any]] = []
    while len(timed) < FEWEST or (sum(each["seconds"] for each in timed) < ENOUGH and len(timed) < MOST):
        timed.append(fit())
    return {**timed[0], "seconds": statistics.median(each["seconds"] for each in timed)}
