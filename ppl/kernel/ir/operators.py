"""Calls of the operators of the language, as passes make them."""

from collections.abc import Callable
from itertools import count

from ppl.kernel.ir import nodes as ir
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import Type

Fresh = Callable[[str], str]
"""Makes a name of a hint."""


def fresh_names(suffix: str = "") -> Fresh:
    """A function that makes names of hints; the suffix sets a pass's names apart from those of others."""
    numbers = count(1)
    return lambda hint: f"{hint.rstrip('_')}_{next(numbers)}{suffix}__"


def binary(op: str, left: ir.Expr, right: ir.Expr, t: Type) -> ir.Apply:
    """An operator of two values of one type, which gives a value of that type: `binary("-", n, one, INT)`."""
    overload = next(o for o in OPERATORS[op].overloads if o.signature == f"({t}, {t}) => {t}")
    return ir.Apply(ir.Callee(OPERATORS[op].name, overload.impl, overload.batch), (left, right), t)
