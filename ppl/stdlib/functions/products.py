"""Products of matrices and vectors.  Stan Functions Reference, "Matrix arithmetic operators".

Every product takes leading axes on either side.  Adjoints: M. Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation" (2008), section 2.2.
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.complex_parts import direction
from ppl.stdlib.functions.sums import LISTS, SIDES, spread
from ppl.stdlib.record import Function, Impl, Overload, leading

PAIRS = tuple((a, b) for a in SIDES for b in SIDES)


@with_vjps(lambda xp, g, ans, x: 2.0 * spread(xp, g) * x)
def dot_self(xp: Namespace, x: Array) -> Array:
    return xp.np.sum(x * x, axis=-1)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * xp.np.sign(x))
def norm1(xp: Namespace, x: Array) -> Array:
    return xp.np.sum(xp.np.abs(x), axis=-1)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * direction(xp, x, spread(xp, ans)))
def norm2(xp: Namespace, x: Array) -> Array:
    return xp.np.sqrt(xp.np.sum(x * x, axis=-1))


def distance(xp: Namespace, x: Array, y: Array) -> Array:
    return norm2(xp, x - y)


def _elementwise(xp: Namespace, x: Array, y: Array) -> Array:
    return x * y


def _one(xp: Namespace, x: Array, y: Array) -> Array:
    return spread(xp, inner(xp, x, y))


def with_itself(impl: Impl) -> Impl:
    """A product of two containers as a function of one."""
    return lambda xp, x: impl(xp, x, x)


def _reduction(name: str, meaning: str, kinds: tuple[str, ...], impl: Impl) -> Function:
    return leading(name, meaning, *[(f"({kind}) => real", impl) for kind in kinds])


def _of_pairs(name: str, meaning: str, impl: Impl, *more: tuple[str, str]) -> Function:
    pairs = (*PAIRS, *more)
    return leading(name, meaning, *[(f"({a}, {b}) => real", impl) for a, b in pairs])


def _by_lines(
    line: str, result: str, of_matrices: Impl, of_vectors: Impl, of_row_vectors: Impl
) -> tuple[Function, Function]:
    """The products of every column (or row) of two containers, and of one container with itself."""
    impls = {"vector": of_vectors, "row_vector": of_row_vectors, "matrix": of_matrices}
    pairs = [(f"({kind}, {kind}) => {result}", impl) for kind, impl in impls.items()]
    selves = [(f"({kind}) => {result}", with_itself(impl)) for kind, impl in impls.items()]
    return (
        leading(f"{line}s_dot_product", f"the dot product of each {line}", *pairs),
        leading(f"{line}s_dot_self", f"each {line}'s sum of squares", *selves),
    )


SQUARED_DISTANCE = Function(
    "squared_distance",
    "the squared Euclidean distance",
    (
        Overload("(real, real) => real", lambda xp, x, y: (x - y) * (x - y), "elementwise"),
        *[Overload(f"({a}, {b}) => real", lambda xp, x, y: dot_self(xp, x - y), "leading") for a, b in PAIRS],
    ),
)


def transposed(xp: Namespace, a: Array) -> Array:
    """The matrix transpose under any leading axes."""
    return xp.np.swapaxes(a, -1, -2)


def _outer_left(xp: Namespace, g: Array, ans: Array, x: Array, y: Array) -> Array:
    return matrix_vector(xp, g, y)


def _outer_right(xp: Namespace, g: Array, ans: Array, x: Array, y: Array) -> Array:
    return matrix_vector(xp, transposed(xp, g), x)


@with_vjps(_outer_left, _outer_right)
def outer(xp: Namespace, x: Array, y: Array) -> Array:
    return x[..., :, None] * y[..., None, :]


@with_vjps(
    lambda xp, g, ans, a, b: xp.np.matmul(g, transposed(xp, b)),
    lambda xp, g, ans, a, b: xp.np.matmul(transposed(xp, a), g),
)
def matrix_matrix(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.np.matmul(a, b)


def _vectors_adjoint(xp: Namespace, left: Array, right: Array, a: Array) -> Array:
    """left right', the adjoint of the matrix `a`, summed at once over a batch that shares it."""
    if np.ndim(a) > 2 or np.ndim(left) != np.ndim(right):
        return outer(xp, left, right)
    leading = tuple(range(np.ndim(left) - 1))
    return xp.np.tensordot(left, right, axes=(leading, leading))


def _vector_adjoint(xp: Namespace, g: Array, ans: Array, a: Array, v: Array) -> Array:
    return vector_matrix(xp, g, a)


