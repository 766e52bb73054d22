"""Calls in a formula, such as `log(dose + 1)`, as expressions of the language for one row."""

from collections.abc import Callable, Set
from typing import Any

import numpy as np

from ppl.errors import ArgumentError
from ppl.records import dataclass
from ppl.stdlib.functions.operators import LARGEST_INT

FUNCTIONS = ("log", "log10", "log2", "log1p", "exp", "expm1", "sqrt", "abs")
"""Functions with the same name in NumPy and in the language."""
NAMESPACE = {name: getattr(np, name) for name in FUNCTIONS} | {"np": np, "numpy": np}
"""The functions that a formula may call, for formulae."""

ATOMIC = 10
"""A level of binding above those of all operators."""
BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}


@dataclass(frozen=True)
class ExpressionText:
    """An expression: how tightly its outermost operator binds, and whether it is an int."""

    text: str
    binding: int = ATOMIC
    is_int: bool = False

    def within(self, binding: int) -> str:
        return self.text if self.binding >= binding else f"({self.text})"


def expression(tree: Any, row: Callable[[str], str], ints: Set[str]) -> ExpressionText:
    """The text of a tree of formulae; `row` is the text of a variable, `ints` are those declared as ints.

    Raises:
        ArgumentError: the program has nothing that corresponds to it.
    """
    match type(tree).__name__:
        case "LazyVariable":
            return ExpressionText(row(tree.name), is_int=tree.name in ints)
        case "LazyValue" if isinstance(tree.value, int | float):
            is_int = isinstance(tree.value, int) and abs(tree.value) <= LARGEST_INT
            return ExpressionText(f"{tree.value}" if is_int else number(tree.value, 15), is_int=is_int)
        case "LazyOperator" if tree.symbol in BINDING:
            return operation(tree.symbol, [expression(arg, row, ints) for arg in tree.args])
        case "LazyCall" if not tree.kwargs and len(tree.args) == 1:
            return call(tree, expression(tree.args[0], row, ints))
    raise ArgumentError(f"`{tree}` in a formula is unsupported. {SUPPORTED}")


def operation(sign: str, args: list[ExpressionText]) -> ExpressionText:
    """Numbers of a formula are real: what would be a division of ints is written as one of reals."""
    binding = BINDING[sign]
    is_int = all(arg.is_int for arg in args) and sign != "**"
    if len(args) == 1:
        return ExpressionText(f"{sign}{args[0].within(3)}", 3, is_int)
    left, right = args
    if sign == "/" and is_int:
        left = ExpressionText(f"1.0 * {left.within(2)}", 2)
    sign = {"**": "^"}.get(sign, sign)
    pad = "" if sign == "^" else " "
    text = f"{left.within(binding + (sign == '^'))}{pad}{sign}{pad}{right.within(binding + (sign != '^'))}"
    return ExpressionText(text, binding, is_int and sign != "/")


def call(tree: Any, inner: ExpressionText) -> ExpressionText:
    name = tree.callee.removeprefix("np.").removeprefix("numpy.")
    state = tree.stateful_transform
    match name:
        case "I" | "offset":
            return inner
        case "center":
            return shifted(inner, state.mean, np.nan)
        case "scale" | "standardize":
            return ExpressionText(
                f"{shifted(inner, state.mean, state.std).within(3)} / {number(state.std, 4)}", 2
            )
        case _ if name in FUNCTIONS:
            return ExpressionText(f"{name}({inner.text})")
    raise ArgumentError(f"`{tree}` in a formula is unsupported. {SUPPORTED}")


SUPPORTED = f"Supported are arithmetic in I() or {{}}, C, center, scale, offset, {', '.join(FUNCTIONS)}."


def shifted(inner: ExpressionText, centre: float, sd: float) -> ExpressionText:
    """An expression minus a number, which is written to a small part of the standard deviation."""
    by = number(centre, 6)
    sign = "+" if centre < 0 else "-"
    return inner if float(by) == 0 else ExpressionText(f"{inner.within(1)} {sign} {by.lstrip('-')}", 1)


def number(x: float, digits: int) -> str:
    """A number with as many significant digits, as the language writes it: real beyond its ints."""
    text = f"{float(f'{x:.{digits}g}') + 0.0:.15g}"  # -0 as 0
    return f"{text}.0" if abs(x) > LARGEST_INT and text.lstrip("-").isdigit() else text
