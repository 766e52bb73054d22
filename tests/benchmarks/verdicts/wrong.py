"""Whether the draws of a record are those of a wrong fit."""

import math

from tests.benchmarks.errors import LIMITS
from tests.benchmarks.verdicts.lines import Record
from tests.benchmarks.verdicts.record import CRASHED, REFUSED, TOO_LONG


def is_wrong(record: Record) -> bool | None:
    """Whether an error that noise does not explain is above its limit; None where one fit cannot tell.

    To refuse an improper posterior is right, to fit it wrong. One data set with its parameters tells nothing.
    """
    if record["truth"] == "drawn" or record["level"] in (CRASHED, TOO_LONG):
        return None
    if record["truth"] == "improper":
        return bool(record["level"] != REFUSED)
    if record["level"] == REFUSED:
        return None
    return any(excess(record, check) > 1 for check in LIMITS)


def excess(record: Record, check: str) -> float:
    """The largest error of a check that noise does not explain, in units of its limit."""
    error = abs(record["sure"][check][0]) / LIMITS[check]
    return math.inf if math.isnan(error) else error


def worst_check(record: Record) -> str:
    """The largest error in words, by its limit: of those that noise does not explain where there is one."""
    if record["truth"] == "improper":
        return "there is no posterior"
    found = record["sure"] if any(error for error, _ in record["sure"].values()) else record["errors"]
    check = max(found, key=lambda one: abs(found[one][0]) / LIMITS[one])
    error, name = found[check]
    return f"{check} of {name} off by {error:+.2f}"
