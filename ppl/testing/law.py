"""A law: a property that every record, or every case of one, must have."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import numpy as np

from ppl.records import dataclass

Subject = TypeVar("Subject")


def always(subject: Any) -> bool:
    return True


@dataclass(frozen=True)
class Law(Generic[Subject]):
    """`says` in words what must hold, `holds` raises AssertionError where it does not.

    `applies` tells for which subjects there is anything to check.
    """

    says: str
    holds: Callable[[Subject], None]
    applies: Callable[[Subject], bool] = always

    def check(self, subject: Subject, name: str) -> None:
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
