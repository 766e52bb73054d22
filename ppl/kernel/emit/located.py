"""Errors of emitted code at their place in the program."""

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ppl.errors import InferenceError, Rejection
from ppl.kernel.emit.load import Module

OUT_OF_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")
# A name that ends in two underscores is none of the program's.
INDEXED = re.compile(r"(?:lib\.put\()?(\w+)(?<!__)[\[,]")
BELOW_ONE = re.compile(r"The index (-?\d+) is out of range: indices start at 1")
TAKEN_FROM = re.compile(r"lib\.zero_based\(([^\W\d]\w*)(?<!__)[)\[,]")
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
        span = module.span_of(error)
        raise Rejection(f"{span.describe()}\n{error}" if span else str(error)) from error.__cause__
    except (MemoryError, RecursionError) as error:
        span = module.span_of(error)
        if span is None:
            raise
        raise InferenceError(f"{span.describe()}\n{not_traceable(error)}", "PPL977") from None
    except (IndexError, ValueError, ArithmeticError) as error:
        span = module.span_of(error)
        if span is None:
            raise
        raise InferenceError(f"{span.describe()}\n{in_words(module, error)}", "PPL973") from error


def not_traceable(error: MemoryError | RecursionError) -> str:
    """The message for a statement that exhausts memory or the stack."""
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
    shapes = next((m for pattern in MISMATCHES if (m := pattern.search(complaint))), None)
    return shapes and tuple(f"[{size.strip('(),')}]" for size in shapes.groups())


def in_words(module: Module, error: Exception) -> str:
    """NumPy's complaint about an index or sizes, as the program counts them; other errors as they are."""
    line, part = module.text_of(error)
    if (sizes := mismatch(str(error))) is not None:
        return f"Sizes do not match: {sizes[0]} and {sizes[1]}. {LOOK_AT_SIZES}"
    if (below := BELOW_ONE.match(str(error))) is not None:
        return below_one(module, error, below[1])
    bounds = OUT_OF_BOUNDS.search(str(error))
    if bounds is None:
        sized = SIZED.match(line)
        return f"Wrong size of `{sized[1]}`. {error}" if sized and sized[2] == part else str(error)
    index, axis, size = map(int, bounds.groups())
    indexed = INDEXED.match(part)
    of = f" of `{indexed[1]}`" if indexed else ""
    return f"Index {index + 1}{of} is out of range: dimension {axis + 1} has {size} entries."


def below_one(module: Module, error: Exception, index: str) -> str:
    """Which variable has no such index, its size, and which variable the index came from, as far as the text
    tells.
    """
    line, part = module.text_of(error)
    source, ahead = TAKEN_FROM.match(part), COMPUTED_AHEAD.match(line)
    readers = [text.strip() for text in module.emitted.text.split("\n")] if ahead else [line]
    place = next(filter(None, (indexed_by(ahead[1] if ahead else part, text) for text in readers)), None)
    of = f" of `{place[0]}`" if place else ""
    taken = f", from `{source[1]}`," if source else ""
    size = size_of(module, error, *place) if place else None
    if not place or size is None:
        return f"Index {index}{of}{taken} is out of range: indices start at 1."
    end = "; none is counted from the end" if int(index) < 0 else ""
    return f"Index {index}{of}{taken} is out of range: dimension {place[1] + 1} has entries 1 to {size}{end}."


def indexed_by(part: str, line: str) -> tuple[str, int] | None:
    """The variable, and its axis, that a part of an emitted line is an index of."""
    if part not in line:
        return None
    try:
        nodes = [*ast.walk(ast.parse(f"{line} pass" if line.endswith(":") else line))]
    except SyntaxError:
        return None
    for node in reversed(nodes):  # the innermost first
        match node:
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=index):
                pass
            case ast.Call(func=ast.Attribute(attr="put"), args=[ast.Name(id=name), index, *_]):
                pass
            case _:
                continue
        items = index.elts if isinstance(index, ast.Tuple) else [index]
        texts = [ast.get_source_segment(line, item) or "" for item in items]
        axis = next((k for k, text in enumerate(texts) if part in text), None)
        if axis is not None and not name.endswith("__"):
            return name, axis
    return None


def size_of(module: Module, error: Exception, name: str, axis: int) -> int | None:
    """The size of an axis of a variable where emitted code failed: of its value, else as it is declared."""
    variables = module.variables_of(error)
    d = variables.get("d")
    value = variables.get(name, getattr(d, name, None))
    if value is not None:
        return int(np.shape(value)[axis])
    declared = re.search(rf"^    (declare\('\w+', '{name}', .*\))$", module.emitted.text, re.MULTILINE)
    if declared is None:
        return None
    call = ast.parse(declared[1], mode="eval").body
    assert isinstance(call, ast.Call)
    sizes = [size for argument in call.args[2:4] if isinstance(argument, ast.Tuple) for size in argument.elts]
    match sizes[axis]:
        case ast.Constant(value=int(size)):
            return size
        case ast.Name(id=size_name):
            return getattr(d, size_name, None)
    return None
