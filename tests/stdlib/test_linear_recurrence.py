"""Linear recurrences, by their definition and by differences."""

import numpy as np
import pytest
from autograd.test_util import check_grads

from ppl.arrays import AUTOGRAD, NUMPY
from ppl.stdlib.linear_recurrence import linear_recurrence

RNG = np.random.default_rng(0)
N, MOST = 7, 3
X, SCALE = RNG.normal(size=(2, 2, N))
WEIGHTS = RNG.normal(size=(N, MOST)) * (np.arange(N)[:, None] > np.arange(MOST))
WEIGHTS[3] = 0.0


def one_by_one(x: np.ndarray, scale: np.ndarray, weights: np.ndarray) -> np.ndarray:
    y = x + 0 * scale + 0 * weights[..., 0]
    for t in range(x.shape[-1]):
        for k in range(min(t, weights.shape[-1])):
            y[..., t] += scale[..., t] * weights[..., t, k] * y[..., t - 1 - k]
    return y


@pytest.mark.parametrize("of_draws", [(), (0,), (1,), (2,), (0, 1, 2)])
def test_entries_are_those_of_the_definition(of_draws: tuple[int, ...]) -> None:
    args = [X[0], SCALE[0], WEIGHTS]
    for i in of_draws:
        args[i] = np.stack([args[i], 0.5 * args[i]])
    np.testing.assert_allclose(linear_recurrence(NUMPY, *args), one_by_one(*args), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_short_ones_have_fewer_entries_than_weights(n: int) -> None:
    for scale in (SCALE[0, :n], SCALE[:, :n]):
        args = X[:, :n], scale, WEIGHTS[:n]
        np.testing.assert_allclose(linear_recurrence(NUMPY, *args), one_by_one(*args), rtol=1e-12)


@pytest.mark.parametrize("i", range(3))
def test_first_and_second_derivatives(i: int) -> None:
    def of(value: np.ndarray) -> np.ndarray:
        args = [X, SCALE, WEIGHTS]
        args[i] = value
        return linear_recurrence(AUTOGRAD, *args)

    check_grads(of, modes=["rev"], order=2)((X, SCALE, WEIGHTS)[i])


def test_entries_without_a_weight_may_have_no_value() -> None:
    x, weights = X[0].copy(), WEIGHTS.copy()
    x[1] = np.nan
    for k in range(MOST):
        weights[2 + k, k] = 0.0
    y = linear_recurrence(NUMPY, x, SCALE[0], weights)
    assert np.isnan(y).tolist() == [False, True, False, False, False, False, False]
    weights[4, 2] = 1.0
    assert np.isnan(linear_recurrence(NUMPY, x, SCALE[0], weights))[4]


def test_jax_gives_the_same() -> None:
    jax = pytest.importorskip("jax")
    from ppl.jax_backend.namespace import JAX

    def of(*args: np.ndarray) -> np.ndarray:
        return (linear_recurrence(JAX, *args) * np.cos(np.arange(N))).sum()

    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        found = jax.grad(of, argnums=(0, 1))(X, SCALE, WEIGHTS)
    from autograd import grad

    for i in range(2):
        plain = grad(lambda *a: (linear_recurrence(AUTOGRAD, *a) * np.cos(np.arange(N))).sum(), i)
        np.testing.assert_allclose(found[i], plain(X, SCALE, WEIGHTS), rtol=1e-6)
