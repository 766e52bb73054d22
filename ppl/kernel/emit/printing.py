"""What an evaluation prints: only so many times, or a loop fills the terminal and the disk."""

from collections.abc import Callable
from functools import wraps
from threading import local
from typing import Any

MOST_PRINTS = 1_000
"""Prints of one evaluation: of the density, of the transformed data, of what a draw generates."""
OMITTED = f"... only the first {MOST_PRINTS:,} prints of an evaluation are shown"


class Printing(local):
    """`print` of a module, counted since one of its functions was called; every thread counts its own."""

    def __init__(self, write: Callable[..., None]) -> None:
        self.write, self.count = write, 0

    def print(self, *args: Any) -> None:
        self.count += 1
        if self.count <= MOST_PRINTS:
            self.write(*args)
        elif self.count == MOST_PRINTS + 1:
            self.write(OMITTED)

    def evaluation(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with a count that starts when it is called."""

        @wraps(f)
        def evaluated(*args: Any, **keywords: Any) -> Any:
            self.count = 0
            return f(*args, **keywords)

        return evaluated
