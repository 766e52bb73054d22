"""Batches for LAPACK under JAX are cut into parts that jaxlib does not spread over its threads."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import ppl
from ppl.arrays import NUMPY

jax = pytest.importorskip("jax")

from ppl.jax_backend.lapack import MOST_OPERATIONS  # noqa: E402
from ppl.jax_backend.namespace import JAX  # noqa: E402
from ppl.jax_backend.target import compiled_target  # noqa: E402

PRODUCTS = {"cholesky": 1, "triangular_solve": 1, "lu": 10, "eigh": 10, "geqrf": 10, "svd": 10}
RNG = np.random.default_rng(1)


def definite(*shape: int) -> np.ndarray:
    root = RNG.standard_normal(shape)
    return root @ np.swapaxes(root, -1, -2) + shape[-1] * np.eye(shape[-1])


def operands(jaxpr: Any) -> list[tuple[str, tuple[int, ...]]]:
    """What LAPACK does anywhere in the code, on a CPU, and the shapes of the matrices that it gets."""
    found = []
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in PRODUCTS:
            found.append((eqn.primitive.name, eqn.invars[0].aval.shape))
        inner = [eqn.params["branches"][0]] if eqn.primitive.name == "cond" else eqn.params.values()
        for value in inner:
            if hasattr(value, "jaxpr"):
                found += operands(value.jaxpr)
            elif hasattr(value, "eqns"):
                found += operands(value)
    return found


def solved(xp, a, b):
    return xp.linalg.solve(a, b)


def lower_solved(xp, a, b):
    return xp.solve_lower(xp.linalg.cholesky(a), b)


def rebuilt(xp, a, b):
    values, vectors = xp.linalg.eigh(a)
    return (vectors * values[..., None, :]) @ xp.np.swapaxes(vectors, -1, -2) @ b


@pytest.mark.rotate
@pytest.mark.parametrize("f", [solved, lower_solved, rebuilt])
@pytest.mark.parametrize(
    ("draws", "rows", "n"),
    [(0, 0, 90), (3, 0, 90), (0, 3, 90), (2, 3, 40), (400, 0, 6), (30, 40, 5), (2, 2, 1)],
)
def test_the_same_numbers_in_parts_of_little_cost(f, draws, rows, n):
    lead = tuple(k for k in (draws, rows) if k)
    a, b = definite(*lead, n, n), RNG.standard_normal((*lead, n, 2))
    traced = partial(f, JAX)
    mapped = jax.vmap(traced) if draws else traced
    with jax.enable_x64(True):
        np.testing.assert_allclose(jax.jit(mapped)(a, b), f(NUMPY, a, b), rtol=1e-9, atol=1e-12)
        given = operands(jax.make_jaxpr(mapped)(a, b).jaxpr)
    assert given
    for name, (*batch, rows_, columns) in given:
        cost = PRODUCTS[name] * math.prod(batch) * rows_ * columns * rows_
        assert math.prod(batch) == 1 or cost <= MOST_OPERATIONS


def test_one_matrix_for_all_draws_is_factored_once():
    a, bs = definite(90, 90), RNG.standard_normal((5, 90, 1))
    mapped = jax.vmap(partial(solved, JAX), (None, 0))
    with jax.enable_x64(True):
        np.testing.assert_allclose(jax.jit(mapped)(a, bs), np.linalg.solve(a, bs), rtol=1e-9)
        assert {shape for _, shape in operands(jax.make_jaxpr(mapped)(a, bs).jaxpr)} == {(90, 90)}


def test_a_large_covariance_for_many_draws_at_once_comes_back():
    """On a machine with two cores this hung while jaxlib had the whole batch."""
    program = """
        data { int N; vector[N] x; vector[N] y; }
        parameters { real<lower=0> a; real<lower=0> s; }
        model { y ~ multi_normal(rep_vector(0, N), add_diag(gp_exp_quad_cov(to_array_1d(x), a, 1), s)); }"""
    x = np.linspace(-3, 3, 200)
    posterior = ppl.compile_model(program).condition({"N": 200, "x": x, "y": np.sin(x)})
    us = RNG.normal(0.0, 0.1, (16, 2))
    values, gradients = compiled_target(posterior).log_density_gradients(us)
    alone = posterior.log_density_gradient(us[3])
    assert values[3] == pytest.approx(alone[0])
    np.testing.assert_allclose(gradients[3], alone[1], rtol=1e-6)
