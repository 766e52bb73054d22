"""The namespace of JAX where it is not JAX's own."""

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from ppl.arrays import NUMPY, Namespace, with_partials, with_vjps  # noqa: E402
from ppl.jax_backend.namespace import JAX, last_of_each  # noqa: E402
from ppl.stdlib.distributions.gaussian_dlm_obs import log_density as dlm_log_density  # noqa: E402
from ppl.stdlib.functions.hmm import marginal  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@with_partials(lambda xp, ans, x, y: 2.0 * x * y, lambda xp, ans, x, y: 7.0 * x**2)
def odd_square(xp: Namespace, x, y):
    """x^2 y, with a derivative in y that is wrong on purpose."""
    return x**2 * y


@with_partials(lambda xp, ans, x: np.cos(np.asarray(x)))
def on_the_host(xp: Namespace, x):
    return np.sin(np.asarray(x))


@with_vjps(None, lambda xp, g, ans, k, x: xp.np.where(xp.np.arange(3) == k, g, 0.0))
def picked(xp: Namespace, k, x):
    return x[k]


def test_the_derivatives_of_a_node_are_its_own() -> None:
    slopes = jax.jit(jax.grad(lambda x, y: odd_square(JAX, x, y), argnums=(0, 1)))(3.0, 5.0)
    assert_allclose(slopes, (30.0, 63.0))


def test_a_broadcast_argument_gets_the_sum() -> None:
    x = np.array([1.0, 2.0, 3.0])
    slope = jax.jit(jax.grad(lambda y: jnp.sum(odd_square(JAX, x, y))))(5.0)
    assert slope == 7.0 * (x**2).sum()
    assert jax.grad(lambda y: odd_square.summed(JAX, x, y))(5.0) == slope


def test_second_derivatives_differentiate_the_partials() -> None:
    assert jax.jit(jax.grad(jax.grad(lambda x: odd_square(JAX, x, 5.0))))(3.0) == 10.0


def test_plain_numpy_runs_on_the_host() -> None:
    x = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    value, slope = jax.jit(jax.value_and_grad(lambda x: jnp.sum(on_the_host(JAX, x))))(x)
    assert_allclose(value, np.sin(x).sum(), atol=1e-15)
    assert_allclose(slope, np.cos(x))
    assert_allclose(jax.jit(jax.vmap(lambda row: on_the_host(JAX, row)))(x), np.sin(x))


def test_ints_may_be_traced() -> None:
    slope = jax.jit(jax.grad(lambda x, k: picked(JAX, k, x)))(jnp.array([4.0, 5.0, 6.0]), 1)
    assert_allclose(slope, [0.0, 1.0, 0.0])


def test_what_is_known_while_tracing_stays_numpy() -> None:
    def f(x):
        known = JAX.np.cumsum(np.array([1, 2, 3]))
        assert isinstance(known, np.ndarray)
        assert isinstance(odd_square(JAX, known, 2.0), np.ndarray)
        return x * known[-1]

    assert jax.jit(f)(2.0) == 12.0


def test_put_leaves_the_old_array_as_it_was() -> None:
    x = np.zeros(3)
    assert_allclose(jax.jit(lambda v: JAX.put(x, 1, v))(5.0), [0.0, 5.0, 0.0])
    assert_allclose(JAX.put(x, 1, 5.0), [0.0, 5.0, 0.0])
    assert_allclose(x, NUMPY.np.zeros(3))


def hmm(steps: int):
    log_omega = np.linspace(-1.0, 0.0, 2 * steps).reshape(2, steps)
    return lambda g: marginal(JAX, log_omega, jnp.stack([jnp.array([g, 1 - g])] * 2), np.array([0.4, 0.6]))


def dlm(steps: int):
    y, one = np.linspace(-1.0, 1.0, steps)[None], np.eye(1)
    return lambda v: dlm_log_density(JAX, y, one, one, v * one, one, np.zeros(1), one)


@pytest.mark.parametrize("function", [hmm, dlm])
def test_recurrences_of_the_library_are_not_unrolled(function) -> None:
    few, many = (str(jax.make_jaxpr(jax.grad(function(steps)))(0.3)).count("\n") for steps in (10, 90))
    assert many < 1.2 * few


def test_expit_keeps_both_tails_and_its_slope_at_zero() -> None:
    u = np.array([-745.0, -40.0, -1.0, 0.0, 2.0, 40.0, 800.0, np.nan])
    assert_allclose(jax.jit(JAX.special.expit)(u), scipy.special.expit(u), rtol=4e-16)
    slopes = jax.vmap(jax.grad(JAX.special.expit))(u)
    assert_allclose(slopes, scipy.special.expit(u) * scipy.special.expit(-u), rtol=1e-15)


@pytest.mark.parametrize("rows", [0, 5, 30_000, 32_771])
@pytest.mark.parametrize("draws", [0, 3])
def test_a_vector_by_a_tall_matrix(rows, draws) -> None:
    rng = np.random.default_rng(1)
    v, a = rng.standard_normal((draws, rows) if draws else rows), rng.standard_normal((rows, 2))

    def product(v):
        return JAX.np.matmul(v, jnp.asarray(a))

    found = jax.jit(jax.vmap(product) if draws else product)(v)
    assert_allclose(found, v @ a, rtol=1e-11, atol=1e-11)


def test_a_tall_product_goes_in_parts_that_are_equal() -> None:
    v, a = np.ones(30_000), np.ones((30_000, 2))
    text = str(jax.make_jaxpr(lambda v: JAX.np.matmul(v, jnp.asarray(a)))(v))
    assert "f64[2,15000,2]" in text


@pytest.mark.parametrize(
    "index",
    [
        np.array([1, 1, 3, 1]),
        (np.array([[2], [0], [2]]), np.array([[1, 1]])),
        (slice(1, 3), np.array([0, 2, 0])),
    ],
    ids=["a vector", "rows and columns", "columns of some rows"],
)
def test_of_a_place_that_is_set_twice_the_last_value_counts_on_every_device(index):
    x = np.zeros((4, 3))
    value = np.arange(1.0, 1.0 + x[index].size).reshape(x[index].shape)
    want = x.copy()
    want[index] = value  # NumPy sets places in order
    np.testing.assert_array_equal(last_of_each(x, index, value), want[index])
