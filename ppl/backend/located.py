"""Errors of emitted code at their place in the program."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ppl.backend.load import Module
from ppl.errors import InferenceError, Rejection

OUT_OF_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")


@contextmanager
def located(module: Module) -> Iterator[None]:
    """Give errors that emitted code raises their place in the program."""
    try:
        yield
    except Rejection as error:
        place = module.place_of(error)
        raise Rejection(f"{place.describe()}\n{error}" if place else str(error)) from None
    except (IndexError, ValueError, ArithmeticError) as error:
        place = module.place_of(error)
        if place is None:
            raise
        raise InferenceError(f"{place.describe()}\n{in_words(error)}", "PPL973") from error


def in_words(error: Exception) -> str:
    """NumPy's complaint about an index, counted from 1 as in the program; other errors as they are."""
    found = OUT_OF_BOUNDS.search(str(error))
    if found is None:
        return str(error)
    index, axis, size = map(int, found.groups())
    return f"Index {index + 1} is out of range: dimension {axis + 1} has {size} entries."
