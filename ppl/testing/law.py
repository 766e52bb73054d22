"""A law: a property that every record, or every case of one, must have."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import numpy as np

from ppl.arrays import AUTOGRAD, Namespace, value_and_grad
from ppl.floats import Floats
from ppl.records import dataclass

STEP = 3e-4
"""A step of a finite difference."""


def elementwise_slope(f: Callable[[Floats], Floats], x: Floats, low: float, high: float) -> Floats:
    """Derivative of an elementwise f on (low, high): of three steps, the one at which it has settled."""
    room = np.minimum(1.0, np.minimum(x - low, high - x))
    long, middle, short = (_five_point(f, x, h, h) for h in (1e-3 * room, 1e-4 * room, 1e-5 * room))
    return np.where(np.abs(long - middle) < np.abs(middle - short), middle, short)


def _five_point(f: Callable[[Floats], Floats], x: Floats, h: Floats, length: Floats | float) -> Floats:
    """The derivative along h, a step of that length."""
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12.0 * length)


def slopes(f: Callable[[Any], float], x: Any) -> Floats:
    """Derivative of a number with respect to every element of x."""
    x = np.asarray(x, float)
    differences = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[i] = STEP
        differences[i] = _five_point(lambda point: np.asarray(f(point[()]), float), x, step, STEP)
    return differences


def jacobian(f: Callable[[Floats], Any], u: Floats, step: float = 1e-5) -> Floats:
    """Rows are outputs, columns the elements of `u`, by central differences."""
    steps = step * np.eye(u.size).reshape(u.size, *u.shape)
    columns = [np.ravel(f(u + h) - f(u - h)) / (2 * step) for h in steps]
    return np.array(columns).reshape(u.size, np.size(f(u))).T


def gradient(f: Callable[[Namespace, Any], Any], x: Any) -> Any:
    """The derivative of the sum of what f(xp, x) returns, by autograd; of the shape of x."""
    _, slope = value_and_grad(lambda x: AUTOGRAD.np.sum(f(AUTOGRAD, x)), x)
    return slope


LawSubject = TypeVar("LawSubject")


def always(subject: Any) -> bool:
    return True


@dataclass(frozen=True)
class Law(Generic[LawSubject]):
    """`says` in words what must hold, `holds` raises AssertionError where it does not.

    `applies` tells for which subjects there is anything to check.
    """

    says: str
    holds: Callable[[LawSubject], None]
    applies: Callable[[LawSubject], bool] = always

    def check(self, subject: LawSubject, name: str) -> None:
        """AssertionError that names subject, law and numbers; other errors get subject and law as a note."""
        with quiet():
            try:
                self.holds(subject)
            except AssertionError as error:
                raise AssertionError(
                    f"{name}: law does not hold: {self.says}.\n{str(error).strip()}"
                ) from None
            except Exception as error:
                error.add_note(f"{name}: the law that {self.says} was tested.")
                raise


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings of arithmetic: laws try invalid points on purpose."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
