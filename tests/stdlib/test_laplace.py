"""The embedded Laplace approximation: against integrals, finite differences and its own moments."""

from typing import Any

import numpy as np
import pytest

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad, values_and_grads
from ppl.errors import Rejection
from ppl.stdlib.laplace.latent import latent_of
from ppl.stdlib.laplace.likelihoods import LIKELIHOODS, Likelihood, counted
from ppl.stdlib.laplace.marginal import EmbeddedLaplace, Outcomes, problem
from ppl.stdlib.laplace.mode import NEWTON, modes

BLOCK = 1
LIMITS = (NEWTON.objective, NEWTON.most_steps)
SETTINGS = (BLOCK, *LIMITS)
SEED = 20261122
BY_NAME = {like.name: like for like in LIKELIHOODS}
COUNTS = {
    "poisson_log": [2, 0, 3, 5, 1],
    "neg_binomial_2_log": [2, 0, 3, 5, 1],
    "bernoulli_logit": [1, 0, 1, 1, 0],
}
INDEX = np.array([1, 2, 2, 1, 2])
K = np.array([[0.8, 0.3], [0.3, 0.5]])
M = np.array([0.2, -0.4])
EACH = pytest.mark.parametrize("like", LIKELIHOODS, ids=lambda like: like.name)


def dispersion(like: Likelihood, size: int = 2) -> tuple[np.ndarray, ...]:
    """One for each theta."""
    return (1.7 / np.arange(1.0, size + 1),) if like.dispersed else ()


def given(like: Likelihood) -> tuple[np.ndarray, np.ndarray]:
    return np.array(COUNTS[like.name]), INDEX


def mode(like: Likelihood, k: np.ndarray, m: np.ndarray, y: Any, index: Any, *rest: np.ndarray) -> np.ndarray:
    return modes(problem(like, Outcomes(y, index), m, k, list(rest))[1], *LIMITS)[0][0]


def log_joint(like: Likelihood, theta: np.ndarray, k: np.ndarray, m: np.ndarray, rest: Any) -> np.ndarray:
    """log p(y, theta) at points (points, n)."""
    y, index = given(like)
    rows = like.log_density(NUMPY, y, (theta + m)[:, index - 1], *(r[index - 1] for r in rest)).sum(axis=1)
    prior = -0.5 * (
        np.einsum("pi,ij,pj->p", theta, np.linalg.inv(k), theta) + np.linalg.slogdet(2 * np.pi * k)[1]
    )
    return rows + prior


def grid(points: int, half: float) -> tuple[np.ndarray, float]:
    line = np.linspace(-half, half, points)
    return np.stack([x.ravel() for x in np.meshgrid(line, line)], axis=1), (line[1] - line[0]) ** 2


@EACH
def test_the_value_is_laplaces_at_the_mode_of_a_grid(like: Likelihood) -> None:
    """Two dimensions: the mode and the Hessian by differences of log p(y, theta)."""
    rest = dispersion(like)
    theta = mode(like, K, M, *given(like), *rest)
    points, _ = grid(401, 4.0)
    assert log_joint(like, theta[None], K, M, rest)[0] >= log_joint(like, points, K, M, rest).max() - 1e-12
    h, eye = 1e-4, np.eye(2)
    at = lambda d: log_joint(like, (theta + d)[None], K, M, rest)[0]  # noqa: E731
    hessian = [
        [(at(h * (a + b)) - at(h * (a - b)) - at(h * (b - a)) + at(-h * (a + b))) / (4 * h * h) for b in eye]
        for a in eye
    ]
    laplace = at(np.zeros(2)) + np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(-np.array(hessian))[1]
    value = EmbeddedLaplace(like)(NUMPY, *given(like), *rest, M, K, *SETTINGS)
    assert value == pytest.approx(laplace, abs=1e-6)


@EACH
def test_the_value_is_near_the_integral(like: Likelihood) -> None:
    rest = dispersion(like)
    points, cell = grid(401, 8.0)
    integral = np.log(np.exp(log_joint(like, points, K, M, rest)).sum() * cell)
    value = EmbeddedLaplace(like)(NUMPY, *given(like), *rest, M, K, *SETTINGS)
    assert value == pytest.approx(integral, abs=0.02)


