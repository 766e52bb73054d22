"""Operands of solvers: functions of a point and of the draw that it belongs to."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.records import dataclass

DrawNumbers = NDArray[np.intp]
Rate = Callable[[Floats, Floats], Floats]
"""Of t (m,) and y (m, n), (m, n)."""


class Field(Protocol):
    """f(t, y) of n numbers with n values, at m points at once: t (m,), y (m, n), of the draws (m,)."""

    def values(self, t: Floats, y: Floats, draws: DrawNumbers) -> Floats:
        """f at each point, (m, n)."""
        ...

    def of(self, draws: DrawNumbers) -> Rate:
        """`values` at points of the same draws (m,), whose further arguments are gathered once."""
        ...

    def linearised(self, t: Floats, y: Floats, draws: DrawNumbers) -> "Linearised": ...


class Linearised(Protocol):
    """f about m points."""

    @property
    def jacobians(self) -> Floats:
        """(m, n, n): what each value, by row, owes to each number of y."""
        ...

    def pull(self, weights: Floats) -> list[Any]:
        """The adjoint of each argument that f has beside t and y, when `weights` (m, n) are those of f."""
        ...


@dataclass(frozen=True)
class SolverFunction:
    """One function of the program: for plain numbers, for many points, and for many on a tape.

    `varies` says which arguments of the last two have one value for each point.
    """

    plain: Callable[..., Any]
    many: Callable[..., Any]
    traced: Callable[..., Any]
    varies: tuple[bool, ...]
