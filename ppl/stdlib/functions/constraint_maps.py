"""The maps of the constraints on values in their natural shapes, as programs call them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.constraints import (
    bounds,
    correlation,
    covariance,
    offset_multiplier,
    ordered,
    simplex,
    sum_to_zero,
    unit_vector,
)
from ppl.stdlib.constraints.layout import flatten, unflatten
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sentences import TOLERANCE
from ppl.stdlib.distributions.simplexes import is_simplex
from ppl.stdlib.record import Batch, guarded

Map = Callable[..., tuple[Array, Array]]  # (xp, u, *arguments) -> (x, log-Jacobian)
Inverse = Callable[..., Array]  # (xp, x, *arguments) -> u
Valid = Callable[[Namespace, Array], Array]  # (xp, x) -> which of the values are in the range of the map


@dataclass(frozen=True)
class Transform:
    """Both directions of one map; types are those of one value, without array axes."""

    name: str
    noun: str
    free: str
    constrained: str
    further: tuple[str, ...]
    constrain: Map
    unconstrain: Inverse
    batch: Batch = "leading"


def _bounded(xp: Namespace, u: Array, a: Array, b: Array) -> tuple[Array, Array]:
    x, log_slope = bounds.by_bounds(xp, bounds.CONSTRAIN, u, a, b)
    return x, log_slope


def _unbounded(xp: Namespace, x: Array, a: Array, b: Array) -> Array:
    return bounds.by_bounds(xp, bounds.UNCONSTRAIN, x, a, b)[0]


SCALARS = (
    Transform(
        "lower_bound",
        "numbers above a bound",
        "T",
        "T",
        ("T",),
        lambda xp, u, a: _bounded(xp, u, a, math.inf),
        lambda xp, x, a: _unbounded(xp, x, a, math.inf),
        "elementwise",
    ),
    Transform(
        "upper_bound",
        "numbers below a bound",
        "T",
        "T",
        ("T",),
        lambda xp, u, b: _bounded(xp, u, -math.inf, b),
        lambda xp, x, b: _unbounded(xp, x, -math.inf, b),
        "elementwise",
    ),
    Transform(
        "lower_upper_bound",
        "numbers between two bounds",
        "T",
        "T",
        ("T", "T"),
        _bounded,
        _unbounded,
        "elementwise",
    ),
    Transform(
        "offset_multiplier",
        "shifted and scaled numbers",
        "T",
        "T",
        ("T", "T"),
        offset_multiplier.affine,
        offset_multiplier.inverse,
        "elementwise",
    ),
)


def _vector_map(constrain: Map) -> Map:
    """For the maps that read nothing from the shape of their result."""
    return lambda xp, u: constrain(xp, u, ())


def _of_shape(kind: Constraint, xp: Namespace, u: Array, rows: int, columns: int) -> tuple[Array, Array]:
    """A matrix of this shape from its free elements.

    Raises:
        ValueError: there are more or fewer of them than such a matrix has.
    """
    shape = int(rows), int(columns)
    (expected,), found = kind.free_shape(shape), u.shape[-1]
    if found != expected:
        raise ValueError(free_elements(kind, shape, expected, found))
    return kind.constrain(xp, u, shape)


def free_elements(kind: Constraint, shape: Shape, expected: int, found: int) -> str:
    """The sentence on a value that cannot be made of so many free elements."""
    size = " x ".join(map(str, shape))
    return f"A {kind.keyword} of size {size} is made of {expected} free elements, but got {found}."


def _inverse(unconstrain: Inverse, axes: int, valid: Valid) -> Inverse:
    def unconstrain_value(xp: Namespace, x: Array) -> Array:
        return unconstrain(xp, _if(xp, valid, x, axes), x.shape[x.ndim - axes :])

    return unconstrain_value


def _if(xp: Namespace, valid: Valid, x: Array, axes: int) -> Array:
    """`x`, each value of which has that many axes, and nan in place of those that are not valid."""
    return guarded(xp, xp.np.expand_dims(valid(xp, x), tuple(range(-axes, 0))), x)


def _matrix_map(constrain: Map, more_rows: int, more_columns: int) -> Map:
    """For matrices of free elements, which the constraint wants flat."""

    def constrain_matrix(xp: Namespace, u: Array) -> tuple[Array, Array]:
        rows, columns = u.shape[-2:]
        return constrain(xp, flatten(xp, u, (rows, columns)), (rows + more_rows, columns + more_columns))

    return constrain_matrix


def _matrix_inverse(unconstrain: Inverse, valid: Valid, fewer_rows: int, fewer_columns: int) -> Inverse:
    def unconstrain_matrix(xp: Namespace, x: Array) -> Array:
        rows, columns = x.shape[-2:]
        free: Shape = (rows - fewer_rows, columns - fewer_columns)
        return unflatten(xp, unconstrain(xp, _if(xp, valid, x, 2), (rows, columns)), free)

    return unconstrain_matrix


def _of_vectors(name: str, noun: str, module_map: Map, module_inverse: Inverse, valid: Valid) -> Transform:
    inverse = _inverse(module_inverse, 1, valid)
    return Transform(name, noun, "vector", "vector", (), _vector_map(module_map), inverse)


def _of_squares(noun: str, kind: Constraint, module_inverse: Inverse, valid: Valid) -> Transform:
    def constrain(xp: Namespace, u: Array, size: int) -> tuple[Array, Array]:
        return _of_shape(kind, xp, u, size, size)

    inverse = _inverse(module_inverse, 2, valid)
    return Transform(kind.keyword, noun, "vector", "matrix", ("int",), constrain, inverse)


def _of_matrices(
    name: str, noun: str, module_map: Map, module_inverse: Inverse, valid: Valid, *more: int
) -> Transform:
    return Transform(
        name,
        noun,
        "matrix",
        "matrix",
        (),
        _matrix_map(module_map, *more),
        _matrix_inverse(module_inverse, valid, *more),
    )


def _increasing(xp: Namespace, x: Array) -> Array:
    return xp.np.all(x[..., 1:] > x[..., :-1], axis=-1)


def _positive_increasing(xp: Namespace, x: Array) -> Array:
    return _increasing(xp, x) & xp.np.all(x >= 0, axis=-1)


def _unit_length(xp: Namespace, x: Array) -> Array:
    return xp.np.abs(xp.np.sum(x * x, axis=-1) - 1.0) <= TOLERANCE


def _sums_to_zero(xp: Namespace, x: Array) -> Array:
    return xp.np.abs(xp.np.sum(x, axis=-1)) <= TOLERANCE


def _margins_sum_to_zero(xp: Namespace, x: Array) -> Array:
    return _all_columns(_sums_to_zero)(xp, x) & _all_rows(_sums_to_zero)(xp, x)


def _all_rows(valid: Valid) -> Valid:
    return lambda xp, x: xp.np.all(valid(xp, x), axis=-1)


def _all_columns(valid: Valid) -> Valid:
    return lambda xp, x: xp.np.all(valid(xp, xp.np.swapaxes(x, -1, -2)), axis=-1)


def _factor(xp: Namespace, x: Array) -> Array:
    """Whether x (..., M, N) is lower triangular with a positive diagonal."""
    lower = xp.np.all(xp.np.triu(x, 1) == 0, axis=(-1, -2))
    return lower & xp.np.all(xp.np.diagonal(x, axis1=-2, axis2=-1) > 0, axis=-1)


def _unit_diagonal(xp: Namespace, x: Array) -> Array:
    """To the tolerance that Stan has for the logs of the standard deviations."""
    log_sd = 0.5 * xp.np.log(xp.np.diagonal(x, axis1=-2, axis2=-1))
    return xp.np.all(xp.np.abs(log_sd) <= TOLERANCE, axis=-1)


def _any(xp: Namespace, x: Array) -> Array:
    """For matrices that their Cholesky factorisation judges, or that Stan does not look at."""
    return np.ones(x.shape[:-2], dtype=bool)


STRUCTURED = (
    _of_vectors("ordered", "increasing vectors", ordered.constrain, ordered.unconstrain, _increasing),
    _of_vectors(
        "positive_ordered",
        "increasing positive vectors",
        ordered.constrain_positive,
        ordered.unconstrain_positive,
        _positive_increasing,
    ),
    _of_vectors("simplex", "simplexes", simplex.constrain, simplex.unconstrain, is_simplex),
    _of_vectors("unit_vector", "unit vectors", unit_vector.constrain, unit_vector.unconstrain, _unit_length),
    _of_vectors(
        "sum_to_zero",
        "vectors that sum to zero",
        sum_to_zero.constrain,
        sum_to_zero.unconstrain,
        _sums_to_zero,
    ),
    _of_matrices(
        "sum_to_zero",
        "matrices that sum to zero",
        sum_to_zero.constrain_matrix,
        sum_to_zero.unconstrain_matrix,
        _margins_sum_to_zero,
        1,
        1,
    ),
    _of_matrices(
        "stochastic_row",
        "matrices whose rows are simplexes",
        simplex.constrain_rows,
        simplex.unconstrain_rows,
        _all_rows(is_simplex),
        0,
        1,
    ),
    _of_matrices(
        "stochastic_column",
        "matrices whose columns are simplexes",
        simplex.constrain_columns,
        simplex.unconstrain_columns,
        _all_columns(is_simplex),
        1,
        0,
    ),
    _of_squares("correlation matrices", correlation.CORR_MATRIX, correlation.unconstrain, _unit_diagonal),
    _of_squares("covariance matrices", covariance.COV_MATRIX, covariance.unconstrain, _any),
    _of_squares(
        "Cholesky factors of correlation matrices",
        correlation.CHOLESKY_FACTOR_CORR,
        correlation.unconstrain_cholesky,
        _any,
    ),
    Transform(
        "cholesky_factor_cov",
        "Cholesky factors of covariance matrices",
        "vector",
        "matrix",
        ("int", "int"),
        partial(_of_shape, covariance.CHOLESKY_FACTOR_COV),
        _inverse(covariance.unconstrain_cholesky, 2, _factor),
    ),
)
