"""Where an argument of a distribution may lie: what the record's `args` name.

A support says what a value must be (the words go into error messages), tests membership elementwise, and
gives sample points well inside it, at which the laws of the standard library are tried.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppl.arrays import NUMPY
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Support:
    """One set of values.

    must_be   completes "sigma must be ..."
    contains  value -> bool array, elementwise for scalars; one bool for structured values
    sample    (generator, shape) -> points of the set, an array of that shape
    """

    name: str
    must_be: str
    contains: Callable[[Any], Any]
    sample: Callable[[np.random.Generator, Shape], Any]
    discrete: bool = False


def _log_normal(generator: np.random.Generator, shape: Shape) -> Any:
    return np.exp(generator.normal(0.2, 0.5, shape))


def _inner(low: float, high: float) -> Callable[[np.random.Generator, Shape], Any]:
    return lambda generator, shape: generator.uniform(low, high, shape)


def _between(low: float, high: float) -> Callable[[Any], Any]:
    return lambda x: (np.asarray(x) >= low) & (np.asarray(x) <= high)


def _counts(generator: np.random.Generator, shape: Shape) -> Any:
    return generator.integers(1, 12, shape)


CONTINUOUS = (
    Support("real", "finite", np.isfinite, lambda g, shape: g.normal(0.0, 1.0, shape)),
    Support("positive", "positive and finite", lambda x: (np.asarray(x) > 0) & np.isfinite(x), _log_normal),
    Support(
        "nonnegative", "nonnegative and finite", lambda x: (np.asarray(x) >= 0) & np.isfinite(x), _log_normal
    ),
    Support("unit_interval", "in the interval [0, 1]", _between(0.0, 1.0), _inner(0.1, 0.9)),
    Support(
        "open_unit",
        "strictly between 0 and 1",
        lambda x: (np.asarray(x) > 0) & (np.asarray(x) < 1),
        _inner(0.1, 0.9),
    ),
    Support("angle", "in the interval [-pi, pi]", _between(-np.pi, np.pi), _inner(-2.5, 2.5)),
)

DISCRETE = (
    Support("int", "an integer", np.isfinite, lambda g, shape: g.integers(-6, 7, shape), discrete=True),
    Support("count", "nonnegative", lambda x: np.asarray(x) >= 0, _counts, discrete=True),
    Support(
        "trials",
        "nonnegative",
        lambda x: np.asarray(x) >= 0,
        lambda g, shape: g.integers(12, 17, shape),
        True,
    ),
    Support(
        "lower_int", "an integer", np.isfinite, lambda g, shape: g.integers(-9, -6, shape), discrete=True
    ),
    Support("upper_int", "an integer", np.isfinite, lambda g, shape: g.integers(7, 10, shape), discrete=True),
    Support(
        "category", "at least 1", lambda x: np.asarray(x) >= 1, lambda g, shape: g.integers(1, 4, shape), True
    ),
    Support("binary", "0 or 1", _between(0, 1), lambda g, shape: g.integers(0, 2, shape), discrete=True),
)


def _structured(keyword: str, must_be: str, axes: int) -> Support:
    """The values of a constrained type; shapes end with the `axes` of one value."""
    constraint = CONSTRAINT_BY_KEYWORD[keyword]

    def contains(x: Any) -> Any:
        return constraint.check(np.asarray(x), np.shape(x)[np.ndim(x) - axes :]) is None

    def sample(generator: np.random.Generator, shape: Shape) -> Any:
        one = shape[len(shape) - axes :]
        u = generator.normal(0.0, 0.7, (*shape[: len(shape) - axes], *constraint.free_shape(one)))
        return constraint.constrain(NUMPY, u, one)[0]

    return Support(keyword, must_be, contains, sample)


STRUCTURED = (
    _structured("simplex", "a simplex", 1),
    _structured("row_stochastic_matrix", "a matrix whose rows are simplexes", 2),
    _structured("ordered", "strictly increasing", 1),
    _structured("cov_matrix", "symmetric positive definite", 2),
    _structured("corr_matrix", "a correlation matrix", 2),
    _structured("cholesky_factor_cov", "lower triangular with positive diagonal", 2),
    _structured("cholesky_factor_corr", "the Cholesky factor of a correlation matrix", 2),
)

SUPPORTS: dict[str, Support] = {support.name: support for support in (*CONTINUOUS, *DISCRETE, *STRUCTURED)}
