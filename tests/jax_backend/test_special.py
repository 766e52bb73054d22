"""Special functions that JAX lacks, against SciPy's in their tails."""

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from ppl.arrays import NUMPY  # noqa: E402
from ppl.jax_backend.namespace import JAX  # noqa: E402
from ppl.stdlib.special import incomplete_beta, incomplete_gamma  # noqa: E402


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


def test_owens_t_at_the_ends() -> None:
    h, a = np.meshgrid([0.0, 1e-300, 1.0, 40.0, 1e308, np.inf], [0.0, 0.5, 1e308, np.inf, -np.inf])
    assert_allclose(compiled("owens_t", h, a), scipy.special.owens_t(h, a), rtol=5e-13)


SHARES = ["lower", "upper", "log_lower", "log_upper"]


def both(function, *args):
    """By NumPy and compiled, where a double holds all of its digits."""
    expected = np.asarray(function(NUMPY, *args))
    found = np.asarray(jax.jit(lambda *args: function(JAX, *args))(*args))
    held = np.abs(expected) > 1e-290
    return found[held], expected[held]


def gammas():
    a, ratio = np.meshgrid(np.logspace(-10, 3, 27), np.logspace(-4, 3, 22))
    return a.ravel(), (a * ratio).ravel()


def betas():
    shape, near = np.logspace(-5, 3, 9), np.logspace(-9, -1, 9)
    a, b, x = np.meshgrid(shape, shape, np.concatenate([near, [0.35, 0.5, 0.8], 1.0 - near]))
    return a.ravel(), b.ravel(), x.ravel(), 1.0 - x.ravel()


@pytest.mark.rotate
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_incomplete_gamma(name: str) -> None:
    """Both tails, and shapes so small that a share is one less almost nothing."""
    found, expected = both(getattr(incomplete_gamma, name), *gammas())
    assert_allclose(found, expected, rtol=5e-12)


@pytest.mark.rotate
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_incomplete_beta(name: str) -> None:
    found, expected = both(getattr(incomplete_beta, name), *betas())
    assert_allclose(found, expected, rtol=5e-12)


@pytest.mark.rotate
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_in_the_shapes(at: int) -> None:
    a, x = gammas()
    found, expected = both(lambda xp, a, x: incomplete_gamma.slope(xp, a, x, bool(at)), a, x)
    assert_allclose(found, expected, rtol=1e-8)
    moderate = [v[(betas()[0] > 1e-3) & (betas()[1] > 1e-3)] for v in betas()]
    found, expected = both(lambda xp, *args: incomplete_beta.slope(xp, *args, at), *moderate)
    assert_allclose(found, expected, rtol=1e-8)


def test_a_large_shape_by_its_exact_share() -> None:
    """log P(1e6, 995483.936559577), summed in 60 digits; SciPy's is off in the fifth."""
    found = jax.jit(lambda a, x: incomplete_gamma.log_lower(JAX, a, x))(1e6, 995483.936559577)
    assert found == pytest.approx(-12.698728709889653, rel=1e-9)


@pytest.mark.rotate
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shares_at_the_ends(name: str) -> None:
    f, g = getattr(incomplete_gamma, name), getattr(incomplete_beta, name)
    x = np.array([0.0, np.inf, np.nan])
    assert_allclose(jax.jit(lambda x: f(JAX, 2.0, x))(x), f(NUMPY, 2.0, x), atol=0)
    share = np.array([0.0, 1.0, np.nan])
    assert_allclose(
        jax.jit(lambda x: g(JAX, 2.0, 3.0, x, 1.0 - x))(share), g(NUMPY, 2.0, 3.0, share, 1.0 - share)
    )
