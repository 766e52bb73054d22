"""Quadratic forms, traces, cross products and products with diagonal matrices.

Stan Functions Reference, "Dot products and specialized products".  Every function takes leading axes.
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.checks import require
from ppl.stdlib.functions.products import inner, matrix_matrix, matrix_vector, transposed
from ppl.stdlib.functions.sums import SIDES
from ppl.stdlib.functions.symmetric import symmetric_or_nan
from ppl.stdlib.record import Function, leading


def diag_pre_multiply(xp: Namespace, v: Array, m: Array) -> Array:
    return v[..., :, None] * m


def diag_post_multiply(xp: Namespace, m: Array, v: Array) -> Array:
    return m * v[..., None, :]


def quad_form_diag(xp: Namespace, m: Array, v: Array) -> Array:
    return m * (v[..., :, None] * v[..., None, :])


def quad_form(xp: Namespace, a: Array, b: Array) -> Array:
    return matrix_matrix(xp, transposed(xp, b), matrix_matrix(xp, a, b))


def quad_form_vector(xp: Namespace, a: Array, v: Array) -> Array:
    return inner(xp, v, matrix_vector(xp, a, v))


def quad_form_sym(xp: Namespace, a: Array, b: Array) -> Array:
    """B' A B, symmetric to the last digit."""
    form = quad_form(xp, symmetric_or_nan(xp, a), b)
    return 0.5 * (form + transposed(xp, form))


def trace_gen_quad_form(xp: Namespace, d: Array, a: Array, b: Array) -> Array:
    return xp.np.sum(b * matrix_matrix(xp, matrix_matrix(xp, a, b), d), axis=(-1, -2))


@with_vjps(lambda xp, g, ans, a: xp.np.expand_dims(g, (-1, -2)) * np.eye(*a.shape[-2:]))
def trace(xp: Namespace, a: Array) -> Array:
    return xp.np.trace(a, axis1=-2, axis2=-1)


def trace_dot(xp: Namespace, a: Array, b: Array) -> Array:
    """tr(A B) without the product: the sum over A' .* B."""
    (m, n), fits = a.shape[-2:], b.shape[-2:]
    require(fits == (n, m), "trace_dot", f"A is {m} by {n} and B {fits[0]} by {fits[1]}, not {n} by {m}")
    return xp.np.sum(a * transposed(xp, b), axis=(-1, -2))


def crossprod(xp: Namespace, m: Array) -> Array:
    return matrix_matrix(xp, transposed(xp, m), m)


def tcrossprod(xp: Namespace, m: Array) -> Array:
    return matrix_matrix(xp, m, transposed(xp, m))


FUNCTIONS: tuple[Function, ...] = (
    leading(
        "diag_pre_multiply", "diag(v) M", *[(f"({v}, matrix) => matrix", diag_pre_multiply) for v in SIDES]
    ),
    leading(
        "diag_post_multiply", "M diag(v)", *[(f"(matrix, {v}) => matrix", diag_post_multiply) for v in SIDES]
    ),
    leading(
        "quad_form_diag", "diag(v) M diag(v)", *[(f"(matrix, {v}) => matrix", quad_form_diag) for v in SIDES]
    ),
    leading(
        "quad_form",
        "B' A B",
        ("(matrix, vector) => real", quad_form_vector),
        ("(matrix, matrix) => matrix", quad_form),
    ),
    leading(
        "quad_form_sym",
        "B' A B for symmetric A",
        ("(matrix, vector) => real", lambda xp, a, v: quad_form_vector(xp, symmetric_or_nan(xp, a), v)),
        ("(matrix, matrix) => matrix", quad_form_sym),
    ),
    leading(
        "trace_quad_form",
        "the trace of B' A B",
        ("(matrix, vector) => real", quad_form_vector),
        ("(matrix, matrix) => real", lambda xp, a, b: xp.np.sum(b * matrix_matrix(xp, a, b), axis=(-1, -2))),
    ),
    leading(
        "trace_gen_quad_form",
        "the trace of D B' A B",
        ("(matrix, matrix, matrix) => real", trace_gen_quad_form),
    ),
    leading("trace", "the sum of the diagonal", ("(matrix) => real", trace)),
    leading(
        "trace_dot",
        "the trace of A B",
        ("(matrix, matrix) => real", trace_dot),
    ),
    leading("crossprod", "M' M", ("(matrix) => matrix", crossprod)),
    leading("tcrossprod", "M M'", ("(matrix) => matrix", tcrossprod)),
    leading(
        "multiply_lower_tri_self_transpose",
        "L L' for the lower triangle L of M",
        ("(matrix) => matrix", lambda xp, m: tcrossprod(xp, xp.np.tril(m))),
    ),
)
