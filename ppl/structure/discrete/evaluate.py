"""The values of int expressions that data tell: indices, loop bounds, conditions."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import NUMPY
from ppl.errors import InferenceError
from ppl.kernel.language import ast
from ppl.kernel.language.calls import operator
from ppl.types import INT, REAL

KnownValues = Mapping[str, Any]


class NotKnown(Exception):
    """The expression needs a value that is not among those given, or a function that is not looked into."""


def evaluate(e: ast.Expr, values: KnownValues) -> Any:
    """The value of an expression: an int, a float, or an array.

    Raises:
        NotKnown: a variable is not among `values`.
    """
    match e:
        case ast.IntLiteral(value=value):
            return value
        case ast.RealLiteral(text=text):
            return float(text)
        case ast.Variable(name=name):
            if name not in values:
                raise NotKnown(name)
            return values[name]
        case ast.Unary(op=op, operand=operand):
            return applied(op, evaluate(operand, values))
        case ast.Binary(op="&&", left=left, right=right):
            return int(bool(scalar(left, values)) and bool(scalar(right, values)))
        case ast.Binary(op="||", left=left, right=right):
            return int(bool(scalar(left, values)) or bool(scalar(right, values)))
        case ast.Binary(op=op, left=left, right=right):
            return applied(op, scalar(left, values), scalar(right, values))
        case ast.Ternary(condition=condition, then=then, otherwise=otherwise):
            return evaluate(then if scalar(condition, values) else otherwise, values)
        case ast.Indexed(base=base, indices=indices):
            return entry(evaluate(base, values), indices, values)
        case ast.ArrayLiteral(items=items):
            return np.array([evaluate(item, values) for item in items])
        case ast.Call(name=name, args=args) if name in FUNCTIONS:
            return FUNCTIONS[name](*(evaluate(a, values) for a in args))
        case _:
            raise NotKnown("an expression")


def known_value(e: ast.Expr, values: KnownValues) -> Any:
    """The value, or None where it is not known."""
    try:
        return evaluate(e, values)
    except NotKnown:
        return None


def scalar(e: ast.Expr, values: KnownValues) -> Any:
    value = evaluate(e, values)
    if np.ndim(value):
        raise NotKnown("a container")
    return value if isinstance(value, int | float) else value.item()


def applied(op: str, *operands: Any) -> Any:
    """The value of an operator by its function in the library; not known where that is not finite."""
    result = operator(op, [INT if isinstance(x, int) else REAL for x in operands])
    if result is None:
        raise NotKnown(op)
    try:
        with np.errstate(all="ignore"):
            numbers = operands if result.returns == INT else map(np.float64, operands)
            value = result.overload.impl(NUMPY, *numbers)
    except InferenceError:  # a division by zero
        raise NotKnown(op) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise NotKnown(op)
    return value.item() if isinstance(value, np.generic) else value


def entry(base: Any, indices: tuple[ast.Index, ...], values: KnownValues) -> Any:
    """An entry, or several along one axis."""
    axis = 0
    for index in indices:
        if not np.ndim(base) > axis:
            raise NotKnown("an index too many")
        size = np.shape(base)[axis]
        at = positions(index, size, values)
        if np.any(np.asarray(at) < 0) or np.any(np.asarray(at) >= size):
            raise NotKnown("an index out of range")
        base = np.take(base, at, axis=axis)
        axis += np.ndim(at)
    return base if np.ndim(base) else base.item()


def positions(index: ast.Index, size: int, values: KnownValues) -> Any:
    """From 0."""
    match index:
        case ast.SingleIndex(value=value):
            return np.asarray(evaluate(value, values)) - 1
        case ast.RangeIndex(lower=lower, upper=upper):
            first = 1 if lower is None else scalar(lower, values)
            last = size if upper is None else scalar(upper, values)
            return np.arange(first - 1, last)


def size(x: Any) -> int:
    """Of a matrix the number of its elements; two axes of reals may be one or an array, which say nothing."""
    if np.ndim(x) > 1 and np.asarray(x).dtype.kind == "f":
        raise NotKnown("the size of a matrix")
    return len(x)


def axis(k: int, x: Any) -> int:
    """How long an axis of a matrix is; one axis may be a row's or a column's, which says nothing."""
    if np.ndim(x) != 2:
        raise NotKnown("an axis of a vector")
    return int(np.shape(x)[k])


def smallest(*x: Any) -> Any:
    return np.min(x if len(x) > 1 else x[0]).item()


def largest(*x: Any) -> Any:
    return np.max(x if len(x) > 1 else x[0]).item()


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "size": size,
    "num_elements": lambda x: int(np.size(x)),
    "rows": partial(axis, 0),
    "cols": partial(axis, 1),
    "min": smallest,
    "max": largest,
    "abs": abs,
    "sum": lambda x: np.sum(x).item(),
    "int_step": lambda x: int(x > 0),
    "to_int": lambda x: math.trunc(x),
}
"""Those of ints that a size or an index is commonly made with."""
