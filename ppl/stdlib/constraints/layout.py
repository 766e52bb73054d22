"""Where the elements of an unconstrained block go: matrices column by column, triangles as each type says."""

import math

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.constraints.record import Shape

Places = tuple[np.ndarray, np.ndarray]  # rows and columns, 0-based


def empty(shape: Shape) -> str | None:
    """Of the types that have no empty value: their elements sum to something, or have a length."""
    return "it needs at least one entry." if 0 in shape else None


def unflatten(xp: Namespace, u: Array, shape: Shape) -> Array:
    """(*arrays, R * C) -> (*arrays, R, C), the first index fastest; vectors and scalars as they are."""
    if len(shape) < 2:
        return u
    rows, columns = shape
    return xp.np.swapaxes(xp.np.reshape(u, (*u.shape[:-1], columns, rows)), -1, -2)


def flatten(xp: Namespace, x: Array, shape: Shape) -> Array:
    """The inverse of `unflatten`."""
    if len(shape) < 2:
        return x
    return xp.np.reshape(xp.np.swapaxes(x, -1, -2), (*x.shape[:-2], math.prod(shape)))


def lower_by_rows(shape: Shape) -> Places:
    """The lower triangle with its diagonal: (1,1), (2,1), (2,2), (3,1), ..."""
    return np.tril_indices(shape[0], m=shape[1])


def strictly_lower_by_rows(size: int) -> Places:
    """(2,1), (3,1), (3,2), (4,1), ..."""
    return np.tril_indices(size, -1)


def strictly_lower_by_columns(size: int) -> Places:
    """(2,1), (3,1), ..., (K,1), (3,2), ..."""
    columns, rows = np.triu_indices(size, 1)
    return rows, columns


def place(xp: Namespace, values: Array, shape: Shape, places: Places) -> Array:
    """A matrix (*arrays, *shape) with `values` (*arrays, n) at `places` and zero elsewhere."""
    return xp.put(np.zeros((*values.shape[:-1], *shape)), (..., *places), values)


@with_vjps(lambda xp, g, ans, lower: xp.np.matmul(g + xp.np.swapaxes(g, -1, -2), lower))
def squared(xp: Namespace, lower: Array) -> Array:
    """L L'."""
    return xp.np.matmul(lower, xp.np.swapaxes(lower, -1, -2))
