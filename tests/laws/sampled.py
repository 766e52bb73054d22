"""Of a long table of cases, those that every run tries; the others are run with --whole."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def sampled(every: int, cases: Iterable[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """Cases as parameters of a test, called by `name`; all but one in `every` are marked `whole`."""
    return [
        pytest.param(case, id=name(case), marks=pytest.mark.whole if k % every else ())
        for k, case in enumerate(cases)
    ]
