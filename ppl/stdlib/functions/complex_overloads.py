"""Which functions of reals take complex numbers too: the same implementation, or one of their own."""

from dataclasses import replace
from functools import partial

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions import complex_decompositions, complex_elementary
from ppl.stdlib.functions.complex_parts import conj
from ppl.stdlib.functions.products import inner, transposed
from ppl.stdlib.functions.sums import spread
from ppl.stdlib.record import Function, Overload, and_complex, overloads_of

SIDES = ("complex_vector", "complex_row_vector")
PAIRS = (*((a, b) for a in SIDES for b in SIDES), ("array[] complex", "array[] complex"))


def dot_product(xp: Namespace, x: Array, y: Array) -> Array:
    return inner(xp, conj(xp, x), y)


@with_vjps(lambda xp, g, ans, x: 2.0 * xp.np.real(spread(xp, g)) * xp.np.conj(x))
def dot_self(xp: Namespace, x: Array) -> Array:
    """The sum of |x|^2, complex without an imaginary part."""
    return xp.np.sum(x * xp.np.conj(x), axis=-1)


def columns_dot_self(xp: Namespace, x: Array) -> Array:
    return dot_self(xp, transposed(xp, x))


def one_dot_self(xp: Namespace, x: Array) -> Array:
    """Of a vector, which is one line."""
    return spread(xp, dot_self(xp, x))


def each_dot_self(xp: Namespace, x: Array) -> Array:
    """Of a vector whose elements are a line each."""
    return dot_self(xp, spread(xp, x))


def hermitian_from_lower_tri(xp: Namespace, m: Array) -> Array:
    """As in Stan the diagonal stays as it is."""
    return xp.np.tril(m) + conj(xp, transposed(xp, xp.np.tril(m, -1)))


_overloads = partial(overloads_of, "leading")

OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "dot_product": _overloads(*[(f"({a}, {b}) => complex", dot_product) for a, b in PAIRS]),
    "dot_self": _overloads(*[(f"({side}) => complex", dot_self) for side in SIDES]),
    "columns_dot_self": _overloads(
        ("(complex_vector) => complex_row_vector", one_dot_self),
        ("(complex_row_vector) => complex_row_vector", each_dot_self),
        ("(complex_matrix) => complex_row_vector", columns_dot_self),
    ),
    "rows_dot_self": _overloads(
        ("(complex_vector) => complex_vector", each_dot_self),
        ("(complex_row_vector) => complex_vector", one_dot_self),
        ("(complex_matrix) => complex_vector", dot_self),
    ),
    "symmetrize_from_lower_tri": _overloads(("(complex_matrix) => complex_matrix", hermitian_from_lower_tri)),
}
"""The functions of real containers for complex ones, by their names."""


AS_FOR_REALS = frozenset(
    (
        *("append_col", "append_row", "block", "col", "diagonal", "head", "reverse", "row", "segment"),
        *("sub_col", "sub_row", "tail", "add_diag", "diag_matrix", "rep_matrix", "rep_row_vector"),
        *("rep_vector", "diag_post_multiply", "diag_pre_multiply", "trace", "columns_dot_product"),
        *("rows_dot_product", "cumulative_sum", "prod", "sum", "cols", "dims", "num_elements", "rows"),
        *("size", "to_array_1d", "to_array_2d", "to_matrix", "to_row_vector", "to_vector"),
    )
)
"""Functions whose implementations do for complex numbers as they stand."""

OF_THEIR_OWN: dict[str, tuple[Overload, ...]] = {
    **complex_elementary.OVERLOADS,
    **OVERLOADS,
    **complex_decompositions.OVERLOADS,
}


def with_complex(f: Function) -> Function:
    """The function with what it is for complex numbers, where Stan has that."""
    whole = and_complex(f) if f.name in AS_FOR_REALS else f
    known = {o.signature for o in whole.overloads}
    more = (o for o in OF_THEIR_OWN.get(f.name, ()) if o.signature not in known)
    return replace(whole, overloads=(*whole.overloads, *more))
