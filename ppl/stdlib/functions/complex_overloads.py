"""Which functions of reals take complex numbers too: the same implementation, or one of their own."""

from dataclasses import replace

from ppl.stdlib.functions import complex_decompositions, complex_elementary, complex_products
from ppl.stdlib.record import Function, Overload, and_complex

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
    **complex_products.OVERLOADS,
    **complex_decompositions.OVERLOADS,
}


def with_complex(f: Function) -> Function:
    """The function with what it is for complex numbers, where Stan has that."""
    whole = and_complex(f) if f.name in AS_FOR_REALS else f
    known = {o.signature for o in whole.overloads}
    more = (o for o in OF_THEIR_OWN.get(f.name, ()) if o.signature not in known)
    return replace(whole, overloads=(*whole.overloads, *more))
