"""Of a long table of cases, those that every run tries; the others are run with --whole."""

from collections.abc import Iterable
from typing import Any

import pytest


def first(most: int, cases: Iterable[Any]) -> list[Any]:
    """Cases as parameters of a test, all after the first so many marked `whole`."""
    return [pytest.param(case, marks=pytest.mark.whole if k >= most else ()) for k, case in enumerate(cases)]
