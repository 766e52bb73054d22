"""Differential equations, roots and integrals in compiled code: as under autograd, draw by draw."""

from functools import cache

import numpy as np
import pytest
from scipy.special import beta

import ppl

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from ppl.jax_backend.initial_value import DRAWS_A_ROUND  # noqa: E402
from ppl.jax_backend.integrals import DOUBLE_EXPONENTIAL, GAUSS_KRONROD, integral  # noqa: E402
from ppl.jax_backend.target import compiled_target  # noqa: E402
from ppl.stdlib.solvers.quadrature import Precision  # noqa: E402

FORCED = """
functions {
  vector turn(real t, vector z, real a, vector b, data real c) {
    return [(a - b[1] * z[2]) * z[1], (-c + b[2] * z[1] + 0.05 * sin(t)) * z[2]]';
  }
}
data { int n; array[n] real times; }
parameters { real<lower=0> a; vector<lower=0>[2] b; vector<lower=0>[2] start; real begin; real late; }
transformed parameters {
  array[n] vector[2] z = ode_rk45_tol(turn, start, begin, times, 1e-10, 1e-10, 100000, a, b, 0.8);
  array[2] vector[2] later = ode_ckrk(turn, start, 0, {1.0, 2 + exp(late)}, a, b, 0.8);
}
model { for (k in 1:n) z[k] ~ normal(20, 7); later[2] ~ normal(10, 3); }
"""
DATA = {"n": 4, "times": [1.0, 2.5, 2.5, 6.0]}
POINT = np.array([-0.5, -3.5, -3.6, 3.0, 1.8, 0.2, -0.3])

STIFF = """
functions {
  vector robertson(real t, vector y, array[] real k, real scale) {
    real first = -k[1] * y[1] + k[3] * y[2] * y[3];
    real third = k[2] * square(y[2]);
    return scale * [first, -first - third, third]';
  }
}
parameters { array[3] real<lower=0> k; real<lower=0> scale; }
transformed parameters {
  array[2] vector[3] y = ode_bdf_tol(robertson, [1, 0, 0]', 0, {1.0, 40.0}, 1e-7, 1e-9, 10000, k, scale);
}
model { y[1] ~ normal(0.9, 0.1); y[2] ~ normal(0.7, 0.05); }
"""
FAST = np.log([0.04, 3e7, 1e4, 1.0])

SUBJECTS = """
functions { vector decay(real t, vector y, real k) { return -k * y; } }
data { int J; vector[J] y; }
parameters { vector<lower=0>[J] k; }
transformed parameters {
  vector[J] end;
  for (j in 1:J) { array[1] vector[1] z = ode_rk45(decay, [2.0]', 0, {1.5}, k[j]); end[j] = z[1, 1]; }
}
model { k ~ exponential(1); y ~ normal(end, 0.1); }
"""
WITHOUT_DATA = """
functions {
  array[] real decay(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) {
    return {-theta[1] * y[1]};
  }
}
data { array[2] real times; }
parameters { array[1] real<lower=0> theta; array[1] real<lower=0> start; }
transformed parameters {
  array[2, 1] real y = integrate_ode_rk45(decay, start, 0, times, theta, rep_array(0.0, 0), rep_array(0, 0));
}
model { y[, 1] ~ normal(0.5, 0.1); }
"""
ROOTS = """
functions {
  vector f(vector x, real a, vector b) { return [x[1]^2 + x[2] - a, x[1] - b[1] * x[2]^3]'; }
  vector old(vector x, vector theta, data array[] real x_r, data array[] int x_i) {
    return x .* exp(x) - theta * x_r[1] * x_i[1];
  }
}
data { array[1] real x_r; array[1] int x_i; }
parameters { real<lower=1> a; vector<lower=0.1>[2] b; }
model {
  target += solve_newton(f, [1, 1]', a, b);
  target += solve_powell_tol(f, [2, 1]', 1e-9, 1e-9, 100, a, b);
  target += algebra_solver(old, rep_vector(0.5, 2), b, x_r, x_i);
}
"""
STEADY = """
functions { vector balance(vector x, real k, real n) { return [2 / (1 + pow(x[1], n)) - k * x[1]]'; } }
data { int J; vector[J] y; vector[J] n; }
parameters { real<lower=0> k; vector[J] shift; }
model {
  for (j in 1:J) y[j] ~ normal(solve_newton(balance, [1.0]', k, n[j])[1] + shift[j], 0.1);
  shift ~ normal(0, 1);
}
"""
INTEGRALS = """
functions {
  real f(real x, real xc, array[] real theta, data array[] real x_r, data array[] int x_i) {
    return exp(-theta[1] * x) * x ^ (theta[2] - 1) / (x_r[1] * x_i[1]);
  }
  real ends(real x, real xc, array[] real theta, data array[] real x_r, data array[] int x_i) {
    return beta_lpdf(0.5 | theta[1], theta[2]) * pow(x, theta[1] - 1);
  }
  real peaked(real x, real xc, real at, vector b) { return exp(-x * b[1]) + exp(-square(9 * (x - at))); }
}
data { array[1] real x_r; array[1] int x_i; }
parameters { array[2] real<lower=0.5> theta; real<lower=0, upper=1> low; }
model {
  target += log(integrate_1d(f, low, positive_infinity(), theta, x_r, x_i));
  target += integrate_1d(f, low, low + 1, theta, x_r, x_i, 1e-9);
  target += integrate_1d(f, 1.5, 1.5, theta, x_r, x_i);
  target += integrate_1d(ends, 0, low, theta, x_r, x_i);
  target += integrate_1d_gauss_kronrod_tol(peaked, low, 2, 1e-9, 1e-9, 12, low + 0.3, [theta[1]]');
}
"""
PLAIN = {"x_r": [2.0], "x_i": [3]}
CASES = {
    "roots": (ROOTS, PLAIN, np.zeros(3), 0.3),
    "steady": (STEADY, {"J": 3, "y": [1.0, 1.2, 0.8], "n": [2, 3.5, 4]}, np.zeros(4), 0.3),
    "integrals": (INTEGRALS, PLAIN, np.array([0.2, -0.5, 0.0]), 0.2),
    "without data": (WITHOUT_DATA, {"times": [1.0, 2.0]}, np.array([0.1, 0.2]), 0.5),
    "forced": (FORCED, DATA, POINT, 0.2),
    "stiff": (STIFF, {}, FAST, 0.3),
    "subjects": (SUBJECTS, {"J": 3, "y": [1.0, 0.5, 0.2]}, np.array([-0.5, 0.1, 0.3]), 0.5),
}


