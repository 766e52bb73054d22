"""The functions over containers, against what Stan's manual says of them: orders, sizes, ends, refusals.

Gradients and leading axes are the laws' business (test_function_laws.py).
"""

from typing import Any

import numpy as np
import pytest
from autograd.test_util import check_grads
from numpy.testing import assert_array_equal

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.errors import InferenceError
from ppl.stdlib.library import standard
from ppl.stdlib.signatures import choose
from ppl.types import INT, MATRIX, REAL, ROW_VECTOR, VECTOR, ArrayType, Type

M = np.arange(1.0, 7.0).reshape(2, 3)  # [[1, 2, 3], [4, 5, 6]]
V = np.array([3.0, 1.0, 2.0])
REALS, INTS = ArrayType(REAL), ArrayType(INT)


def call(name: str, *typed: tuple[Type, object]):
    """The function at arguments given as (type, value) pairs."""
    match = choose(standard().callees[name], [t for t, _ in typed])
    assert match is not None
    return match.overload.impl(NUMPY, *[x for _, x in typed])


def ints(*values: int) -> list[tuple[Type, object]]:
    return [(INT, v) for v in values]


VALUES = [
    ("size", [(REAL, 2.5)], 1),
    ("size", [(MATRIX, M)], 6),
    ("size", [(ArrayType(VECTOR), M)], 2),
    ("num_elements", [(ArrayType(VECTOR), M)], 6),
    ("rows", [(ROW_VECTOR, V)], 1),
    ("cols", [(ROW_VECTOR, V)], 3),
    ("cols", [(MATRIX, M)], 3),
    ("dims", [(REAL, 2.5)], []),
    ("dims", [(MATRIX, M)], [2, 3]),
    ("dims", [(VECTOR, V)], [3, 1]),
    ("dims", [(ArrayType(ROW_VECTOR), M)], [2, 1, 3]),
    ("to_vector", [(MATRIX, M)], [1, 4, 2, 5, 3, 6]),
    ("to_array_1d", [(MATRIX, M)], [1, 4, 2, 5, 3, 6]),
    ("to_array_1d", [(ArrayType(REAL, 2), M)], [1, 2, 3, 4, 5, 6]),
    ("to_matrix", [(VECTOR, V)], [[3], [1], [2]]),
    ("to_matrix", [(ROW_VECTOR, V)], [[3, 1, 2]]),
    ("to_matrix", [(ArrayType(ROW_VECTOR), M)], M),
    ("to_matrix", [(VECTOR, np.arange(6)), *ints(2, 3)], [[0, 2, 4], [1, 3, 5]]),
    ("to_matrix", [(VECTOR, np.arange(6)), *ints(2, 3, 0)], [[0, 1, 2], [3, 4, 5]]),
    ("to_matrix", [(MATRIX, M), *ints(3, 2)], [[1, 5], [4, 3], [2, 6]]),
    ("to_matrix", [(MATRIX, M), *ints(3, 2, 0)], [[1, 4], [2, 5], [3, 6]]),
    ("to_int", [(REAL, -2.7)], -2),
    ("head", [(VECTOR, V), *ints(2)], [3, 1]),
    ("tail", [(ArrayType(VECTOR), M), *ints(1)], [[4, 5, 6]]),
    ("segment", [(REALS, V), *ints(2, 2)], [1, 2]),
    ("segment", [(VECTOR, V), *ints(4, 0)], []),
    ("reverse", [(ArrayType(VECTOR), M)], M[::-1]),
    ("reverse", [(VECTOR, V)], [2, 1, 3]),
    ("row", [(MATRIX, M), *ints(2)], [4, 5, 6]),
    ("col", [(MATRIX, M), *ints(3)], [3, 6]),
    ("sub_row", [(MATRIX, M), *ints(2, 2, 2)], [5, 6]),
    ("sub_col", [(MATRIX, M), *ints(1, 2, 2)], [2, 5]),
    ("block", [(MATRIX, M), *ints(1, 2, 2, 2)], [[2, 3], [5, 6]]),
    ("diagonal", [(MATRIX, M)], [1, 5]),
    ("append_row", [(REAL, 9.0), (VECTOR, V)], [9, 3, 1, 2]),
    ("append_row", [(MATRIX, M), (ROW_VECTOR, V)], [[1, 2, 3], [4, 5, 6], [3, 1, 2]]),
    ("append_col", [(VECTOR, V[:2]), (MATRIX, M)], [[3, 1, 2, 3], [1, 4, 5, 6]]),
    ("append_col", [(VECTOR, V), (VECTOR, V)], [[3, 3], [1, 1], [2, 2]]),
    ("append_array", [(ArrayType(VECTOR), np.zeros((0, 9))), (ArrayType(VECTOR), M)], M),
    ("rep_vector", [(INT, 2), *ints(3)], [2, 2, 2]),
    ("rep_matrix", [(VECTOR, V), *ints(2)], [[3, 3], [1, 1], [2, 2]]),
    ("rep_matrix", [(ROW_VECTOR, V), *ints(2)], [[3, 1, 2], [3, 1, 2]]),
    ("rep_array", [(VECTOR, V), *ints(2)], [V, V]),
    ("linspaced_vector", [*ints(1), (REAL, 2.0), (REAL, 5.0)], [5]),
    ("linspaced_int_array", ints(4, 1, 10), [1, 4, 7, 10]),
    ("linspaced_int_array", ints(4, 1, 9), [1, 3, 5, 7]),
    ("linspaced_int_array", ints(5, 1, 2), [1, 1, 1, 2, 2]),
    ("linspaced_int_array", ints(1, 3, 8), [8]),
    ("one_hot_vector", ints(3, 2), [0, 1, 0]),
    ("uniform_simplex", ints(4), [0.25] * 4),
    ("sort_desc", [(VECTOR, V)], [3, 2, 1]),
    ("sort_indices_asc", [(VECTOR, V)], [2, 3, 1]),
    ("sort_indices_desc", [(INTS, np.array([5, 7, 5]))], [2, 1, 3]),
    ("rank", [(VECTOR, V), *ints(3)], 1),
    ("diag_matrix", [(VECTOR, V)], np.diag(V)),
    ("add_diag", [(MATRIX, M), (REAL, 10.0)], [[11, 2, 3], [4, 15, 6]]),
    ("add_diag", [(MATRIX, M.T), (VECTOR, V[:2])], [[4, 4], [2, 6], [3, 6]]),
    ("symmetrize_from_lower_tri", [(MATRIX, M[:, :2])], [[1, 4], [4, 5]]),
]


