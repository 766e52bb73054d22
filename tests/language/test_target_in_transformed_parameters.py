"""Functions ending in _lp and `target()` in transformed parameters: the numbers are those of Stan 2.35."""

import numpy as np
import pytest

import ppl

CALLED = """
functions {
  void f_lp(real x) { target += -x ^ 2; }
  real g_lp(real x) { x ~ normal(0, 1); return target(); }
}
parameters { real<lower=0> s; vector[2] v; }
transformed parameters {
  real a = target();
  f_lp(s);
  real b = target();
  real c = g_lp(v[1]);
}
model {
  target += a * 0.1 + b * 0.2 + c * 0.3;
  v ~ normal(0, s);
}
"""
LOOP = """
functions { void f_lp(real x) { target += -x ^ 2; } }
parameters { vector[3] v; }
transformed parameters { vector[3] w; for (i in 1:3) { f_lp(v[i]); w[i] = target(); } }
model { target += sum(w) * 0.1; }
"""
STAN = (
    (CALLED, [0.3] * 3, -5.993568407409647, [-5.767570306674601, -0.554643490828208, -0.16464349082820792]),
    (
        CALLED,
        [-0.7, -0.5, -0.3],
        -3.974276599851424,
        [0.23897709690237, 2.677599983422337, 1.216559990053402],
    ),
    (LOOP, [0.3] * 3, -0.324, [-0.78, -0.72, -0.66]),
    (LOOP, [-0.7, -0.5, -0.3], -1.036, [1.82, 1.2, 0.66]),
)


@pytest.mark.parametrize(("program", "u", "density", "gradient"), STAN)
def test_the_target_is_that_of_stan(
    program: str, u: list[float], density: float, gradient: list[float]
) -> None:
    posterior = ppl.compile_model(program).condition({})
    assert posterior.log_density(np.array(u)) == pytest.approx(density, rel=1e-12)
    found, slope = posterior.log_density_gradient(np.array(u))
    assert found == pytest.approx(density, rel=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-12)


def test_values_see_the_target_without_the_jacobian() -> None:
    posterior = ppl.compile_model(LOOP).condition({})
    found = posterior.param_constrain(np.array([-0.7, -0.5, -0.3]), include_tp=True)
    np.testing.assert_allclose(found[3:], [-0.49, -0.74, -0.83], rtol=1e-12)
    posterior = ppl.compile_model(CALLED).condition({})
    found = posterior.param_constrain(np.array([0.3, 0.3, 0.3]), include_tp=True)
    np.testing.assert_allclose(found[3:5], [0, -1.822118800390509], rtol=1e-12)
