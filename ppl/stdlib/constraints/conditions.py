"""Membership in a constrained set, by conditions: which values meet them, and what is wrong with one.

nan meets no condition.  Tolerances are those of Stan.
"""

from collections.abc import Callable
from functools import reduce
from operator import and_
from typing import Any, get_args

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, row_sums
from ppl.records import dataclass
from ppl.stdlib.constraints.record import Constraint, Shape, ValueKind
from ppl.stdlib.constraints.sentences import TOLERANCE, first_false, number, position
from ppl.stdlib.functions.symmetric import cholesky_decompose


@dataclass(frozen=True)
class Condition:
    """One property of the values of a set.

    holds  (xp, x, *arguments) -> bools: the leading axes of `x`, then those of `place`
    says   (x, place, *arguments) -> what is wrong with one value at `place`, 0-based
    """

    holds: Callable[..., Any]
    says: Callable[..., str]

    def named(self, what: str) -> "Condition":
        """The same, its sentence after `what`: "is not a simplex: sums to 2, but must sum to 1"."""
        return Condition(self.holds, lambda x, place, *own: f"{what}: {self.says(x, place, *own)}")


def of_rows(
    condition: Condition, name: str = "row", rows: Callable[[Array], Array] = lambda x: x
) -> Condition:
    """A condition on vectors, for each row of a matrix."""
    return Condition(
        lambda xp, x: condition.holds(xp, rows(x)),
        lambda x, place: f"{name} {place[0] + 1} {condition.says(rows(x)[place[0]], place[1:])}",
    )


def of_columns(condition: Condition) -> Condition:
    return of_rows(condition, "column", lambda x: x.swapaxes(-1, -2))


@dataclass(frozen=True)
class Members:
    """The values, each with `axes` axes, that meet all the conditions; sentences are on the first not met."""

    axes: int
    conditions: tuple[Condition, ...]

    def contains(self, xp: Namespace, x: Array, *arguments: Array) -> Array:
        """Which of the values that lie along the leading axes are inside."""
        return reduce(and_, [self._met(xp, c.holds(xp, x, *arguments), x) for c in self.conditions])

    def _met(self, xp: Namespace, holds: Array, x: Array) -> Array:
        within = holds.ndim - (x.ndim - self.axes) if self.axes else 0
        return xp.np.all(holds, axis=tuple(range(-within, 0))) if within else holds

    def check(self, x: Array, shape: Shape, *arguments: Array) -> str | None:
        """The fault of the first value that lies outside, and its place."""
        x = np.asarray(x, dtype=float)
        if all(np.all(c.holds(NUMPY, x, *arguments)) for c in self.conditions):
            return None
        index = first_false(self.contains(NUMPY, x, *arguments))
        one, own = x[index], [np.broadcast_to(a, x.shape)[index] for a in arguments]
        holds = ((c, np.asarray(c.holds(NUMPY, one, *own))) for c in self.conditions)
        wrong, at = next((c, first_false(good)) for c, good in holds if not good.all())
        return f"{position(index)} {wrong.says(one, at, *own)}".lstrip()


def constraint(value: ValueKind, conditions: tuple[Condition, ...], **others: Any) -> Constraint:
    """A constrained type, whose values are the reals, vectors or matrices that meet all the conditions."""
    members = Members(get_args(ValueKind).index(value), conditions)
    return Constraint(value=value, contains=members.contains, check=members.check, **others)


# --- Vectors -------------------------------------------------------------------------------------

NONNEGATIVE = Condition(
    lambda xp, x: x >= 0,
    lambda x, k: f"element {position(k)} is {number(x[k])}, but must be at least 0",
)
INCREASING = Condition(
    lambda xp, x: x[..., 1:] > x[..., :-1],
    lambda x, k: (
        f"is not ordered: element [{k[0] + 2}] is {number(x[k[0] + 1])}, "
        f"but must be greater than the element before it, {number(x[k])}"
    ),
)


def sums_to(total: int) -> Condition:
    return Condition(
        lambda xp, x: xp.np.abs(row_sums(xp, x) - total) <= TOLERANCE,
        lambda x, _: f"sums to {number(x.sum())}, but must sum to {total} (tolerance {TOLERANCE:g})",
    )


def of_length_one(what: str) -> Condition:
    """The sentence begins with "its squares", or with the row that they are of, after `what`."""
    return Condition(
        lambda xp, x: xp.np.abs(row_sums(xp, x * x) - 1) <= TOLERANCE,
        lambda x, i: (
            f"{what}: {f'the squares of row {i[0] + 1}' if i else 'its squares'} sum to "
            f"{number(np.sum(x * x, axis=-1)[i])}, but must sum to 1 (tolerance {TOLERANCE:g})"
        ),
    )


# --- Matrices ------------------------------------------------------------------------------------


def _diagonal(xp: Namespace, x: Array) -> Array:
    return xp.np.diagonal(x, axis1=-2, axis2=-1)


def _asymmetry(x: np.ndarray, place: tuple[int, ...]) -> str:
    mirrored = place[::-1]
    if place == mirrored:
        return f"has {number(x[place])} at {position(place)}, but must be finite"
    return (
        f"is not symmetric: element {position(place)} is {number(x[place])}, "
        f"but element {position(mirrored)} is {number(x[mirrored])}"
    )


def _on_diagonal(holds: Callable[[Namespace, Array], Array], must_be: str) -> Condition:
    return Condition(
        lambda xp, x: holds(xp, _diagonal(xp, x)),
        lambda x, i: f"has {number(x[i + i])} at {position(i + i)}, but its diagonal must be {must_be}",
    )


POSITIVE_DIAGONAL = _on_diagonal(lambda xp, d: d > 0, "positive")
UNIT_DIAGONAL = _on_diagonal(lambda xp, d: xp.np.abs(d - 1) <= TOLERANCE, "1")
LOWER_TRIANGULAR = Condition(
    lambda xp, x: xp.np.triu(x, 1) == 0,
    lambda x, ij: f"is not lower triangular: element {position(ij)} is {number(x[ij])}, but must be 0",
)
SYMMETRIC = Condition(lambda xp, x: xp.np.abs(x - xp.np.swapaxes(x, -1, -2)) <= TOLERANCE, _asymmetry)
POSITIVE_DEFINITE = Condition(
    lambda xp, x: xp.np.isfinite(_diagonal(xp, cholesky_decompose(xp, x))),
    lambda x, _: (
        "is not positive definite: its smallest eigenvalue is "
        f"{number(np.linalg.eigvalsh(x)[0])}, but must be positive"
    ),
)