@pytest.mark.parametrize("name, args, expected", VALUES)
def test_values(name, args, expected):
    found = call(name, *args)
    assert_array_equal(found, expected)
    assert np.shape(found) == np.shape(expected)


@pytest.mark.parametrize(
    "name, args",
    [
        ("rep_array", [(INT, 2), *ints(3)]),
        ("ones_int_array", ints(2)),
        ("to_array_1d", [(ArrayType(INT, 2), np.eye(2, dtype=int))]),
        ("append_array", [(INTS, np.array([1])), (INTS, np.array([2]))]),
        ("sort_asc", [(INTS, np.array([2, 1]))]),
        ("cumulative_sum", [(INTS, np.array([2, 1]))]),
        ("max", [(INTS, np.array([2, 1]))]),
        ("to_int", [(REALS, V)]),
    ],
)
def test_ints_stay_ints(name, args):
    assert np.asarray(call(name, *args)).dtype.kind == "i"


@pytest.mark.parametrize("name", ["to_vector", "to_row_vector", "to_matrix"])
def test_ints_become_reals(name):
    kind = ArrayType(INT, 2) if name == "to_matrix" else INTS
    assert call(name, (kind, np.ones((2, 2)[: kind.dims], int))).dtype == float


REFUSED = [
    ("head", [(VECTOR, V), *ints(4)]),
    ("tail", [(REALS, V), *ints(4)]),
    ("segment", [(VECTOR, V), *ints(0, 2)]),
    ("segment", [(VECTOR, V), *ints(3, 2)]),
    ("row", [(MATRIX, M), *ints(3)]),
    ("col", [(MATRIX, M), *ints(0)]),
    ("block", [(MATRIX, M), *ints(1, 1, 3, 1)]),
    ("rep_vector", [(REAL, 1.0), *ints(-1)]),
    ("one_hot_vector", ints(3, 4)),
    ("to_matrix", [(VECTOR, V), *ints(2, 2)]),
    ("append_col", [(MATRIX, M), (MATRIX, M.T)]),
    ("append_row", [(MATRIX, M[:, :1]), (MATRIX, M)]),
    ("add_diag", [(MATRIX, M), (VECTOR, V)]),
    ("rank", [(VECTOR, V), *ints(0)]),
    ("uniform_simplex", ints(0)),
]


