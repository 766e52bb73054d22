"""Errors of emitted code at their place in the program."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ppl.backend.load import Module
from ppl.errors import InferenceError, Rejection

OUT_OF_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")
# A name that ends in two underscores is none of the program's.
INDEXED = re.compile(r"(?:lib\.put\()?(\w+)(?<!__)[\[,]")
BELOW_ONE = re.compile(r"The index (-?\d+) is out of range: indices start at 1")
TAKEN_FROM = re.compile(r"lib\.zero_based\((\w+)(?<!__)[)\[,]")
# An index that data alone tell is computed before the density, which reads it.
COMPUTED_AHEAD = re.compile(r"(\w+__) = lib\.zero_based")
MISMATCHES = (
    re.compile(r"operands could not be broadcast together with shapes (\(.*?\)) (\(.*?\))"),
    re.compile(r"could not broadcast input array from shape (\(.*?\)) into shape (\(.*?\))"),
    re.compile(r"\(size (\d+) is different from (\d+)\)"),
)
SIZED = re.compile(r"(\w+)(?<!__) = (lib\.(?:sized|same_size)\(.*)")

LOOK_AT_SIZES = "Check the sizes in the data and in the program."


@contextmanager
def located(module: Module) -> Iterator[None]:
    """Give errors that emitted code raises their place in the program."""
    try:
        yield
    except Rejection as error:
        place = module.place_of(error)
        raise Rejection(f"{place.describe()}\n{error}" if place else str(error)) from None
    except (MemoryError, RecursionError) as error:
        place = module.place_of(error)
        if place is None:
            raise
        raise InferenceError(f"{place.describe()}\n{not_traceable(error)}", "PPL977") from None
    except (IndexError, ValueError, ArithmeticError) as error:
        place = module.place_of(error)
        if place is None:
            raise
        raise InferenceError(f"{place.describe()}\n{in_words(module, error)}", "PPL973") from error


def not_traceable(error: MemoryError | RecursionError) -> str:
    """What a statement asked for more of than there is."""
    if isinstance(error, RecursionError):
        return (
            "The recursion does not end, or is deeper than the "
            f"{sys.getrecursionlimit()} calls that Python nests.\n"
            "Check the case that ends it, or write a loop."
        )
    message = str(error) or "a value needs more memory than is available"
    return f"{message[0].upper()}{message[1:]}.\n{LOOK_AT_SIZES}"


def mismatch(complaint: str) -> tuple[str, ...] | None:
    """The two sizes that do not go together: `[3]`, `[2, 3]`."""
    found = next((m for pattern in MISMATCHES if (m := pattern.search(complaint))), None)
    return found and tuple(f"[{size.strip('(),')}]" for size in found.groups())


def in_words(module: Module, error: Exception) -> str:
    """NumPy's complaint about an index or sizes, as the program counts them; other errors as they are."""
    line, part = module.text_of(error)
    if (sizes := mismatch(str(error))) is not None:
        return f"Sizes do not match: {sizes[0]} and {sizes[1]}."
    if (below := BELOW_ONE.match(str(error))) is not None:
        return below_one(below[1], line, part, module.emitted.text)
    found = OUT_OF_BOUNDS.search(str(error))
    if found is None:
        sized = SIZED.match(line)
        return f"Wrong size of `{sized[1]}`. {error}" if sized and sized[2] == part else str(error)
    index, axis, size = map(int, found.groups())
    indexed = INDEXED.match(part)
    of = f" of `{indexed[1]}`" if indexed else ""
    return f"Index {index + 1}{of} is out of range: dimension {axis + 1} has {size} entries."


def below_one(index: str, line: str, part: str, text: str) -> str:
    """Which variable has no such index, and which variable the index came from, as far as the text tells."""
    indexed, source = re.search(rf"(\w+)(?<!__)\[{re.escape(part)}", line), TAKEN_FROM.match(part)
    ahead = COMPUTED_AHEAD.match(line)
    if ahead and not indexed:
        indexed = re.search(rf"(\w+)(?<!__)\[[^\]\n]*\b{ahead[1]}\b", text)
    of = f" of `{indexed[1]}`" if indexed else ""
    taken = f", from `{source[1]}`," if source else ""
    return f"Index {index}{of}{taken} is out of range: indices start at 1."
