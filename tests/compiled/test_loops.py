"""Nests over pairs of loops under JAX, where what is broadcast is also mapped over draws."""

import numpy as np
import pytest
from ir.loop_programs import DATA, LOOPS, Loop, U

import ppl

pytest.importorskip("jax")

from ppl.compiled.target import compiled_target

PAIRS = [loop for loop in LOOPS if "pairs" in loop.id and "conditions" not in loop.id]
"""Conditions on parameters are out of JAX's reach."""


@pytest.mark.parametrize("loop", PAIRS, ids=lambda loop: loop.id)
def test_pairs_are_what_autograd_makes_of_them(loop: Loop) -> None:
    posterior = ppl.compile_model(loop.text).condition(DATA)
    us = np.array([U, 0.5 * U])
    want = [posterior.log_density_gradient(u) for u in us]
    values, gradients = compiled_target(posterior).log_density_gradients(us)
    np.testing.assert_allclose(values, [value for value, _ in want], rtol=1e-10)
    np.testing.assert_allclose(gradients, [gradient for _, gradient in want], rtol=1e-9, atol=1e-9)
