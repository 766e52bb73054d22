"""Densities and distribution functions of every univariate family in compiled code, held to NumPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from ppl.arrays import AUTOGRAD, NUMPY, values_and_grads  # noqa: E402
from ppl.compiled.namespace import JAX  # noqa: E402
from ppl.stdlib.distributions.exp_mod_normal import EXP_MOD_NORMAL  # noqa: E402
from ppl.stdlib.distributions.skew_normal import SKEW_NORMAL  # noqa: E402
from ppl.stdlib.distributions.table import DISTRIBUTIONS  # noqa: E402
from ppl.testing.distributions import functions_of, is_univariate, real_arguments, sample_points  # noqa: E402

CASES = [
    pytest.param(d, name, f, id=f"{d.name}_{name}")
    for d in DISTRIBUTIONS
    if is_univariate(d)
    for name, f in functions_of(d)
]


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def both(d, f, points):
    """Value and gradients by NumPy and its tapes, then compiled, and the compiled code."""
    real = real_arguments(d)

    def filled(reals):
        args = list(points)
        for i, x in zip(real, reals, strict=True):
            args[i] = x
        return args

    given = [np.asarray(points[i], float) for i in real]
    _, slopes = values_and_grads(lambda parts: AUTOGRAD.np.sum(f(AUTOGRAD, *filled(parts))), given)
    compiled = jax.jit(
        jax.value_and_grad(
            lambda parts: (lambda each: (jnp.sum(each), each))(f(JAX, *filled(parts))), has_aux=True
        )
    ).lower([jnp.asarray(x) for x in given])
    (_, each), traced = compiled.compile()([jnp.asarray(x) for x in given])
    return (f(NUMPY, *points), slopes), (each, traced), compiled.as_text()


@pytest.mark.parametrize(("d", "name", "f"), CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_value_and_slopes_without_the_host(d, name, f) -> None:
    """Law over the table."""
    points = sample_points(d, 12)
    possible = np.isfinite(f(NUMPY, *points))
    (value, slopes), (found, traced), code = both(d, f, [p[possible] for p in points])
    assert_allclose(found, value, rtol=1e-12, atol=1e-13)
    for a, b in zip(traced, slopes, strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-11)
    assert "callback" not in code


TAILS = {
    "exp_mod_normal": (
        EXP_MOD_NORMAL,
        [(-39.0, -12.0, -6.0, 0.0, 3.0, 40.0), (0.0,), (1.0,), (0.1, 2.0, 30.0)],
    ),
    "skew_normal": (
        SKEW_NORMAL,
        [(-30.0, -12.0, -5.0, 0.0, 3.0, 30.0), (0.0,), (1.0,), (-8.0, -0.5, 0.0, 3.0)],
    ),
}


@pytest.mark.parametrize("family", TAILS)
@pytest.mark.parametrize("name", ["log_density", "lcdf", "lccdf"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_both_tails(family: str, name: str) -> None:
    d, axes = TAILS[family]
    points = [x.ravel() for x in np.meshgrid(*axes)]
    f = getattr(d, name)
    possible = np.isfinite(f(NUMPY, *points))
    (value, slopes), (found, traced), _ = both(d, f, [p[possible] for p in points])
    assert_allclose(found, value, rtol=1e-11, atol=1e-14)
    for a, b in zip(traced, slopes, strict=True):
        assert_allclose(a, b, rtol=1e-8, atol=1e-12)