@cache
def both(name):
    """The posterior of a case, and its compiled target, whose code all tests of it share."""
    program, data, *_ = CASES[name]
    posterior = ppl.compile_model(program).condition(data)
    return posterior, compiled_target(posterior)


@pytest.mark.rotate
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_autograd(name) -> None:
    *_, point, sd = CASES[name]
    posterior, target = both(name)
    us = point + sd * np.random.default_rng(1).standard_normal((9, len(point)))
    expected, slopes = posterior.log_density_gradients(us)
    values, gradients = target.log_density_gradients(us)
    assert values == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert gradients == pytest.approx(slopes, rel=1e-5, abs=1e-5)
    value, gradient = target.log_density_gradient(us[3])
    assert value == pytest.approx(values[3], rel=1e-9)
    assert gradient == pytest.approx(gradients[3], rel=1e-9, abs=1e-9)


@pytest.mark.rotate
def test_draws_that_need_many_steps_and_few_go_through_one_loop() -> None:
    """More draws than a round takes, some of them stiff, so that their places are taken by others."""
    (*_, point, _), (posterior, target) = CASES["stiff"], both("stiff")
    us = point + np.random.default_rng(2).uniform(-4, 2, (2 * DRAWS_A_ROUND + 7, 1)) * [1, 1, 1, 0]
    values, gradients = target.log_density_gradients(us)
    expected, slopes = posterior.log_density_gradients(us)
    assert values == pytest.approx(expected, rel=1e-6, abs=1e-5)
    assert gradients == pytest.approx(slopes, rel=1e-4, abs=1e-4)


@pytest.mark.rotate
def test_what_has_no_solution_has_no_density() -> None:
    program = """
    functions { vector away(real t, vector y, real k) { return k * square(y); } }
    parameters { real<lower=0> k; }
    transformed parameters { array[1] vector[1] y = ode_rk45(away, [1.0]', 0, {1.0}, k); }
    model { y[1] ~ normal(2, 1); }
    """
    target = compiled_target(ppl.compile_model(program).condition({}))
    ks = np.array([0.5, 2.0, 0.9])
    values = target.log_densities(np.log(ks)[:, None])
    assert np.isfinite(values).tolist() == [True, False, True]
    assert values[0] - np.log(0.5) == pytest.approx(values[2] - np.log(0.9) + 32, abs=1e-3)


