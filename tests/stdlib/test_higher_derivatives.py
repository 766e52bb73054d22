"""Second and third derivatives by nested tapes: right for all but what first_order.py names."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from laws.every import every

from ppl.arrays import AUTOGRAD, NUMPY, pullback, with_partials
from ppl.kernel.language.first_order import FIRST_ORDER
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.functions.table import FUNCTIONS
from ppl.stdlib.record import Distribution
from ppl.stdlib.supports import SUPPORTS
from ppl.testing.distributions import functions_of, is_univariate, real_arguments, sample_points
from ppl.testing.functions import Case, is_differentiable, weighted
from ppl.types import is_complex
from tests.laws import functions as laws
from tests.stdlib.test_draws_over_leading_axes import FAMILIES, WITHOUT, arguments

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Scalar = Callable[[Any], Any]
STEP = 1e-4
NO_DISTANCE = ("gp_exponential_cov", "gp_matern32_cov", "gp_matern52_cov", "gp_periodic_cov")
"""Functions of distances that have no second derivative in the places, where two places are the same."""


def gradient(f: Scalar, x: Any) -> Any:
    _, pull = pullback(lambda parts: f(parts[0]), [x])
    return pull(np.float64(1.0))[0]


def along(f: Scalar, direction: np.ndarray) -> Scalar:
    """The derivative of f in a direction, itself to be differentiated."""
    return lambda x: AUTOGRAD.np.sum(gradient(f, x) * direction)


def difference(f: Scalar, x: np.ndarray, d: np.ndarray) -> float:
    near, far = (float(f(x + k * STEP * d)) - float(f(x - k * STEP * d)) for k in (1, 2))
    return (8 * near - far) / (12 * STEP)


def assert_three_derivatives(f: Scalar, x: np.ndarray) -> None:
    directions = np.random.default_rng(1).normal(size=(3, x.size))
    for order, d in enumerate(directions, 1):
        slope = along(f, d)
        found, expected = float(slope(x)), difference(f, x, d)
        assert np.isfinite(expected), f"derivative {order} is {expected}"
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6), f"derivative {order}"
        f = slope


def joint(case: Case) -> tuple[Scalar, np.ndarray]:
    """A number that depends on all results, as a function of all real arguments in one vector."""
    free = case.draw(case.rng())
    parts = [np.asarray(free[i], float) for i in case.real]
    ends = np.cumsum([p.size for p in parts])

    def f(x: Any) -> Any:
        args = list(free)
        for i, p, end in zip(case.real, parts, ends, strict=True):
            args[i] = AUTOGRAD.np.reshape(x[end - p.size : end], p.shape) if p.shape else x[end - 1]
        return weighted(case.call(AUTOGRAD, *args))

    return f, np.concatenate([p.ravel() for p in parts])


CASES = [
    case
    for case in laws.cases(FUNCTIONS)
    if is_differentiable(case) and not any(map(is_complex, case.types)) and case.name not in NO_DISTANCE
]


@pytest.mark.rotate
@every("case", CASES, lambda case: case.name)
def test_of_functions(case: Case) -> None:
    f, x = joint(case)
    if case.name in FIRST_ORDER:
        with pytest.raises((NotImplementedError, TypeError)):
            along(along(f, np.ones(x.size)), np.ones(x.size))(x)
    else:
        assert_three_derivatives(f, x)


UNIVARIATE = [
    (d, name, impl)
    for d in DISTRIBUTIONS
    if is_univariate(d) and real_arguments(d)
    for name, impl in functions_of(d)
]


@pytest.mark.rotate
@every("d, name, impl", UNIVARIATE, lambda case: case[0].name)
def test_of_univariate_families(d: Distribution, name: str, impl: Any) -> None:
    sampled, real = sample_points(d, 6), real_arguments(d)
    possible = np.isfinite(impl(NUMPY, *sampled))
    points = [p[possible][:3] for p in sampled]
    count = len(points[0])

    def f(x: Any) -> Any:
        args: list[Any] = list(points)
        for k, i in enumerate(real):
            args[i] = x[k * count : (k + 1) * count]
        return AUTOGRAD.np.sum(impl(AUTOGRAD, *args) * np.cos(1.0 + np.arange(count)))

    x = np.concatenate([points[i] * 1.0 for i in real])
    if f"{d.name}_{name}" in FIRST_ORDER:
        with pytest.raises((NotImplementedError, TypeError)):
            along(along(f, np.ones(x.size)), np.ones(x.size))(x)
    else:
        assert_three_derivatives(f, x)


MULTIVARIATE = [d for name, d in FAMILIES.items() if not is_univariate(d) and name not in WITHOUT]


def inside(support: str, direction: np.ndarray) -> np.ndarray:
    """A direction that does not lead out of the support."""
    if "chol" in support or "lower" in support:
        return np.tril(direction)
    if "corr" in support:
        return np.tril(direction, -1) + np.tril(direction, -1).T
    if "simplex" in support:
        return direction - direction.mean(axis=-1, keepdims=True)
    return direction + direction.T if direction.ndim == 2 and support != "real" else direction


@pytest.mark.rotate
@pytest.mark.parametrize("d", MULTIVARIATE, ids=lambda d: d.name)
def test_of_multivariate_families(d: Distribution) -> None:
    """Along three directions of all arguments together."""
    assert d.rng is not None
    given, rng = arguments(d.name, 0), np.random.default_rng(3)
    y = np.asarray(d.rng(rng, *given))
    args = [y, *given[: len(d.args) - 1]]
    supports = [support for _, support in d.args]
    moves = [
        [0.1 * inside(s, rng.normal(size=np.shape(a))) for s, a in zip(supports, args, strict=True)]
        for _ in range(3)
    ]
    real = [i for i, s in enumerate(supports) if not SUPPORTS[s].discrete]

    def f(z: Any) -> Any:
        moved = list(args)
        for i in real:
            moved[i] = args[i] + sum(z[k] * move[i] for k, move in enumerate(moves))
        return AUTOGRAD.np.sum(d.log_density(AUTOGRAD, *moved))

    assert_three_derivatives(f, np.zeros(3))


def test_what_depends_on_its_own_answer_has_second_derivatives() -> None:
    """The elements of a sum stay on the tape that the sum is differentiated on."""

    @with_partials(lambda xp, ans, x: ans)
    def exp(xp: Any, x: Any) -> Any:
        return xp.np.exp(x)

    x = np.array([0.1, 0.7])
    each, total = (lambda x: AUTOGRAD.np.sum(exp(AUTOGRAD, x))), (lambda x: exp.summed(AUTOGRAD, x))
    of_draws = lambda x: AUTOGRAD.np.sum(exp.summed_but(1)(AUTOGRAD, AUTOGRAD.np.reshape(x, (2, 1))))  # noqa: E731
    for f in (each, total, of_draws):
        assert_three_derivatives(f, x)
        found = gradient(along(f, np.ones(2)), x)
        np.testing.assert_allclose(found, np.exp(x), rtol=1e-14)
