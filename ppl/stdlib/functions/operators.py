"""The operators, each also a function under the name that Stan gives it.

Stan Functions Reference, "Integer-valued arithmetic operators", "Real-valued arithmetic operators" and
"Matrix operations".  `OPERATORS` finds the record by the symbol.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.errors import InferenceError
from ppl.stdlib.functions import complex_elementary, products, solves
from ppl.stdlib.functions.powers import power
from ppl.stdlib.record import Function, Impl, and_complex, binary, elementwise, leading, overloads_of

CONTAINERS = ("vector", "row_vector", "matrix")
COMPLEX_TOO = ("(complex, complex) => int",)


def _arithmetic(name: str, meaning: str, impl: Impl, on_ints: Impl) -> Function:
    """An elementwise operator of two scalars, a scalar and a container, or two containers alike."""
    pairs = [("(int, int) => int", on_ints), ("(real, real) => real", impl)]
    for c in CONTAINERS:
        pairs += [(f"(real, {c}) => {c}", impl), (f"({c}, real) => {c}", impl), (f"({c}, {c}) => {c}", impl)]
    return and_complex(elementwise(name, meaning, *pairs))


def _comparison(
    name: str, meaning: str, compare: Callable[[Array, Array], Array], more: tuple[str, ...] = ()
) -> Function:
    """0 or 1; two ints are compared as ints."""

    def impl(xp: Namespace, a: Array, b: Array) -> Array:
        return 1 * compare(a, b)

    signatures = ("(int, int) => int", "(real, real) => int", *more)
    return elementwise(name, meaning, *[(s, impl) for s in signatures])


def add(xp: Namespace, a: Array, b: Array) -> Array:
    return a + b


def subtract(xp: Namespace, a: Array, b: Array) -> Array:
    return a - b


def elt_multiply(xp: Namespace, a: Array, b: Array) -> Array:
    return a * b


def elt_divide(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.np.true_divide(a, b)  # `/` of two Python floats raises where IEEE says inf or nan


def int_divide(xp: Namespace, a: Array, b: Array) -> Array:
    """Division that truncates toward zero, as C does it."""
    _refuse_zero(b)
    quotient = a // b
    return quotient + 1 * ((quotient < 0) & (quotient * b != a))


def modulus(xp: Namespace, a: Array, b: Array) -> Array:
    """The remainder of int_divide: it has the sign of the dividend."""
    return a - b * int_divide(xp, a, b)


def _refuse_zero(divisor: Array) -> None:
    if np.any(divisor == 0):
        raise InferenceError("integer division by zero: the divisor must not be 0")


def wrap_int(xp: Namespace, x: Array) -> Array:
    """What 32 bits hold of a result that may be too large for them, as Stan's ints do."""
    return (x + 2**31) % 2**32 - 2**31


def minus(xp: Namespace, x: Array) -> Array:
    return -x


def plus(xp: Namespace, x: Array) -> Array:
    return x


def logical_negation(xp: Namespace, x: Array) -> Array:
    return 1 * (x == 0)


def logical_and(xp: Namespace, a: Array, b: Array) -> Array:
    return 1 * ((a != 0) & (b != 0))


def logical_or(xp: Namespace, a: Array, b: Array) -> Array:
    return 1 * ((a != 0) | (b != 0))


SCALINGS = tuple(s for c in CONTAINERS for s in (f"(real, {c}) => {c}", f"({c}, real) => {c}"))

MULTIPLY = and_complex(
    Function(
        "multiply",
        "the product",
        overloads_of(
            "elementwise",
            *[(s, elt_multiply) for s in ("(int, int) => int", "(real, real) => real", *SCALINGS)],
        )
        + overloads_of(
            "leading",
            ("(row_vector, vector) => real", products.inner),
            ("(vector, row_vector) => matrix", products.outer),
            ("(matrix, vector) => vector", products.matrix_vector),
            ("(row_vector, matrix) => row_vector", products.vector_matrix),
            ("(matrix, matrix) => matrix", products.matrix_matrix),
        ),
    )
)
MDIVIDE_RIGHT = and_complex(
    leading(
        "mdivide_right",
        "b A^-1, by solving",
        ("(row_vector, matrix) => row_vector", solves.mdivide_right_row),
        ("(matrix, matrix) => matrix", solves.mdivide_right),
    )
)
DIVIDE = and_complex(
    elementwise(
        "divide",
        "the quotient; of two ints, truncated toward zero",
        ("(int, int) => int", int_divide),
        *[(s, elt_divide) for s in ("(real, real) => real", *SCALINGS)],
    )
)
REAL_POW = binary("pow", "x to the power y", power)
POW = replace(REAL_POW, overloads=(*REAL_POW.overloads, *complex_elementary.OVERLOADS["pow"]))
TRANSPOSE = and_complex(
    Function(
        "transpose",
        "the transpose",
        overloads_of("elementwise", ("(vector) => row_vector", plus), ("(row_vector) => vector", plus))
        + overloads_of("leading", ("(matrix) => matrix", products.transposed)),
    )
)

OPERATORS: dict[str, Function] = {
    "+": _arithmetic("add", "the sum", add, add),
    "-": _arithmetic("subtract", "the difference", subtract, subtract),
    "*": MULTIPLY,
    "/": Function("divide", DIVIDE.meaning, DIVIDE.overloads + MDIVIDE_RIGHT.overloads),
    "%/%": elementwise("int_divide", "the quotient truncated toward zero", ("(int, int) => int", int_divide)),
    "%": elementwise(
        "modulus", "the remainder, with the sign of the dividend", ("(int, int) => int", modulus)
    ),
    "\\": leading(
        "mdivide_left",
        "A^-1 b, by solving",
        ("(matrix, vector) => vector", solves.solve_vector),
        ("(matrix, matrix) => matrix", solves.solve),
    ),
    ".*": _arithmetic("elt_multiply", "the elementwise product", elt_multiply, elt_multiply),
    "./": _arithmetic("elt_divide", "the elementwise quotient", elt_divide, int_divide),
    "^": POW,
    ".^": POW,
    "==": _comparison("logical_eq", "1 if equal", lambda a, b: a == b, COMPLEX_TOO),
    "!=": _comparison("logical_neq", "1 if not equal", lambda a, b: a != b, COMPLEX_TOO),
    "<": _comparison("logical_lt", "1 if less", lambda a, b: a < b),
    "<=": _comparison("logical_lte", "1 if less or equal", lambda a, b: a <= b),
    ">": _comparison("logical_gt", "1 if greater", lambda a, b: a > b),
    ">=": _comparison("logical_gte", "1 if greater or equal", lambda a, b: a >= b),
    "&&": elementwise("logical_and", "1 if neither is 0", ("(int, int) => int", logical_and)),
    "||": elementwise("logical_or", "1 if one is not 0", ("(int, int) => int", logical_or)),
    "unary -": elementwise(
        "minus", "the negative", ("(I) => I", minus), ("(T) => T", minus), ("(C) => C", minus)
    ),
    "unary +": elementwise(
        "plus",
        "the argument itself",
        *[(f"({t}) => {t}", plus) for t in ("int", "real", "complex", *CONTAINERS)],
    ),
    "unary !": elementwise("logical_negation", "1 if the argument is 0", ("(int) => int", logical_negation)),
    "'": TRANSPOSE,
}

FUNCTIONS: tuple[Function, ...] = (
    DIVIDE,
    MDIVIDE_RIGHT,
    *dict.fromkeys(f for symbol, f in OPERATORS.items() if symbol not in ("/", "%/%")),
)
