"""Programs with solvers: values that are known, gradients by finite differences, draws together as alone."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import ppl
from ppl.density.explaining import explained

LOTKA_VOLTERRA = """
functions {
  vector dz_dt(real t, vector z, real alpha, real beta, array[] real rest) {
    return [(alpha - beta * z[2]) * z[1], (-rest[1] + rest[2] * z[1]) * z[2]]';
  }
}
parameters {
  array[4] real<lower=0> theta;
  vector<lower=0>[2] z0;
  real t0;
}
model {
  array[3] vector[2] z = SOLVER(dz_dt, z0, t0, {1.0, 2.5, 6.0}TOL, theta[1], theta[2], theta[3:4]);
  for (n in 1:3) target += log(z[n]);
}
"""
OLD = """
functions {
  array[] real decay(real t, array[] real y, array[] real theta, data array[] real x_r, array[] int x_i) {
    array[x_i[1]] real dy;
    real rate = theta[1];
    if (t > 0.7) rate *= x_r[1];  // a dose
    for (i in 1:x_i[1]) dy[i] = -rate * y[i] ^ i;
    return dy;
  }
}
data { array[4] real ts; array[1] real x_r; array[1] int x_i; }
parameters { real<lower=0> k; array[2] real<lower=0> y0; }
model {
  target += sum(to_matrix(SOLVER(decay, y0, 0, ts, {k}, x_r, x_iTOL)));
}
"""
STIFF = """
functions {
  vector robertson(real t, vector y, vector k) {
    vector[3] dy;
    dy[1] = -k[1] * y[1] + k[3] * y[2] * y[3];
    dy[3] = k[2] * y[2]^2;
    dy[2] = -dy[1] - dy[3];
    return dy;
  }
}
parameters { vector[3] u; }
model {
  vector[3] k = [0.04, 3e7, 1e4]' .* exp(u);
  target += ode_bdf(robertson, [1, 0, 0]', 0, {0.4, 40, 4000}, k)[3];
}
"""
ROOT = """
functions {
  vector f(vector x, real a, vector b) { return [x[1]^2 + x[2] - a, x[1] - b[1] * x[2]^3]'; }
  vector old(vector x, vector theta, data array[] real x_r, data array[] int x_i) {
    return x .* exp(x) - theta * x_r[1];
  }
}
parameters { real<lower=1> a; vector<lower=0.1>[2] b; }
model {
  target += SOLVER(f, [1, 1]', a, b);
  target += algebra_solver(old, rep_vector(0.5, 2), b, {2.0}, {1});
}
"""
INTEGRAL = """
functions {
  real f(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
    return exp(-theta[1] * x) * x ^ (theta[2] - 1) / x_r[1];
  }
}
parameters { array[2] real<lower=0.5> theta; real<lower=0, upper=1> low; }
model {
  target += log(integrate_1d(f, low, positive_infinity(), theta, {2.0}, {0}));
  target += integrate_1d(f, low, low + 1, theta, {2.0}, {0}, 1e-9);
}
"""
VARIADIC = """
functions {
  real f(real x, real xc, real a, data real c, vector b) {
    return exp(-a * x) * c * exp(-square(5 * (x - b[1])) + b[2]);
  }
  real end(real x, real xc, real a) { return beta_lpdf(0.5 | a, 2) * pow(x, a - 1); }
}
parameters { real<lower=0.5> a; vector[2] b; real<lower=0, upper=1> low; }
model {
  target += log(integrate_1d_gauss_kronrod(f, low, positive_infinity(), a, 2.0, b));
  target += integrate_1d_gauss_kronrod_tol(f, -3, low + 1, 1e-9, 1e-9, 12, -a, 2.0, b);
  target += integrate_1d_double_exponential(end, 0, low, a);
  target += integrate_1d_double_exponential_tol(end, 0, 1 + low, 1e-8, 0, 8, 2.0);
}
"""
DATA = {"ts": [0.2, 0.6, 1.5, 4.0], "x_r": [3.0], "x_i": [2]}


def variants(program: str, solvers: list[str], tolerances: str) -> list[str]:
    plain = [program.replace("SOLVER", s).replace("TOL", "") for s in solvers]
    return [*plain, *(program.replace("SOLVER", f"{s}_tol").replace("TOL", tolerances) for s in solvers)]


CASES = [
    *((p, {}) for p in variants(LOTKA_VOLTERRA, ["ode_rk45", "ode_bdf"], ", 1e-8, 1e-8, 10000")),
    *((OLD.replace("SOLVER", f"integrate_ode{s}").replace("TOL", ""), DATA) for s in ("", "_bdf")),
    (OLD.replace("SOLVER", "integrate_ode_adams").replace("TOL", ", 1e-9, 1e-9, 1e5"), DATA),
    (STIFF, {}),
    *((ROOT.replace("SOLVER", s), {}) for s in ("solve_newton", "solve_powell")),
    (INTEGRAL, {}),
    (VARIADIC, {}),
]


@pytest.mark.rotate
@pytest.mark.parametrize(("program", "data"), CASES)
def test_gradients_and_draws_together(program: str, data: dict) -> None:
    """Also a branch on time, which parts the points at which a solver asks for the function."""
    posterior = ppl.compile_model(program).condition(data)
    us = 0.3 * np.random.default_rng(1).standard_normal((5, posterior.param_unc_num()))
    values, gradients = posterior.log_density_gradients(us)
    for u, value, gradient in zip(us, values, gradients, strict=True):
        alone, slope = posterior.log_density_gradient(u)
        assert value == pytest.approx(alone, rel=1e-7)  # rounding may accept a step or not
        assert gradient == pytest.approx(slope, rel=1e-5, abs=1e-7)
        steps = 1e-3 * np.eye(len(u))
        above, below = np.split(posterior.log_densities(np.concatenate([u + steps, u - steps])), 2)
        assert slope == pytest.approx((above - below) / 2e-3, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("solver", ["ode_rk45", "ode_ckrk", "ode_adams", "ode_bdf"])
def test_states_are_those_of_scipy(solver: str) -> None:
    posterior = ppl.compile_model(LOTKA_VOLTERRA.replace("SOLVER", solver).replace("TOL", "")).condition({})
    u = np.array([-0.6, -3.6, -0.2, -3.6, 3.4, 1.8, -0.5])
    a, b, c, d, *z0 = np.exp(u[:6])
    states = solve_ivp(
        lambda t, z: [(a - b * z[1]) * z[0], (-c + d * z[0]) * z[1]],
        (-0.5, 6.0),
        z0,
        "DOP853",
        [1.0, 2.5, 6.0],
        rtol=1e-12,
        atol=1e-12,
    ).y
    assert posterior.log_density(u, jacobian=False) == pytest.approx(np.log(states).sum(), abs=1e-6)


@pytest.mark.rotate
def test_a_solution_that_ends_is_a_rejection_with_its_reason() -> None:
    program = """
    functions { vector f(real t, vector y) { return y .* y; } }
    parameters { real<lower=0> y0; }
    model { target += ode_rk45_tol(f, [y0]', 0, {2.0}, 1e-6, 1e-6, 500)[1]; }
    """
    model = ppl.compile_model(program)
    posterior = model.condition({})
    assert posterior.log_density(np.array([-2.0]), jacobian=False) == pytest.approx(
        1 / (np.exp(2) - 2), rel=1e-6
    )
    assert posterior.log_density(np.zeros(1)) == -np.inf
    assert "`ode_rk45_tol` stopped at about t = 0" in explained(model, posterior.d, np.zeros(1))
    values = posterior.log_densities(np.array([[-2.0], [0.0], [-3.0], [-2.5], [-4.0]]))
    assert np.isfinite(values).tolist() == [True, False, True, True, True]
