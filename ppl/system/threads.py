"""How many threads products of matrices are spread over while a model is fitted."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from ppl.late import imported


def cores_of(cores: int | None) -> int:
    """As many as were asked for; None stands for all that this process may run on."""
    if cores is not None:
        return cores
    allowed = getattr(os, "sched_getaffinity", None)  # of Linux: what a scheduler or a container gave
    return len(allowed(0)) if allowed else os.cpu_count() or 1


LEAST_SHARED_SIZE = 1 << 20
"""Threads gain more than it costs to keep them in step where an array has more numbers than this."""


@contextmanager
def as_many_threads_as_pay(data: Mapping[str, Any], width: Callable[[], int]) -> Iterator[None]:
    """BLAS on one thread inside, unless arrays are large.

    Its threads wait for work by spinning: of many small products each takes longer, on twice the processor.
    They also sum in another order, so that as many threads as the environment or the machine says would
    give as many different last digits from the same seed.
    `data` are looked through for arrays; `width()` is how many numbers the largest of an evaluation has, and
    asked for, as that takes an evaluation, where none of the data is that large.

    Example:
        >>> with as_many_threads_as_pay({"x": np.ones((300, 20))}, width=lambda: 300):
        ...     print(np.ones(20) @ np.ones(20))
        20.0
    """
    largest = max((v.size for v in data.values() if isinstance(v, np.ndarray)), default=0)
    if largest > LEAST_SHARED_SIZE or width() > LEAST_SHARED_SIZE:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    """The libraries that are loaded, searched once. SciPy has a BLAS of its own, loaded with its LAPACK."""
    imported("scipy.linalg._flapack")
    return ThreadpoolController()
