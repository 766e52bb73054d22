"""One fit as a record for JSON: its verdict, and how far off its draws are."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from time import process_time
from types import FrameType
from typing import Any

import numpy as np

from ppl.errors import PPLError
from ppl.results.fits.fit import Fit
from tests.benchmarks.errors import Quantities, errors_of, sure, worst
from tests.benchmarks.verdicts.case import Case, Drawn, Improper, Known, Truth
from tests.benchmarks.verdicts.groups import GROUPS

REFUSED, CRASHED, TOO_LONG = "refused", "crashed", "too long"
"""What stands for the level where there is no fit."""
MOST_ENTRIES = 10_000
"""A longer array is no statistic of coordinates."""


AGAIN = 5.0
"""Seconds of CPU to the next try, where something on the way caught the exception."""


class TooLong(Exception):
    """A fit took more seconds of CPU than it was given."""


def record(group: str, name: str, seed: int, commit: str, most: float) -> dict[str, Any]:
    """Fit a case by default within `most` seconds of CPU and judge it; what goes wrong is in the record."""
    case = GROUPS[group].case(name, seed)
    head = {"group": group, "name": name, "seed": seed, "commit": commit, **_kind(case.truth)}
    began = process_time()
    try:
        with at_most(most):
            found = fitted(case, seed)
    except PPLError as error:
        found = {"level": REFUSED, "message": str(error)}
    except TooLong:
        found = {"level": TOO_LONG, "message": f"more than {most:g} s of CPU"}
    except Exception as error:  # a crash is a result like any other
        found = {"level": CRASHED, "message": repr(error)}
    return {**head, "seconds": process_time() - began, **found}


def _kind(truth: Truth) -> dict[str, Any]:
    return {"truth": type(truth).__name__.lower()}


def fitted(case: Case, seed: int) -> dict[str, Any]:
    """What a default fit says of itself, and what is true of it; its seconds without compilation."""
    posterior = case.posterior()
    began = process_time()
    fit = posterior.variational(seed=seed)
    recorded = {
        "seconds": process_time() - began,
        "d": posterior.param_unc_num(),
        "level": fit.verdict.level.value,
        "ending": fit.outcome.ending.value,
        "elbo": fit.elbo,
        "judgement": fit.judgement,
        "verdict": dict(scalars(fit.verdict)),
    }
    return recorded | truth_of(fit, case.truth)


def truth_of(fit: Fit, truth: Truth) -> dict[str, Any]:
    """The worst errors of what is known, or the ranks of the parameters that were drawn."""
    match truth:
        case Known(quantities):
            return worst_errors(fit, quantities)
        case Drawn(values):
            return {"draws": len(fit.draws()), "ranks": ranks(fit, values)}
        case Improper():
            return {}


def worst_errors(fit: Fit, quantities: Quantities) -> dict[str, Any]:
    """For each check the largest error with its column: of all, and of those that noise does not explain."""
    found = errors_of(fit.draws(), fit.column_names, quantities)
    beyond_noise = sure(found)
    return {
        "quantities": len(found.names),
        "errors": {check: worst(found.names, error) for check, error in found.errors.items()},
        "sure": {check: worst(found.names, error) for check, error in beyond_noise.items()},
    }


def ranks(fit: Fit, values: Mapping[str, float]) -> dict[str, int]:
    """How many draws of each column lie below the value that was drawn; KeyError without such a column."""
    column = {name: k for k, name in enumerate(fit.column_names)}
    draws = fit.draws()
    return {name: int((draws[:, column[name]] < value).sum()) for name, value in values.items()}


def scalars(record: Any, prefix: str = "") -> Iterator[tuple[str, float | int | str | None]]:
    """The fields of a dataclass that are scalars, and those of dataclasses in it as `annealed.drift`.

    Of an array (k,), one entry a coordinate, the largest size.
    """
    for field in fields(record):
        name, value = prefix + field.name, getattr(record, field.name)
        if is_dataclass(value):
            yield from scalars(value, f"{name}.")
        elif isinstance(value, Enum):
            yield name, str(value.value)
        elif isinstance(value, np.generic):
            yield name, value.item()
        elif value is None or isinstance(value, (float, int, str)):
            yield name, value
        elif isinstance(value, np.ndarray) and value.ndim == 1 and 0 < value.size <= MOST_ENTRIES:
            yield f"{name}.largest", float(np.abs(value).max())


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooLong when the process has used so much more CPU."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
