"""The operators, each also a function under the name that Stan gives it.

Stan Functions Reference, "Integer-valued arithmetic operators", "Real-valued arithmetic operators" and
"Matrix operations".  `OPERATORS` finds the record by the symbol.
"""

from dataclasses import replace

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.errors import InferenceError
from ppl.stdlib.functions import complex_elementary, products, solves
from ppl.stdlib.functions.elementary import power
from ppl.stdlib.record import Function, Impl, and_complex, binary, elementwise, leading, overloads_of

LOWEST_INT, LARGEST_INT = -(2**31), 2**31 - 1
"""Stan's int has 32 bits."""
CONTAINERS = ("vector", "row_vector", "matrix")
OF_COMPLEX = "(complex, complex) => int"
INTS = ("(int, int) => int",)
NUMBERS = (*INTS, "(real, real) => int")


def _arithmetic(name: str, meaning: str, impl: Impl, on_ints: Impl | None = None) -> Function:
    """An elementwise operator of two scalars, a scalar and a container, or two containers alike."""
    pairs = [("(int, int) => int", on_ints or impl), ("(real, real) => real", impl)]
    for c in CONTAINERS:
        pairs += [(f"(real, {c}) => {c}", impl), (f"({c}, real) => {c}", impl), (f"({c}, {c}) => {c}", impl)]
    return and_complex(elementwise(name, meaning, *pairs))


def _predicate(name: str, meaning: str, impl: Impl, signatures: tuple[str, ...] = NUMBERS) -> Function:
    """0 or 1; two ints are compared as ints."""
    return elementwise(name, meaning, *[(s, impl) for s in signatures])


def elt_multiply(xp: Namespace, a: Array, b: Array) -> Array:
    return a * b


def elt_divide(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.np.true_divide(a, b)  # `/` of two Python floats raises where IEEE says inf or nan


def int_divide(xp: Namespace, a: Array, b: Array) -> Array:
    """Division that truncates toward zero, as C does it."""
    if np.size(a) and np.any(b == 0):  # a loop of no iterations divides nothing
        raise InferenceError("integer division by zero: the divisor must not be 0")
    quotient = a // b
    return quotient + 1 * ((quotient < 0) & (quotient * b != a))


def modulus(xp: Namespace, a: Array, b: Array) -> Array:
    """The remainder of int_divide: it has the sign of the dividend."""
    return a - b * int_divide(xp, a, b)


def require_int(xp: Namespace, x: Array) -> Array:
    """The result of int arithmetic, which 32 bits must hold; a traced one wraps, as Stan's ints do.

    Raises:
        OverflowError: they do not; it gets its place in the program as other errors of arithmetic.
    """
    if not isinstance(x, int | np.integer | np.ndarray):
        return (x + 2**31) % 2**32 - 2**31
    low, high = (x.min(initial=0), x.max(initial=0)) if isinstance(x, np.ndarray) else (x, x)
    if low < LOWEST_INT or high > LARGEST_INT:
        raise OverflowError(
            f"Integer overflow: the result is {low if low < LOWEST_INT else high}, but an int is from "
            f"{LOWEST_INT} to {LARGEST_INT}.\nCompute it with reals."
        )
    return x


def minus(xp: Namespace, x: Array) -> Array:
    return -x


def plus(xp: Namespace, x: Array) -> Array:
    return x


def logical_negation(xp: Namespace, x: Array) -> Array:
    return 1 * (x == 0)


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
    "+": _arithmetic("add", "the sum", lambda xp, a, b: a + b),
    "-": _arithmetic("subtract", "the difference", lambda xp, a, b: a - b),
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
    ".*": _arithmetic("elt_multiply", "the elementwise product", elt_multiply),
    "./": _arithmetic("elt_divide", "the elementwise quotient", elt_divide, int_divide),
    "^": POW,
    ".^": POW,
    "==": _predicate("logical_eq", "1 if equal", lambda xp, a, b: 1 * (a == b), (*NUMBERS, OF_COMPLEX)),
    "!=": _predicate("logical_neq", "1 if not equal", lambda xp, a, b: 1 * (a != b), (*NUMBERS, OF_COMPLEX)),
    "<": _predicate("logical_lt", "1 if less", lambda xp, a, b: 1 * (a < b)),
    "<=": _predicate("logical_lte", "1 if less or equal", lambda xp, a, b: 1 * (a <= b)),
    ">": _predicate("logical_gt", "1 if greater", lambda xp, a, b: 1 * (a > b)),
    ">=": _predicate("logical_gte", "1 if greater or equal", lambda xp, a, b: 1 * (a >= b)),
    "&&": _predicate("logical_and", "1 if neither is 0", lambda xp, a, b: 1 * ((a != 0) & (b != 0)), INTS),
    "||": _predicate("logical_or", "1 if one is not 0", lambda xp, a, b: 1 * ((a != 0) | (b != 0)), INTS),
    "unary -": elementwise("minus", "the negative", *[(f"({t}) => {t}", minus) for t in ("I", "T", "C")]),
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
