"""Where an argument of a distribution may lie: what the record's `args` name.

A support says what a value must be (the words go into error messages), tests membership elementwise, and
gives sample points well inside it, at which the laws of the standard library are tried.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import NUMPY
from ppl.records import dataclass, replace
from ppl.stdlib.constraints.sentences import first_element, first_false, position
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD

Shape = tuple[int, ...]
Sample = Callable[[np.random.Generator, Shape], Any]


@dataclass(frozen=True)
class Support:
    """One set of values.

    must_be   completes "sigma must be ..."
    contains  number or array -> bool or bool array: one for each number, or for each value of `axes` axes
    sample    (rng, shape) -> points of the set, an array of that shape
    wrong     a structured value outside -> what is wrong with it, None for no more than `must_be` says
    """

    name: str
    must_be: str
    contains: Callable[[Any], Any]
    sample: Sample
    discrete: bool = False
    axes: int = 0
    wrong: Callable[[Any], str | None] = lambda value: None


def fault(support: Support, value: Any) -> str:
    """The fault of the first that lies outside, and its place: "[3] is -1, but must be positive"."""
    inside = np.asarray(support.contains(value))
    if support.axes == 0:
        return first_element(np.asarray(value), inside, support.must_be) or ""
    index = first_false(inside)
    sentence = support.wrong(np.asarray(value)[index]) or f"must be {support.must_be}"
    return f"{position(index)} {sentence}".lstrip()


def _log_normal(rng: np.random.Generator, shape: Shape) -> Any:
    return np.exp(rng.normal(0.2, 0.5, shape))


def _uniform(low: float, high: float) -> Sample:
    return lambda rng, shape: rng.uniform(low, high, shape)


def _between(low: float, high: float) -> Callable[[Any], Any]:
    return lambda x: (x >= low) & (x <= high)


def _integers(low: int, high: int) -> Sample:
    return lambda rng, shape: rng.integers(low, high, shape)


def _inside(low: float, high: float) -> Callable[[Any], Any]:
    return lambda x: (x > low) & (x < high)


FINITE = _inside(-np.inf, np.inf)
"""The real numbers and the integers."""
MOST_RATE = 2.0**30
"""Of the mean of a Poisson count that is drawn: Stan's limit, whose ints have 32 bits."""

CONTINUOUS = (
    Support("real", "finite", FINITE, lambda g, shape: g.normal(0.0, 1.0, shape)),
    Support("positive", "positive and finite", _inside(0, np.inf), _log_normal),
    Support("nonnegative", "nonnegative and finite", lambda x: (x >= 0) & (x < np.inf), _log_normal),
    Support("unit_interval", "in the interval [0, 1]", _between(0.0, 1.0), _uniform(0.1, 0.9)),
    Support("open_unit", "strictly between 0 and 1", _inside(0, 1), _uniform(0.1, 0.9)),
    Support("angle", "in the interval [-pi, pi]", _between(-np.pi, np.pi), _uniform(-2.5, 2.5)),
    Support("log_weight", "below infinity", lambda x: x < np.inf, _uniform(-2.0, 0.0)),
    Support("poisson_rate", "positive and below 2^30", _inside(0, MOST_RATE), _log_normal),
    Support(
        "log_poisson_rate", "finite and below 30 log(2)", _inside(-np.inf, np.log(MOST_RATE)), _uniform(-1, 1)
    ),
)

DISCRETE = (
    Support("int", "an integer", FINITE, _integers(-6, 7), discrete=True),
    Support("count", "nonnegative", lambda x: x >= 0, _integers(1, 12), discrete=True),
    Support("trials", "nonnegative", lambda x: x >= 0, _integers(12, 17), True),
    Support("lower_int", "an integer", FINITE, _integers(-9, -6), discrete=True),
    Support("upper_int", "an integer", FINITE, _integers(7, 10), discrete=True),
    Support("category", "at least 1", lambda x: x >= 1, _integers(1, 4), True),
    Support("positive_count", "at least 1", lambda x: x >= 1, _integers(1, 12), discrete=True),
    Support("binary", "0 or 1", _between(0, 1), _integers(0, 2), discrete=True),
)


def _structured(keyword: str, must_be: str, axes: int) -> Support:
    """The values of a constrained type; shapes end with the `axes` of one value."""
    constraint = CONSTRAINT_BY_KEYWORD[keyword]

    def wrong(x: Any) -> str | None:
        return constraint.check(x, np.shape(x))

    def sample(rng: np.random.Generator, shape: Shape) -> Any:
        one = shape[len(shape) - axes :]
        u = rng.normal(0.0, 0.7, (*shape[: len(shape) - axes], *constraint.free_shape(one)))
        return constraint.constrain(NUMPY, u, one)[0]

    return Support(keyword, must_be, partial(constraint.contains, NUMPY), sample, False, axes, wrong)


ORDERED = _structured("ordered", "strictly increasing", 1)

STRUCTURED = (
    _structured("simplex", "a simplex", 1),
    _structured("row_stochastic_matrix", "a matrix whose rows are simplexes", 2),
    ORDERED,
    replace(
        ORDERED,
        name="cutpoints",
        must_be="strictly increasing and finite, and one at least",
        contains=lambda x: ORDERED.contains(x) & np.isfinite(x).all(axis=-1) & (x.shape[-1] > 0),
    ),
    _structured("cov_matrix", "symmetric positive definite", 2),
    _structured("corr_matrix", "a correlation matrix", 2),
    _structured("cholesky_factor_cov", "lower triangular with positive diagonal", 2),
    _structured("cholesky_factor_corr", "the Cholesky factor of a correlation matrix", 2),
)

SUPPORTS: dict[str, Support] = {support.name: support for support in (*CONTINUOUS, *DISCRETE, *STRUCTURED)}
