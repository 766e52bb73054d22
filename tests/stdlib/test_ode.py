"""Differential equations: solutions against exact ones and SciPy's, gradients against differences."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import ppl
from ppl.arrays import NUMPY
from ppl.errors import Rejection
from ppl.stdlib.functions.ode import STEPS, ode
from ppl.stdlib.special.runge_kutta import NODES, STAGES, WEIGHTS, Tolerance, solve

TIGHT = (1e-10, 1e-10, 100_000)

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


def exact(t, y):
    return np.array([y[1], -y[0]])


def test_the_method_is_consistent_and_of_order_five():
    assert np.allclose(STAGES.sum(axis=1), NODES, rtol=0, atol=1e-15)
    for order in range(1, 6):
        assert WEIGHTS @ NODES ** (order - 1) == pytest.approx(1 / order, abs=1e-15)


def test_an_oscillator_comes_round():
    times = np.array([0.5, np.pi, 10 * np.pi])
    y = ode(NUMPY, exact, np.array([1.0, 0.0]), 0.0, times, *TIGHT)
    assert np.allclose(y, np.stack([np.cos(times), -np.sin(times)], axis=1), rtol=0, atol=1e-7)


def test_a_looser_tolerance_takes_fewer_steps_and_keeps_its_word():
    def field(t, y, rows):
        return np.stack([y[:, 1], -y[:, 0]], axis=1)

    one, start, times = np.array([[1.0, 0.0]]), np.zeros(1), np.array([[20.0]])
    found = [solve(field, one, start, times, Tolerance(tol, tol, 10_000)) for tol in (1e-4, 1e-8)]
    errors = [abs(f.y[0, 0, 0] - np.cos(20)) for f in found]
    assert len(found[0].steps) < len(found[1].steps) / 3
    assert errors[0] < 2e-2 and errors[1] < 2e-6


def test_problems_beside_one_another_take_steps_of_their_own():
    def field(t, y, rows):
        return -np.array([0.3, 40.0])[rows][:, None] * y

    times = np.array([[1.0, 2.0]] * 2)
    together = solve(field, np.ones((2, 1)), np.zeros(2), times, Tolerance(1e-8, 1e-8, 10_000))
    for k in range(2):

        def alone(t, y, rows, k=k):
            return field(t, y, np.full(len(rows), k))

        one = solve(alone, np.ones((1, 1)), np.zeros(1), times[:1], Tolerance(1e-8, 1e-8, 10_000))
        assert np.allclose(one.y[0], together.y[k], rtol=0, atol=1e-14)
    assert np.allclose(together.y[:, :, 0], np.exp(-np.outer([0.3, 40.0], [1, 2])), rtol=0, atol=1e-7)


def test_what_runs_away_is_rejected():
    with pytest.raises(Rejection, match=f"not solved in {STEPS} steps"):
        ode(NUMPY, lambda t, y: y**2, np.array([1.0]), 0.0, np.array([2.0]), *TIGHT)


@pytest.mark.parametrize("times", [[0.0, 1.0], [1.0, 0.5], [-1.0]])
def test_times_must_come_after_the_start_in_order(times):
    with pytest.raises(Rejection, match="must increase and come after the first, 0"):
        ode(NUMPY, exact, np.array([1.0, 0.0]), 0.0, np.array(times), *TIGHT)


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


def test_draws_may_part_inside_the_function():
    posterior = ppl.compile_model(BRANCHES).condition({})
    us = np.random.default_rng(1).normal(0, 0.3, (6, 2))
    values, gradients = posterior.log_density_gradients(us)
    for u, value, gradient in zip(us, values, gradients, strict=True):
        k, off = np.exp(u)
        at_three = 0.5 * np.exp(-3 * k) + 2 / k * (np.exp(-k * (3 - off)) - np.exp(-3 * k))
        solved = posterior.values(u, None, True, False)["y"][1, 0]
        assert solved == pytest.approx(at_three, abs=1e-5)
        assert posterior.log_density_gradient(u)[0] == pytest.approx(value, rel=1e-9)
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


def test_jax_leaves_it_to_autograd(lotka):
    pytest.importorskip("jax")
    with pytest.raises(ppl.InferenceError, match="solves a differential equation"):
        lotka.variational(backend="jax", iter=10)


def test_what_solving_costs_is_counted(lotka):
    assert lotka.width < 100 < 20 * 6 * 2 * 2 < lotka.cost