@pytest.mark.parametrize("name, args", REFUSED)
def test_what_does_not_fit_is_refused_by_name(name, args):
    with pytest.raises(InferenceError, match=name.removesuffix("_vector")):
        call(name, *args)


@pytest.mark.parametrize("name", ["head", "tail", "reverse", "to_vector", "row", "block"])
def test_a_part_shares_no_memory_with_the_whole(name):
    more = {"head": ints(3), "tail": ints(3), "row": ints(1), "block": ints(1, 1, 2, 3)}.get(name, [])
    whole = (MATRIX, M.copy()) if name in ("row", "block") else (VECTOR, V.copy())
    assert not np.shares_memory(call(name, whole, *more), whole[1])


DENSE = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [4.0, 0.0, 6.0]])


def test_compressed_rows_round_trip():
    w, v, u = call("csr_extract", (MATRIX, DENSE))
    assert (list(w), list(v), list(u)) == ([2, 4, 6], [2, 1, 3], [1, 2, 2, 4])
    parts = [*ints(3, 3), (VECTOR, w), (INTS, v), (INTS, u)]
    assert_array_equal(call("csr_to_dense_matrix", *parts), DENSE)
    assert_array_equal(call("csr_matrix_times_vector", *parts, (VECTOR, V)), DENSE @ V)


def test_compressed_rows_that_disagree_are_refused():
    parts = [*ints(3, 3), (VECTOR, V), (INTS, np.array([1, 2, 3])), (INTS, np.array([1, 2, 3, 3]))]
    with pytest.raises(InferenceError, match="disagree"):
        call("csr_to_dense_matrix", *parts)


def test_gradient_of_a_sparse_product_with_a_repeated_column():
    impl = standard().callees["csr_matrix_times_vector"].overloads[0].impl
    v, u = np.array([2, 2, 1]), np.array([1, 3, 3, 4])

    def f(b):
        return AUTOGRAD.np.sum(impl(AUTOGRAD, 3, 2, V, v, u, b) * np.array([1.0, 10.0, 100.0]))

    _, gradient = value_and_grad(f, np.array([0.5, 0.25]))
    assert_array_equal(gradient, [200.0, 4.0])


@pytest.mark.parametrize(
    ("index", "kept"),
    [
        (np.array([1, 0, 1]), [[0, 0], [1, 1], [1, 1]]),
        ((np.array([1, 0, 1]), 0), [0, 1, 1]),
        ((slice(None), np.array([0, 0])), [[0, 1]] * 3),
    ],
)
def test_of_values_put_at_one_entry_the_last_alone_has_a_derivative(index, kept):
    value, kept = np.arange(1.0, 1.0 + np.size(kept)).reshape(np.shape(kept)), np.array(kept)
    total, slope = value_and_grad(lambda v: AUTOGRAD.np.sum(AUTOGRAD.put(np.zeros((3, 2)), index, v)), value)
    assert total == np.sum(value * kept)
    assert_array_equal(slope, kept)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_pieces_side_by_side_have_the_derivatives_of_their_pieces(axis: int) -> None:
    """Of `concatenate` and `stack`, some pieces plain, some of no length, and of second derivatives."""
    fixed, weights = np.arange(6.0).reshape(2, 3), np.random.default_rng(1).normal(size=30)

    def joined(u: Any) -> Any:
        a = AUTOGRAD.np.reshape(u, (2, 3))
        side = AUTOGRAD.np.concatenate([a, fixed, a[:0] if axis == 0 else a[:, :0], a**2], axis=axis)
        pile = AUTOGRAD.np.stack([fixed, a**3], axis=axis)
        return AUTOGRAD.np.sum(AUTOGRAD.np.concatenate([side.ravel(), pile.ravel()]) ** 2 * weights)

    at = np.array([0.3, -1.0, 2.0, 0.5, 1.5, -0.2])
    check_grads(joined, modes=["rev"], order=2)(at)