def test_many_rows_make_the_approximation_an_integral() -> None:
    """In one dimension its error falls as one over the information: 1000 rows leave less than 1e-4."""
    like, k, m = BY_NAME["poisson_log"], np.array([[0.5]]), np.array([0.3])
    y = np.random.default_rng(SEED).poisson(2.0, size=1000)
    theta = np.linspace(-1.0, 1.5, 20001)
    rows = y.sum() * (theta + m) - len(y) * np.exp(theta + m) + like.log_density(NUMPY, y, 0.0).sum() + len(y)
    joint = rows - 0.5 * theta**2 / 0.5 - 0.5 * np.log(2 * np.pi * 0.5)
    top = joint.max()
    integral = top + np.log(np.exp(joint - top).sum() * (theta[1] - theta[0]))
    value = EmbeddedLaplace(like)(NUMPY, y, np.ones(1000, dtype=int), m, k, *SETTINGS)
    assert value == pytest.approx(integral, abs=1e-4)


@EACH
def test_the_gradient_is_that_of_the_value(like: Likelihood) -> None:
    rest = dispersion(like)

    def value(xp: Any, u: Any) -> Any:
        factor = xp.np.reshape(u[:4], (2, 2))
        k = xp.np.matmul(factor, factor.T) + 0.1 * np.eye(2)
        return EmbeddedLaplace(like)(
            xp, *given(like), *(r * xp.np.exp(u[6:]) for r in rest), u[4:6], k, *SETTINGS
        )

    u = np.array([0.7, 0.2, -0.3, 0.6, 0.2, -0.4, 0.1, -0.2])
    _, slope = value_and_grad(lambda u: value(AUTOGRAD, u), u)
    h = 1e-5
    steps = [h * e for e in np.eye(len(u))]
    differences = [(value(NUMPY, u + d) - value(NUMPY, u - d)) / (2 * h) for d in steps]
    np.testing.assert_allclose(slope, differences, atol=2e-8)


@EACH
def test_a_theta_without_rows_has_a_gradient(like: Likelihood) -> None:
    rest = dispersion(like, 3)

    def value(xp: Any, u: Any) -> Any:
        factor = xp.np.reshape(u[:9], (3, 3))
        k = xp.np.matmul(factor, factor.T) + 0.1 * np.eye(3)
        return EmbeddedLaplace(like)(xp, *given(like), *rest, u[9:], k, *SETTINGS)

    u = np.random.default_rng(SEED).normal(scale=0.5, size=12)
    _, slope = value_and_grad(lambda u: value(AUTOGRAD, u), u)
    steps = [1e-5 * e for e in np.eye(len(u))]
    differences = [(value(NUMPY, u + d) - value(NUMPY, u - d)) / 2e-5 for d in steps]
    np.testing.assert_allclose(slope, differences, atol=2e-8)
    assert slope[11] == 0


class Noise:
    """Gives the standard normal numbers of `noise`, in place of a generator."""

    def __init__(self, noise: np.ndarray) -> None:
        self.left = list(noise)

    def standard_normal(self, size: int) -> np.ndarray:
        taken, self.left = self.left[:size], self.left[size:]
        assert len(taken) == size
        return np.array(taken)


@EACH
def test_draws_have_the_moments_of_the_approximation(like: Likelihood) -> None:
    """They are affine in 4 standard normal numbers z: the mode + F z, and F F' is the covariance."""
    rest, latent = dispersion(like), latent_of(like)
    at_none, *at_each = (
        latent(Noise(noise), *given(like), *rest, M, K, *SETTINGS)
        for noise in np.vstack([np.zeros(4), np.eye(4)])
    )
    factor = np.transpose(at_each - at_none)
    theta = mode(like, K, M, *given(like), *rest)
    y, index = given(like)
    weight = like.local(counted(y, index, 2), theta + M, *rest).weight
    covariance = np.linalg.inv(np.linalg.inv(K) + np.diag(weight))
    np.testing.assert_allclose(at_none, theta, atol=1e-6)
    np.testing.assert_allclose(factor @ factor.T, covariance, rtol=1e-6)
    half = latent(Noise(np.full(4, 0.5)), *given(like), *rest, M, K, *SETTINGS)
    np.testing.assert_allclose(half, at_none + factor @ np.full(4, 0.5), rtol=1e-9)


