"""log Gamma and digamma as compiled code computes them."""

from functools import partial

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose

jax = pytest.importorskip("jax")
from ppl.jax_backend.namespace import JAX  # noqa: E402
from ppl.jax_backend.special import digamma, gammaln  # noqa: E402
from ppl.stdlib.special.polygamma import digamma as language_digamma  # noqa: E402
from ppl.stdlib.special.polygamma import log_gamma  # noqa: E402

POSITIVE = np.concatenate(
    [np.logspace(-300, -1, 400), np.linspace(0.05, 40.0, 4000), np.logspace(1.6, 300, 400)]
)
EDGES = np.array([1.0, 2.0, np.inf, np.nan])


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", ["gammaln", "digamma"])
@pytest.mark.parametrize("x", [POSITIVE, EDGES], ids=["positive", "edges"])
def test_scipy_has_the_same_value(name: str, x: np.ndarray) -> None:
    """Absolute near the zeros of each, where SciPy alone is exact relative to the value."""
    ours = {"gammaln": gammaln, "digamma": digamma}[name]
    with np.errstate(divide="ignore"):
        expected = getattr(scipy.special, name)(x)
    assert_allclose(jax.jit(ours)(x), expected, rtol=2e-15 if x is POSITIVE else 1e-13, atol=2e-14)


def test_near_the_zeros_the_error_is_that_of_one() -> None:
    x = np.concatenate([np.linspace(0.9, 2.1, 1000), 1.4616321449683622 + np.linspace(-1e-6, 1e-6, 101)])
    assert np.max(np.abs(gammaln(x) - scipy.special.gammaln(x))) < 1e-14
    assert np.max(np.abs(digamma(x) - scipy.special.digamma(x))) < 1e-14


def test_each_is_the_slope_of_the_one_before() -> None:
    x = np.array([0.01, 0.7, 3.0, 7.99, 8.01, 55.0])
    assert_allclose(jax.vmap(jax.grad(gammaln))(x), scipy.special.digamma(x), rtol=1e-14)
    assert_allclose(jax.vmap(jax.grad(digamma))(x), scipy.special.polygamma(1, x), rtol=1e-12)


def test_zero_is_a_pole() -> None:
    assert gammaln(0.0) == np.inf


def test_the_functions_of_the_language_reflect_other_arguments() -> None:
    x = np.array([[1.5, -0.5], [-3.7, 30.0], [-1e-9, -1e5 - 0.25]])
    assert_allclose(jax.vmap(partial(log_gamma, JAX))(x), scipy.special.gammaln(x), rtol=1e-13)
    assert_allclose(jax.vmap(partial(language_digamma, JAX))(x), scipy.special.digamma(x), rtol=1e-13)