@with_vjps(lambda xp, g, ans, a, v: _vectors_adjoint(xp, g, v, a), _vector_adjoint)
def matrix_vector(xp: Namespace, a: Array, v: Array) -> Array:
    if np.ndim(v) == 1:
        return xp.np.matmul(a, v)
    if np.ndim(a) == 2:  # one product for the whole batch
        return xp.np.matmul(v, transposed(xp, a))
    return xp.np.matmul(a, v[..., None])[..., 0]


@with_vjps(
    lambda xp, g, ans, v, a: matrix_vector(xp, a, g),
    lambda xp, g, ans, v, a: _vectors_adjoint(xp, v, g, a),
)
def vector_matrix(xp: Namespace, v: Array, a: Array) -> Array:
    """v a, without the transpose of `a`, which XLA would copy."""
    if np.ndim(v) == 1 or np.ndim(a) == 2:
        return xp.np.matmul(v, a)
    return xp.np.matmul(v[..., None, :], a)[..., 0, :]


def _one_for_all_rows(rows: Array, v: Array) -> bool:
    """Whether `v` (..., 1, K) holds vectors each of which meets every row of `rows` (N, K)."""
    return np.ndim(rows) == 2 and np.ndim(v) > 2 and np.shape(v)[-2] == 1


def _of_all_pairs(x: Array, y: Array) -> bool:
    """Whether every vector of `x` (..., N, 1, D) meets every one of `y` (..., 1, K, D)."""
    return min(np.ndim(x), np.ndim(y)) > 2 and np.shape(x)[-2] == 1 == np.shape(y)[-3]


def _inner_adjoint(xp: Namespace, g: Array, of: Array, other: Array) -> Array:
    """Adjoint of `of` in its inner product with `other`, summed at once over a batch that shares it."""
    if np.ndim(of) == 1 and np.ndim(other) == np.ndim(g) + 1:
        return xp.np.matmul(g, other) if np.ndim(g) == 1 else xp.np.tensordot(g, other, axes=np.ndim(g))
    if _one_for_all_rows(other, of):
        return xp.np.expand_dims(xp.np.matmul(g, other), -2)
    if _of_all_pairs(of, other):
        return xp.np.expand_dims(xp.np.matmul(g, other[..., 0, :, :]), -2)
    if _of_all_pairs(other, of):
        return xp.np.expand_dims(xp.np.matmul(transposed(xp, g), other[..., 0, :]), -3)
    return xp.np.expand_dims(g, -1) * other


@with_vjps(
    lambda xp, g, ans, x, y: _inner_adjoint(xp, g, x, y),
    lambda xp, g, ans, x, y: _inner_adjoint(xp, g, y, x),
)
def inner(xp: Namespace, x: Array, y: Array) -> Array:
    """The dot product over the last axis.

    Raises:
        ValueError: the sizes differ, in NumPy's words; what has size 1 would be repeated.
    """
    if np.shape(x)[-1] != np.shape(y)[-1]:
        sizes = f"({np.shape(x)[-1]},) ({np.shape(y)[-1]},)"
        raise ValueError(f"operands could not be broadcast together with shapes {sizes}")
    if np.ndim(y) == 1 or np.ndim(x) == 1:
        return xp.np.dot(x, y) if np.ndim(y) == 1 else xp.np.matmul(y, x)
    for rows, v in ((x, y), (y, x)):
        if _one_for_all_rows(rows, v):
            return xp.np.matmul(v[..., 0, :], transposed(xp, rows))
    for down, across in ((x, y), (y, x)):
        if _of_all_pairs(down, across):
            return xp.np.matmul(down[..., 0, :], transposed(xp, across[..., 0, :, :]))
    return xp.np.sum(x * y, axis=-1)


FUNCTIONS = (
    _of_pairs("dot_product", "the dot product", inner, ("array[] real", "array[] real")),
    _reduction("dot_self", "the sum of squares", SIDES, dot_self),
    _reduction("norm1", "the sum of absolute values", LISTS, norm1),
    _reduction("norm2", "the Euclidean length", LISTS, norm2),
    SQUARED_DISTANCE,
    _of_pairs("distance", "the Euclidean distance", distance),
    *_by_lines("column", "row_vector", lambda xp, x, y: xp.np.sum(x * y, axis=-2), _one, _elementwise),
    *_by_lines("row", "vector", lambda xp, x, y: xp.np.sum(x * y, axis=-1), _elementwise, _one),
)
