"""Whether values keep the constraint of their type, in compiled code: the checks of stdlib.constraints, but
without the sentence that says what is wrong and where.

Each takes values with any leading axes, and the bounds.  nan keeps no constraint.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax.numpy as jnp

from ppl.compiled.namespace import JAX
from ppl.stdlib.constraints.sentences import TOLERANCE

Traced = Any


def lower(x: Traced, bound: Traced) -> Traced:
    return jnp.all(x >= bound)


def upper(x: Traced, bound: Traced) -> Traced:
    return jnp.all(x <= bound)


def between(x: Traced, low: Traced, high: Traced) -> Traced:
    return lower(x, low) & upper(x, high)


def offset_multiplier(x: Traced, offset: Traced = 0.0, multiplier: Traced = 1.0) -> Traced:
    return jnp.all(jnp.isfinite(offset)) & jnp.all((multiplier > 0) & (multiplier < jnp.inf))


def ordered(x: Traced) -> Traced:
    return jnp.all(x[..., 1:] > x[..., :-1])


def positive_ordered(x: Traced) -> Traced:
    return ordered(x) & jnp.all(x[..., :1] >= 0)


def sums_to(total: float, axis: int, x: Traced) -> Traced:
    return jnp.all(jnp.abs(jnp.sum(x, axis=axis) - total) <= TOLERANCE)


def stochastic(axis: int, x: Traced) -> Traced:
    return jnp.all(x >= 0) & sums_to(1.0, axis, x)


def margins_are_zero(x: Traced) -> Traced:
    return sums_to(0.0, -1, x) & sums_to(0.0, -2, x)


def covariance(x: Traced) -> Traced:
    symmetric = jnp.all(jnp.abs(x - jnp.swapaxes(x, -1, -2)) <= TOLERANCE)
    return symmetric & jnp.all(jnp.isfinite(JAX.linalg.cholesky(x)))


def correlation(x: Traced) -> Traced:
    diagonal = jnp.diagonal(x, axis1=-2, axis2=-1)
    return covariance(x) & jnp.all(jnp.abs(diagonal - 1.0) <= TOLERANCE)


def factor(x: Traced) -> Traced:
    return jnp.all(jnp.triu(x, 1) == 0) & jnp.all(jnp.diagonal(x, axis1=-2, axis2=-1) > 0)


def correlation_factor(x: Traced) -> Traced:
    return factor(x) & sums_to(1.0, -1, x * x)


def anything(x: Traced) -> Traced:
    return jnp.asarray(True)


CHECKS: Mapping[str, Callable[..., Traced]] = {
    "identity": anything,
    "complex": anything,
    "lower": lower,
    "upper": upper,
    "lower_upper": between,
    "offset_multiplier": offset_multiplier,
    "ordered": ordered,
    "positive_ordered": positive_ordered,
    "simplex": partial(stochastic, -1),
    "unit_vector": lambda x: sums_to(1.0, -1, x * x),
    "sum_to_zero_vector": partial(sums_to, 0.0, -1),
    "sum_to_zero_matrix": margins_are_zero,
    "cov_matrix": covariance,
    "corr_matrix": correlation,
    "cholesky_factor_cov": factor,
    "cholesky_factor_corr": correlation_factor,
    "row_stochastic_matrix": partial(stochastic, -1),
    "column_stochastic_matrix": partial(stochastic, -2),
}
"""By the word of the constraint."""