@pytest.mark.parametrize("count", [0, 3, 10_000, 10**8])
def test_the_mode_is_found_from_far(count: int) -> None:
    """theta / k = count - exp(theta): the first step aims at 100 times the count."""
    like = BY_NAME["poisson_log"]
    theta = mode(like, np.array([[100.0]]), np.zeros(1), np.array([count]), np.array([1]))
    assert theta[0] / 100 == pytest.approx(count - np.exp(theta[0]), abs=1e-6 * (1 + count))


def test_a_singular_covariance_is_one() -> None:
    """Two thetas that are one: the value is that of one theta with all rows."""
    like = BY_NAME["poisson_log"]
    y = np.array([1, 4])
    both = EmbeddedLaplace(like)(NUMPY, y, np.array([1, 2]), np.zeros(2), np.full((2, 2), 0.6), *SETTINGS)
    one = EmbeddedLaplace(like)(NUMPY, y, np.array([1, 1]), np.zeros(1), np.array([[0.6]]), *SETTINGS)
    assert both == pytest.approx(one, rel=1e-12)


@EACH
def test_leading_axes_are_a_loop(like: Likelihood) -> None:
    """Draws take their steps together: log p(y) and its derivatives are those of each by itself."""
    rng, draws = np.random.default_rng(SEED), 7
    scales = rng.uniform(0.2, 3.0, size=draws)
    m, rest = rng.normal(size=(draws, 2)), tuple(rng.uniform(0.5, 2.0, (draws, 2)) for _ in dispersion(like))

    def value(xp: Any, parts: Any) -> Any:
        scale, m, *rest = parts
        return EmbeddedLaplace(like)(xp, *given(like), *rest, m, scale[..., None, None] * K, *SETTINGS)

    together, slopes = values_and_grads(lambda parts: value(AUTOGRAD, parts), [scales, m, *rest])
    for i in range(draws):
        alone, own = values_and_grads(
            lambda parts: value(AUTOGRAD, parts), [x[i] for x in (scales, m, *rest)]
        )
        np.testing.assert_allclose(together[i], alone, rtol=1e-12)
        for one, all_draws in zip(own, slopes, strict=True):
            np.testing.assert_allclose(all_draws[i], one, rtol=1e-10, atol=1e-12)


@EACH
def test_data_may_have_leading_axes(like: Likelihood) -> None:
    rest, (y, index) = dispersion(like), given(like)
    ys = np.stack([y, y[::-1]])
    together = EmbeddedLaplace(like)(NUMPY, ys, index, *rest, M, K, *SETTINGS)
    alone = [EmbeddedLaplace(like)(NUMPY, each, index, *rest, M, K, *SETTINGS) for each in ys]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_a_draw_without_a_mode_is_nan_and_leaves_the_others() -> None:
    like = BY_NAME["poisson_log"]
    askew = np.array([[0.8, 0.3], [0.1, 0.5]])
    k = np.stack([K, askew, np.full((2, 2), np.nan), -10 * np.eye(2), K])
    values = EmbeddedLaplace(like)(NUMPY, *given(like), M, k, *SETTINGS)
    assert list(np.isnan(values)) == [False, True, True, True, False]
    assert values[0] == values[4]


def test_too_few_steps_have_no_value() -> None:
    like = BY_NAME["poisson_log"]
    assert np.isnan(EmbeddedLaplace(like)(NUMPY, *given(like), M, K, BLOCK, 1e-6, 1))


@pytest.mark.parametrize(
    ("block", "rest", "complaint"),
    [
        (2, (np.ones(3),), "eta has 3 entries"),
        (3, (np.ones(2),), "hessian_block_size is 3"),
        (0, (np.ones(2),), "is 0"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(block: int, rest: tuple[np.ndarray], complaint: str) -> None:
    like = BY_NAME["neg_binomial_2_log"]
    with pytest.raises(Rejection, match=complaint):
        EmbeddedLaplace(like)(NUMPY, *given(like), *rest, M, K, block, *LIMITS)
