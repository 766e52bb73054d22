"""When a maximisation stops: Stan's rules, defaults and words (Stan Reference Manual, "Optimization")."""

import math
from enum import StrEnum

import numpy as np

from ppl.floats import Floats
from ppl.records import dataclass

EPSILON = float(np.finfo(float).eps)
"""The unit of relative tolerances."""


@dataclass(frozen=True)
class Rules:
    """Stan's arguments of `optimize` with its defaults; relative tolerances are multiples of epsilon."""

    iter: int = 2000
    """Steps at most."""

    init_alpha: float = 0.001
    """The length of the first step, relative to the gradient."""

    tol_obj: float = 1e-12
    """The change of the log density that ends the search."""

    tol_rel_obj: float = 1e4
    """The same relative to the log density."""

    tol_grad: float = 1e-8
    """The norm of the gradient that ends it."""

    tol_rel_grad: float = 1e7
    """The squared norm of the gradient in the metric of the search, relative to the log density."""

    tol_param: float = 1e-8
    """The length of a step that ends it."""

    history_size: int = 5
    """Steps that L-BFGS remembers."""


STANS = Rules()
UNTIL_STOPPED = Rules(tol_obj=0.0, tol_rel_obj=0.0, tol_grad=0.0, tol_rel_grad=0.0, tol_param=0.0)
"""For a search that its caller ends."""


FLAT_GRADIENT = 1e-2
"""The norm of the gradient above which a point is no maximum, relative to the root of the log density, as
the relative tolerance of the gradient is.
"""
CONFIRMED_GAIN = 1e-4
"""Nats that a search begun anew at the end may gain before that end counts as premature."""
NEWTON_GAIN = 1e-8
"""Nats: Newton's method stops at a step that gains no more."""


class Stop(StrEnum):
    """Why a maximisation stopped, in Stan's words."""

    OBJECTIVE = "absolute change in objective function was below tolerance"
    RELATIVE_OBJECTIVE = "relative change in objective function was below tolerance"
    GRADIENT = "gradient norm is below tolerance"
    RELATIVE_GRADIENT = "relative gradient magnitude is below tolerance"
    PARAMETERS = "absolute parameter change was below tolerance"
    ITERATIONS = "Maximum number of iterations hit, may not be at an optima"
    LINE_SEARCH = "Line search failed to achieve a sufficient decrease, no more progress can be made"


CHANGES = (Stop.OBJECTIVE, Stop.GRADIENT, Stop.PARAMETERS, Stop.RELATIVE_OBJECTIVE, Stop.RELATIVE_GRADIENT)
"""The stops at which too little happened."""


@dataclass(frozen=True)
class SearchPoint:
    """A point of the path, `u` (dim,), with the log density and its gradient (dim,) there.

    `length` is that of the step, `alpha` its size in units of the direction and `first_alpha` the size that
    the line search began with; `evaluations` are of the gradient so far.
    """

    u: Floats
    value: float
    gradient: Floats
    number: int = 0
    length: float = 0.0
    alpha: float = 0.0
    first_alpha: float = 0.0
    evaluations: int = 1
    note: str = ""
    stop: Stop | None = None

    @property
    def slope(self) -> float:
        """The norm of the gradient."""
        return float(np.linalg.norm(self.gradient))

    @property
    def flat(self) -> bool:
        """Whether the gradient is small for a log density of this size."""
        return self.slope <= FLAT_GRADIENT * math.sqrt(max(1.0, abs(self.value)))

    @property
    def converged(self) -> bool:
        """Whether the path ended at a maximum; a line search that rounding ends at a flat point found one."""
        return self.flat and self.stop in (*CHANGES, Stop.LINE_SEARCH)

    @property
    def reason(self) -> str:
        """Why the path ended, in a clause; `Convergence detected` only where no gradient is left."""
        if self.stop not in CHANGES:
            return f"{self.stop}; {self.left}"
        if self.flat:
            return f"Convergence detected: {self.stop}"
        return f"{self.stop.capitalize()}, but {self.left}"

    @property
    def left(self) -> str:
        """The gradient that is left, and what it means."""
        return (
            f"the gradient at the end has norm {self.slope:.2g}"
            f"{'' if self.flat else ': the log density has no maximum, or is not smooth there'}"
        )
