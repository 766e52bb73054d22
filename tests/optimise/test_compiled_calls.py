"""Functions that solvers call often are compiled, and give the same bits as they do as emitted."""

import numpy as np
import pytest

import ppl
from ppl.optimise import compiled_calls, solver_functions

PROGRAM = """
functions {
  vector f(real t, vector y, vector k, real gain, data array[] real x, data array[] int at) {
    vector[2] rate;
    BODY
    rate[2] = k[2] * y[1] - x[at[1]] * y[2] + gain * exp(-t);
    return rate;
  }
}
parameters { vector<lower=0>[2] k; real gain; }
model {
  k ~ normal(0, 1);
  gain ~ normal(0, 1);
  array[3] vector[2] y = ode_rk45(f, [1, gain]', 0, {0.5, 1, 2}, k, 2.5, {0.3, 0.7}, {2});
  for (n in 1:3) y[n] ~ normal(0.5, 1);
}
"""
BODIES = {
    "compiled": "rate[1] = -k[1] * y[1] * y[2];",
    "looks at a value": "rate[1] = y[2] > 0.2 ? -k[1] * y[1] : -y[1];",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_compiled_call_gives_the_same_bits(name: str, monkeypatch) -> None:
    posterior = ppl.compile_model(PROGRAM.replace("BODY", BODIES[name])).condition({})
    us = np.random.default_rng(0).normal(0, 0.7, (4, 3))
    made: list[compiled_calls.CompiledCalls] = []
    of = solver_functions.Points.of

    def noted(field, draws):
        made.append(field.function.calls)
        return of(field, draws)

    monkeypatch.setattr(solver_functions.Points, "of", noted)
    for _ in range(6):
        found = posterior.log_density_gradients(us)
    kinds = {kind[0] for kind, compiled in made[-1].compiled.items() if compiled}
    assert kinds == ({"value", "pull"} if name == "compiled" else set())
    monkeypatch.setattr(solver_functions, "filled", lambda count: 0)
    for ours, expected in zip(found, posterior.log_density_gradients(us), strict=True):
        np.testing.assert_array_equal(ours, expected)
