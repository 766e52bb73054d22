"""Densities and distribution functions of every univariate family in compiled code, held to NumPy's."""

from functools import cache

import numpy as np
import pytest
from laws.every import every
from numpy.testing import assert_allclose

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from ppl.arrays import AUTOGRAD, NUMPY, values_and_grads  # noqa: E402
from ppl.jax_backend.namespace import JAX  # noqa: E402
from ppl.stdlib.distributions.exp_mod_normal import EXP_MOD_NORMAL  # noqa: E402
from ppl.stdlib.distributions.skew_normal import SKEW_NORMAL  # noqa: E402
from ppl.stdlib.distributions.table import DISTRIBUTIONS  # noqa: E402
from ppl.testing.distributions import functions_of, is_univariate, real_arguments, sample_points  # noqa: E402

CASES = [(d, name, f) for d in DISTRIBUTIONS if is_univariate(d) for name, f in functions_of(d)]


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def filled(d, points, reals):
    """The points, their real arguments replaced."""
    args = list(points)
    for i, x in zip(real_arguments(d), reals, strict=True):
        args[i] = x
    return args


def values_and_slopes(d, functions, points):
    """By name, of one program for all functions at the same points, where XLA makes one of what they share.

    And the code of that program.
    """

    def of(f):
        return lambda parts: (lambda each: (jnp.sum(each), each))(f(JAX, *filled(d, points, parts)))

    given = [jnp.asarray(points[i], float) for i in real_arguments(d)]
    gradients = {name: jax.value_and_grad(of(f), has_aux=True) for name, f in functions.items()}
    compiled = jax.jit(lambda given: {name: g(given) for name, g in gradients.items()}).lower(given)
    compiled = compiled.compile()
    return {name: (each, slopes) for name, ((_, each), slopes) in compiled(given).items()}, compiled.as_text()


def expected(d, f, points):
    """Values by NumPy, gradients by its tapes."""
    given = [np.asarray(points[i], float) for i in real_arguments(d)]
    of = lambda parts: AUTOGRAD.np.sum(f(AUTOGRAD, *filled(d, points, parts)))  # noqa: E731
    return f(NUMPY, *points), values_and_grads(of, given)[1]


def assert_as_in_numpy(d, name, f, points, found, of_values, of_slopes):
    """Values and slopes are those of NumPy where the value is finite, within these tolerances."""
    finite = np.isfinite(f(NUMPY, *points))
    value, slopes = expected(d, f, [p[finite] for p in points])
    each, traced = found[name]
    assert_allclose(each[finite], value, *of_values, err_msg=name)
    for a, b in zip(traced, slopes, strict=True):
        assert_allclose(a[finite], b, *of_slopes, err_msg=name)


@cache
def compiled(d):
    """All functions of a distribution at the points of the law, and their code."""
    points = sample_points(d, 12)
    return points, *values_and_slopes(d, dict(functions_of(d)), points)


@pytest.mark.rotate
@every("d, name, f", CASES, record=lambda case: case[0].name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_value_and_slopes_without_the_host(d, name, f) -> None:
    """Law over the table."""
    points, found, code = compiled(d)
    assert_as_in_numpy(d, name, f, points, found, (1e-12, 1e-13), (1e-9, 1e-11))
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


@pytest.mark.rotate
@pytest.mark.parametrize("family", TAILS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_both_tails(family: str) -> None:
    d, axes = TAILS[family]
    grid = [x.ravel() for x in np.meshgrid(*axes)]
    functions = {name: getattr(d, name) for name in ("log_density", "lcdf", "lccdf")}
    found, _ = values_and_slopes(d, functions, grid)
    for name, f in functions.items():
        assert_as_in_numpy(d, name, f, grid, found, (1e-11, 1e-14), (1e-8, 1e-12))