@pytest.mark.rotate
def test_rates_too_fast_for_doubles_have_no_density() -> None:
    program = """
    functions { vector exchange(real t, vector z, real k) { return k * [z[2] - z[1], z[1] - z[2]]'; } }
    parameters { real<lower=0> k; }
    transformed parameters { array[1] vector[2] z = ode_bdf(exchange, [10, 0]', 0, {1.0}, k); }
    model { z[1, 1] ~ normal(5, 1); }
    """
    posterior, us = ppl.compile_model(program).condition({}), np.array([[0.0], [50.0], [-1.0], [300.0]])
    values = compiled_target(posterior).log_densities(us)
    assert np.isfinite(values).tolist() == [True, False, True, False]
    assert values[::2] == pytest.approx(posterior.log_densities(us)[::2], abs=1e-6)


@pytest.mark.rotate
@pytest.mark.parametrize("name", ["roots", "steady", "integrals"])
def test_slopes_are_finite_differences(name) -> None:
    *_, point, _ = CASES[name]
    _, target = both(name)
    u = point + 0.1
    steps = 1e-4 * np.eye(len(u))
    differences = [(target.log_density(u + h) - target.log_density(u - h)) / 2e-4 for h in steps]
    assert target.log_density_gradient(u)[1] == pytest.approx(differences, rel=1e-5, abs=1e-6)


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("functions", "term"),
    [
        ("vector f(vector x, real a) { return x .* x - a; }", "solve_newton(f, [0.3]', a)[1]"),
        ("vector f(vector x, real a) { return x .* x - a; }", "solve_powell(f, [0.3]', a)[1]"),
        (
            "real f(real x, real xc, array[] real a, data array[] real r, data array[] int i)"
            "{ return pow(x, -2 + a[1]); }",
            "integrate_1d(f, 0, 1, {a}, {0.0}, {0})",
        ),
        (
            "real f(real x, real xc, array[] real a, data array[] real r, data array[] int i) { return x; }",
            "integrate_1d(f, 0, a, {a}, {0.0}, {0})",
        ),
    ],
    ids=["newton", "powell", "divergent", "backwards"],
)
def test_what_has_no_root_or_no_integral_has_no_density(functions, term) -> None:
    program = f"functions {{ {functions} }} parameters {{ real a; }} model {{ target += {term}; }}"
    posterior = ppl.compile_model(program).condition({})
    us = np.array([[2.0], [-1.0], [1.5]])
    values = compiled_target(posterior).log_densities(us)
    assert np.isfinite(values).tolist() == np.isfinite(posterior.log_densities(us)).tolist()
    assert np.isfinite(values).tolist() == [True, False, True]
    assert values[[0, 2]] == pytest.approx(posterior.log_densities(us)[[0, 2]], rel=1e-9)


KNOWN = (
    (lambda x, xc: jnp.exp(-x), 0.0, 1.0, 1 - np.exp(-1)),
    (lambda x, xc: jnp.exp(-0.5 * x**2), -np.inf, np.inf, np.sqrt(2 * np.pi)),
    (lambda x, xc: jnp.exp(x), -np.inf, 0.5, np.exp(0.5)),
    (lambda x, xc: 1 / (1 + x**2), -np.inf, np.inf, np.pi),
    # Both ends are singular; near 1 only the distance to it keeps its digits.
    (lambda x, xc: (x * jnp.where(xc > 0, xc, 1 - x)) ** -0.9, 0.0, 1.0, beta(0.1, 0.1)),
    (lambda x, xc: jnp.sin(x), 2.0, 2.0, 0.0),
)  # fmt: skip


KINKED = (lambda x, xc: jnp.abs(x - 0.3) + jnp.exp(-0.5 * ((x - 0.7) / 1e-2) ** 2), 0.0, 1.0)
KINKED_VALUE = 0.5 * (0.3**2 + 0.7**2) + 1e-2 * np.sqrt(2 * np.pi)


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("rule", "f", "low", "high", "exact"),
    [
        *((DOUBLE_EXPONENTIAL, *known) for known in KNOWN),
        (GAUSS_KRONROD, *KNOWN[2]),
        (GAUSS_KRONROD, *KINKED, KINKED_VALUE),
    ],
)
def test_known_integrals(rule, f, low, high, exact) -> None:
    with jax.enable_x64(True):
        ends, of = (jnp.array(low), jnp.array(high)), lambda given, x, complement: f(x, complement)
        found = jax.jit(lambda low, high: integral(rule, of, low, high, Precision(1e-9), ((), ())))(*ends)
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-12)
