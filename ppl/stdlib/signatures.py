"""Which overload a call means: signatures, their small notation, promotion and choice.

A signature is written "(vector, real) => vector".  Beside the types of the language it may use classes:

    reals      int, real, one-dimensional array of either, vector, row_vector
    ints       int, array[] int
    vectors    vector, row_vector, array[] vector, array[] row_vector
    T          a scalar or any container of reals or ints; all containers under T in one signature agree;
               as a result, that container with ints made real
    I          the same for ints: beside a container T it has T's shape
    C          a complex number or any container of them; all containers under C in one signature agree, and
               reals and ints are made complex.  A result C of arguments T is that container made complex, a
               result T of arguments C that of its real parts
    E          any type, the same everywhere in the signature; array[..] E is an array of any depth
    R          as a result of an rng: a scalar when all arguments are scalars, else array[] of it

An int goes where a real is wanted, and either where a complex number is, at a cost; the cheapest overload is
meant.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from ppl.records import dataclass
from ppl.stdlib.record import Distribution, Function, Overload
from ppl.types import (
    COMPLEX,
    INT,
    NAMED,
    REAL,
    ROW_VECTOR,
    VECTOR,
    VOID,
    ArrayType,
    Tuple,
    Type,
    array_dims,
    array_of,
    complex_of,
    core,
    is_complex,
    is_tuple,
    rank,
    real_of,
)

CalleeKind = Literal["function", "density", "cdf", "rng", "jacobian"]

CLASSES: Mapping[str, str] = {
    "reals": "int, real, array[] of either, vector or row_vector",
    "ints": "int or array[] int",
    "vectors": "vector, row_vector, or array[] of either",
    "T": "a scalar or any container, the same at every T; ints count as reals",
    "I": "an int or any array of ints",
    "C": "a complex number or any container of them; ints and reals count as complex",
    "E": "any type, the same at every E",
    "R": "a scalar if all arguments are, else an array",
}
REALS = (INT, REAL, ArrayType(INT), ArrayType(REAL), VECTOR, ROW_VECTOR)
VECTORS = (VECTOR, ROW_VECTOR, ArrayType(VECTOR), ArrayType(ROW_VECTOR))


@dataclass(frozen=True)
class Pattern:
    """`base` under `dims` array axes; -1 stands for any number of them, at least one."""

    base: Type | str
    dims: int = 0


@dataclass(frozen=True)
class Signature:
    args: tuple[Pattern, ...]
    result: Pattern


@dataclass(frozen=True)
class Callee:
    """The function or distribution that a name in a call stands for."""

    name: str
    kind: CalleeKind
    record: Function | Distribution
    overloads: tuple[Overload, ...]


@dataclass(frozen=True)
class Match:
    """The overload a call means, and its result."""

    callee: Callee
    overload: Overload
    args: tuple[Type, ...]
    returns: Type


# --- Reading the notation ------------------------------------------------------------------------


def split_commas(text: str) -> list[str]:
    """Split at commas outside brackets."""
    depth, start, parts = 0, 0, []
    for i, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    tail = text[start:].strip()
    return [*parts, tail] if tail else parts


def parse_pattern(text: str) -> Pattern:
    array = re.fullmatch(r"array\[([,.]*)\]\s*(.+)", text)
    if array:
        inner = parse_pattern(array[2])
        return Pattern(inner.base, -1 if array[1] == ".." else inner.dims + len(array[1]) + 1)
    if text.startswith("tuple("):
        items = [parse_pattern(part) for part in split_commas(text[6:-1])]
        return Pattern(Tuple(tuple(as_type(item) for item in items)))
    return Pattern(text if text in CLASSES else NAMED[text])


def as_type(pattern: Pattern) -> Type:
    """A pattern without classes as the type it is."""
    assert not isinstance(pattern.base, str), f"{pattern} stands for many types"
    return array_of(pattern.base, pattern.dims)


@cache
def parse_signature(text: str) -> Signature:
    args, result = text.split("=>")
    inner = args.strip()[1:-1]
    return Signature(tuple(map(parse_pattern, split_commas(inner))), parse_pattern(result.strip()))


# --- Matching ------------------------------------------------------------------------------------

Bindings = dict[str, Type]


def promotes(actual: Type, required: Type) -> int | None:
    """0 when equal, else how far ints and reals must rise to become reals or complex; None if they cannot."""
    if actual == required:
        return 0
    if isinstance(actual, Tuple) and isinstance(required, Tuple) and len(actual.items) == len(required.items):
        costs = [promotes(a, w) for a, w in zip(actual.items, required.items, strict=True)]
        return None if None in costs else sum(c for c in costs if c)
    if is_tuple(actual) and is_tuple(required) and array_dims(actual) == array_dims(required) > 0:
        return promotes(core(actual), core(required))
    if realised(actual) == required:
        return 1
    if not is_complex(actual) and complex_of(actual) == required:
        return 2 if core(actual) == INT else 1
    return None


def realised(t: Type) -> Type:
    """The type with ints made real."""
    return array_of(REAL, array_dims(t)) if core(t) == INT else t


def match_pattern(pattern: Pattern, actual: Type, bound: Bindings) -> int | None:
    """The cost of `actual` under `pattern`, recording what classes stand for; None if it does not fit."""
    match pattern:
        case Pattern("reals", 0):
            return int(core(actual) == INT) if actual in REALS else None
        case Pattern("ints", 0):
            return 0 if actual in (INT, ArrayType(INT)) else None
        case Pattern("vectors", 0):
            return 0 if actual in VECTORS else None
        case Pattern("T", 0):
            return match_container(actual, bound)
        case Pattern("I", 0):
            return match_int_container(actual, bound)
        case Pattern("C", 0):
            return match_complex_container(actual, bound)
        case Pattern("E", dims):
            return match_element(actual, dims, bound)
        case _:
            return promotes(actual, as_type(pattern))


def match_container(actual: Type, bound: Bindings) -> int | None:
    if actual == VOID or isinstance(core(actual), Tuple) or is_complex(actual):
        return None
    shape, cost = realised(actual), int(core(actual) == INT)
    if shape == REAL:
        return cost
    fits = bound.setdefault("T", shape) == shape and rank(bound.get("I", shape)) == rank(shape)
    return cost if fits else None


def match_int_container(actual: Type, bound: Bindings) -> int | None:
    if core(actual) != INT or actual == INT:
        return 0 if actual == INT else None
    fits = rank(bound.get("T", actual)) == rank(actual) and bound.setdefault("I", actual) == actual
    return 0 if fits else None


def match_complex_container(actual: Type, bound: Bindings) -> int | None:
    shape = complex_of(actual)
    cost = promotes(actual, shape) if is_complex(shape) else None
    if shape == COMPLEX or cost is None:
        return cost
    return cost if bound.setdefault("C", shape) == shape else None


def match_element(actual: Type, dims: int, bound: Bindings) -> int | None:
    have = array_dims(actual)
    if have < abs(dims) or actual == VOID:
        return None
    element = actual if dims == -1 else array_of(core(actual), have - dims)
    known = bound.setdefault("E", element)
    if promotes(known, element) is not None:
        bound["E"] = element
    elif promotes(element, known) is None:
        return None
    return int(known != element)


def result_type(pattern: Pattern, bound: Bindings) -> Type:
    match pattern.base:
        case "T":
            ints = bound.get("I")
            of_parts = real_of(bound.get("C", COMPLEX))
            base = bound.get("T", realised(ints) if ints is not None else of_parts)
        case "C":
            base = bound.get("C", complex_of(bound.get("T", REAL)))
        case "I":
            base = bound.get("I", INT)
        case "E":
            base = bound["E"]
        case str():
            raise AssertionError(f"no result is written {pattern.base!r}")
        case known:
            base = known
    return base if pattern.dims == -1 else array_of(base, pattern.dims)


def fit(callee: Callee, overload: Overload, args: Sequence[Type]) -> tuple[int, Match] | None:
    """The cost of calling this overload with these types, and what it gives."""
    signature = parse_signature(overload.signature)
    if len(signature.args) != len(args):
        return None
    bound: Bindings = {}
    costs = [match_pattern(p, a, bound) for p, a in zip(signature.args, args, strict=True)]
    if any(c is None for c in costs):
        return None
    if signature.result.base == "R":
        scalar = INT if isinstance(callee.record, Distribution) and callee.record.discrete else REAL
        returns = scalar if all(a in (INT, REAL) for a in args) else ArrayType(scalar)
    else:
        returns = result_type(signature.result, bound)
    return sum(c or 0 for c in costs), Match(callee, overload, tuple(args), returns)


def choose(callee: Callee, args: Sequence[Type]) -> Match | None:
    """The overload with the fewest promotions; None if none fits."""
    fits = [match for o in callee.overloads if (match := fit(callee, o, args)) is not None]
    return min(fits, key=lambda pair: pair[0])[1] if fits else None
