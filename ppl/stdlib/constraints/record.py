"""The record of a constraint: a map from R^n onto a constrained set, with its log-Jacobian."""

import math
from collections.abc import Callable
from typing import Any, Literal

from ppl.records import dataclass

Shape = tuple[int, ...]
ValueKind = Literal["real", "vector", "matrix"]

ELEMENTWISE = "1"
"""In place of a number of free elements: as many as the value has elements."""


def flat_shape(shape: Shape) -> Shape:
    """The shape of the unconstrained block of a type that keeps its number of elements."""
    return (math.prod(shape),) if shape else ()


@dataclass(frozen=True)
class ConstraintPage:
    """The mathematics in words for `ppl docs`, after Stan's Reference Manual 2.37, "Constraint Transforms".

    `declared` as in a program, the `size` of u in the letters of the declaration, map and log-Jacobian; u are
    the free numbers, x is the value.  A formula is an expression of the language, in which `sum(j < i, e)`
    and `prod(j < i, e)` say what they run over; words follow it after `; ` or stand alone.  `shape` and
    `arguments` are those of the example on the page.
    """

    declared: str
    size: str
    transform: tuple[str, ...]
    log_jacobian: str
    shape: Shape
    arguments: tuple[float, ...] = ()


@dataclass(frozen=True)
class Constraint:
    """A constrained type of the language.

    `shape` below is the shape of one value without array axes: () for a real, (K,) for a vector or
    simplex, (R, C) for a matrix.  Every function takes any number of leading array axes.

    keyword       the word in the program ("lower", "simplex", "cov_matrix", ...)
    arguments     names of what stands in <...>, () for the types of their own
    free_shape    shape -> shape of the unconstrained block, one axis or () for scalars; if not given, of as
                  many elements as the value has
    constrain     (xp, u, shape, *arguments) -> (x, log_jacobian); u is (*arrays, *free_shape(shape)),
                  x is (*arrays, *shape); log_jacobian is the sum of what is returned for it, whose leading
                  axes are those of u (or 0.0)
    unconstrain   (x, shape, *arguments) -> u, plain NumPy, or in `xp=` for the language's own
    check         (x, shape, *arguments) -> None or a sentence that says what is wrong and where (1-based),
                  for data and transformed quantities; tolerance 1e-8 as in Stan
    page          the description, of the language's own
    contains      (xp, x, *arguments) -> which values are inside; the language's own constraints have it
    bad_shape     shape -> None or why no parameter has this shape
    value         the type of one value: by it programs call keyword_jacobian
    function      the word of these functions, where it is not the keyword
    fewer         of a matrix whose free elements form a matrix too: how many rows and columns less that has
    sizes         of a matrix: how many sizes its declaration may give, one standing for both axes
    interval      where every element lies
    """

    keyword: str
    meaning: str
    constrain: Callable[..., tuple[Any, Any]]
    unconstrain: Callable[..., Any]
    check: Callable[..., str | None]
    free_shape: Callable[[Shape], Shape] = flat_shape
    arguments: tuple[str, ...] = ()
    bad_shape: Callable[[Shape], str | None] = lambda shape: None
    interval: tuple[float, float] = (-math.inf, math.inf)
    value: ValueKind | None = None
    function: str = ""
    fewer: tuple[int, int] | None = None
    page: ConstraintPage | None = None
    sizes: tuple[int, ...] = (2,)
    contains: Callable[..., Any] = lambda xp, x: True

    @property
    def bounded(self) -> bool:
        """Whether the set is bounded, so that the uniform density on it is proper."""
        return all(map(math.isfinite, self.interval))
