"""Differential equations in programs: against exact solutions and SciPy, gradients, branches, loops."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import ppl

LOTKA = """
functions {
  vector lotka(real t, vector z, real a, vector b, data real c) {
    return [(a - b[1] * z[2]) * z[1], (-c + b[2] * z[1] + 0.05 * sin(t)) * z[2]]';
  }
}
data { int n; array[n] real times; }
parameters { real<lower=0> a; vector<lower=0>[2] b; vector<lower=0>[2] start; real begin; real late; }
transformed parameters {
  array[n] vector[2] z = ode_rk45_tol(lotka, start, begin, times, 1e-10, 1e-10, 100000, a, b, 0.8);
  array[2] vector[2] later = ode_bdf(lotka, start, 0, {1.0, 2 + exp(late)}, a, b, 0.8);
}
model { for (k in 1:n) z[k] ~ normal(20, 7); later[2] ~ normal(10, 3); }
"""
DATA = {"n": 4, "times": [1.0, 2.5, 2.5, 6.0]}
POINT = np.array([-0.5, -3.5, -3.6, 3.0, 1.8, 0.2, -0.3])


@pytest.fixture(scope="module")
def lotka():
    return ppl.compile_model(LOTKA).condition(DATA)


def test_a_program_solves_as_scipy_does(lotka):
    values = lotka.values(POINT, None, True, False)
    a, b = values["a"], values["b"]

    def field(t, z):
        return [(a - b[0] * z[1]) * z[0], (-0.8 + b[1] * z[0] + 0.05 * np.sin(t)) * z[1]]

    for begin, times, found in (
        (0.2, DATA["times"], values["z"]),
        (0.0, [1.0, 2 + np.exp(-0.3)], values["later"]),
    ):
        solution = solve_ivp(field, (begin, times[-1]), values["start"], "DOP853", rtol=1e-12, atol=1e-12,
                             dense_output=True)  # fmt: skip
        assert np.allclose(found, solution.sol(np.array(times)).T, rtol=1e-7)


def test_gradients_are_right_in_states_times_and_arguments(lotka):
    gradient = lotka.log_density_gradient(POINT)[1]
    steps = 1e-5 * np.eye(len(POINT))
    differences = [(lotka.log_density(POINT + s) - lotka.log_density(POINT - s)) / 2e-5 for s in steps]
    assert np.allclose(gradient, differences, rtol=1e-5, atol=1e-5)


def test_many_draws_are_solved_as_one_is(lotka):
    us = POINT + 0.2 * np.random.default_rng(1).standard_normal((9, len(POINT)))
    values, gradients = lotka.log_density_gradients(us)
    for u, value, gradient in zip(us, values, gradients, strict=True):
        one = lotka.log_density_gradient(u)
        assert one[0] == pytest.approx(value, rel=1e-12) == lotka.log_density(u)
        assert np.allclose(one[1], gradient, rtol=1e-9, atol=1e-9)


BRANCHES = """
functions {
  array[] real dose(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) {
    real input = t < theta[2] && x_i[1] == 1 ? x_r[1] : 0;
    return {input - theta[1] * y[1]};
  }
}
parameters { array[2] real<lower=0> theta; }
transformed parameters {
  array[2, 1] real y = integrate_ode_rk45(dose, {0.5}, 0, {1, 3}, theta, {2.0}, {1}, 1e-8, 1e-8, 10000);
}
model { theta ~ normal(1, 1); y[2, 1] ~ normal(1, 0.5); }
"""


@pytest.mark.rotate
def test_draws_may_part_inside_the_function():
    posterior = ppl.compile_model(BRANCHES).condition({})
    us = np.random.default_rng(1).normal(0, 0.3, (6, 2))
    values, gradients = posterior.log_density_gradients(us)
    for u, value, gradient in zip(us, values, gradients, strict=True):
        k, off = np.exp(u)
        at_three = 0.5 * np.exp(-3 * k) + 2 / k * (np.exp(-k * (3 - off)) - np.exp(-3 * k))
        solved = posterior.values(u, None, True, False)["y"][1, 0]
        assert solved == pytest.approx(at_three, abs=1e-5)
        # which steps lead across the jump depends on the rounding of errors: equal to the tolerance asked for
        assert posterior.log_density_gradient(u)[0] == pytest.approx(value, rel=1e-8)
        assert np.allclose(posterior.log_density_gradient(u)[1], gradient)


def test_a_loop_over_subjects_solves_each():
    program = """
    functions { vector decay(real t, vector y, real k) { return -k * y; } }
    data { int J; vector[J] y; }
    parameters { vector<lower=0>[J] k; }
    transformed parameters {
      vector[J] end;
      for (j in 1:J) { array[1] vector[1] z = ode_ckrk(decay, [2.0]', 0, {1.5}, k[j]); end[j] = z[1, 1]; }
    }
    model { k ~ exponential(1); y ~ normal(end, 0.1); }
    """
    posterior = ppl.compile_model(program).condition({"J": 3, "y": [1.0, 0.5, 0.2]})
    u = np.array([-0.5, 0.1, 0.3])
    end = posterior.values(u, None, True, False)["end"]
    assert np.allclose(end, 2 * np.exp(-1.5 * np.exp(u)), rtol=0, atol=3e-6)
    us = u + 0.1 * np.random.default_rng(1).standard_normal((5, 3))
    values = posterior.log_density_gradients(us)[0]
    assert np.allclose(values, [posterior.log_density(v) for v in us], rtol=1e-12)


@pytest.mark.parametrize("solver", ["ode_rk45", "ode_ckrk", "ode_adams", "ode_bdf"])
def test_rates_too_fast_for_doubles_are_rejected_and_leave_the_other_draws_alone(solver):
    program = """
    functions { vector exchange(real t, vector z, real k) { return k * [z[2] - z[1], z[1] - z[2]]'; } }
    parameters { real<lower=0> k; }
    model {
      array[1] vector[2] z = SOLVER(exchange, [10, 0]', 0, {1.0}, k);
      z[1, 1] ~ normal(5, 1);
    }
    """
    posterior = ppl.compile_model(program.replace("SOLVER", solver)).condition({})
    us = np.array([[0.0], [50.0], [-1.0], [300.0]])
    values, gradients = posterior.log_density_gradients(us)
    assert np.isfinite(gradients[::2]).all() and (values[1::2] == -np.inf).all()
    assert np.allclose(
        values[::2], us[::2, 0] - 12.5 * np.exp(-4 * np.exp(us[::2, 0])) - np.log(2 * np.pi) / 2
    )
    assert np.allclose(posterior.log_densities(us), [posterior.log_density(u) for u in us], rtol=1e-12)


def test_what_solving_costs_is_counted(lotka):
    assert lotka.width < 100 < 300 * (4 + 2) * 2 < lotka.cost
