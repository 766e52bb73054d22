"""Nests over pairs of loops under JAX, where what is broadcast is also mapped over draws."""

import numpy as np
import pytest

import ppl
from tests.optimise.loop_programs import DATA, LOOPS, Loop, U

pytest.importorskip("jax")

from ppl.jax_backend.target import compiled_target

PAIRS = [loop for loop in LOOPS if "pairs" in loop.id]


@pytest.mark.rotate
@pytest.mark.parametrize("loop", PAIRS, ids=lambda loop: loop.id)
def test_pairs_are_what_autograd_makes_of_them(loop: Loop) -> None:
    posterior = ppl.compile_model(loop.text).condition(DATA)
    us = np.array([U, 0.5 * U])
    want = [posterior.log_density_gradient(u) for u in us]
    values, gradients = compiled_target(posterior).log_density_gradients(us)
    np.testing.assert_allclose(values, [value for value, _ in want], rtol=1e-10)
    np.testing.assert_allclose(gradients, [gradient for _, gradient in want], rtol=1e-9, atol=1e-9)


def test_a_loop_over_calls_takes_arrays_that_the_branches_of_another_left_plain():
    program = """
      functions { vector f(vector a) { if (a[1] < a[2]) return a; return -a; } }
      data { int M, N; array[N] int<lower=0> y; matrix[N, 2] x; array[M] vector[2] b; }
      parameters { real a; }
      model { for (m in 1:M) y ~ poisson_log_glm(x, a, f(b[m])); }
    """
    data = {"M": 2, "N": 2, "y": [3, 1], "x": [[1, 2], [0, 1]], "b": [[-0.2, 0.4], [0.3, 0.1]]}
    posterior = ppl.compile_model(program).condition(data)
    value, gradient = compiled_target(posterior).log_density_gradient(np.array([0.3]))
    assert value == pytest.approx(posterior.log_density([0.3]), rel=1e-12)
    assert gradient == pytest.approx(posterior.log_density_gradient([0.3])[1], rel=1e-12)
