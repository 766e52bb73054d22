"""Special functions that JAX lacks, against SciPy's in their tails."""

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from ppl.compiled.namespace import JAX  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def compiled(name: str, *args):
    return np.asarray(jax.jit(getattr(JAX.special, name))(*map(jnp.asarray, args)))


@pytest.mark.parametrize("x", [-40.0, -37.6, -20.0, -5.0, -1e-3, 0.0, 1e-3, 5.0, 9.0])
def test_log_ndtr_in_both_tails(x: float) -> None:
    assert_allclose(compiled("log_ndtr", x), scipy.special.log_ndtr(x), rtol=1e-13)


def test_erfcx_everywhere() -> None:
    """JAX's own is 0 from 26.54 to 26.64."""
    x = np.concatenate([np.linspace(-20.0, 60.0, 20_001), np.logspace(2, 300, 50)])
    assert_allclose(compiled("erfcx", x), scipy.special.erfcx(x), rtol=3e-14)
    assert np.isnan(compiled("erfcx", np.nan))


def test_the_normal_quantile_of_a_log_probability() -> None:
    """Its log probability is what was given: SciPy's own is off by 1e-12 in the tail."""
    log_p = -np.concatenate([np.logspace(-12, 3, 2001), np.logspace(3, 100, 50)])
    z = compiled("ndtri_exp", log_p)
    assert_allclose(z, scipy.special.ndtri_exp(log_p), rtol=2e-12)
    left = log_p < -1.0
    assert_allclose(scipy.special.log_ndtr(z[left]), log_p[left], rtol=2e-15)
    assert_allclose(compiled("ndtri_exp", np.array([-np.inf, 0.0, 1.0])), [-np.inf, np.inf, np.nan])


def test_the_inverse_of_erfc() -> None:
    x = np.concatenate([np.logspace(-300, 0, 300), 2.0 - np.logspace(-15, 0, 100)])
    assert_allclose(compiled("erfcinv", x), scipy.special.erfcinv(x), rtol=2e-15)


def test_owens_t() -> None:
    h, a = np.meshgrid(
        np.concatenate([[0.0], np.logspace(-3, 1.5, 60)]),
        np.concatenate([[0.0, 1.0], np.logspace(-3, 3, 60)]),
    )
    for sign in (-1.0, 1.0):
        assert_allclose(compiled("owens_t", h, sign * a), scipy.special.owens_t(h, sign * a), rtol=5e-13)
    assert_allclose(compiled("owens_t", -h, a), compiled("owens_t", h, a), rtol=0)
