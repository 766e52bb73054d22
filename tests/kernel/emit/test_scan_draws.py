"""Recurrences of many draws give what each draw gives alone, by blocks of steps and by the tape."""

import numpy as np
import pytest

import ppl
from ppl.kernel.emit import scan

HMM = """
data { int T; int K; vector[T] y; }
parameters { array[K] simplex[K] A; ordered[K] mu; real<lower=0> sigma; }
model {
  array[T] vector[K] alpha;
  for (k in 1:K) alpha[1, k] = normal_lpdf(y[1] | mu[k], sigma);
  for (t in 2:T) for (j in 1:K) {
    vector[K] acc;
    for (i in 1:K) acc[i] = alpha[t - 1, i] + log(A[i, j]) + normal_lpdf(y[t] | mu[j], sigma);
    alpha[t, j] = log_sum_exp(acc);
  }
  target += log_sum_exp(alpha[T]);
}
"""
TWO_STATES = """
data { int T; vector[T] y; }
parameters { real a; real b; real<lower=0> sigma; vector[2] s0; }
model {
  real h = a; vector[2] s = s0;
  for (t in 1:T) { h = b * h + y[t] * s[1]; s = [s[2], tanh(h)]'; target += normal_lpdf(y[t] | h, sigma); }
}
"""
FROM_DATA = """
data { int T; vector[T] y; }
parameters { real<lower=0, upper=1> b; real<lower=0> sigma; }
model {
  real h = 1;
  for (t in 1:T) { h = b * h + (1 - b) * y[t]^2; target += normal_lpdf(y[t] | 0, sigma + h); }
}
"""
Y = [0.3, -0.2, 1.4, 2.0, 1.1, -0.6]


@pytest.mark.parametrize("most", [scan.MOST_IN_JACOBIANS, 0], ids=["blocks", "tape"])
@pytest.mark.parametrize("program", [HMM, TWO_STATES, FROM_DATA], ids=["hmm", "two states", "from data"])
def test_draws_together_are_those_alone(monkeypatch, program, most):
    monkeypatch.setattr(scan, "MOST_IN_JACOBIANS", most)
    posterior = ppl.compile_model(program).condition({"T": 6, "K": 2, "y": Y})
    assert posterior.model.traits.calls_of_a_step
    us = np.random.default_rng(1).normal(0.0, 0.6, (9, posterior.param_unc_num()))
    values, slopes = posterior.log_density_gradients(us)
    alone = [posterior.log_density_gradient(u) for u in us]
    np.testing.assert_allclose(values, [value for value, _ in alone], rtol=1e-12)
    np.testing.assert_allclose(slopes, [slope for _, slope in alone], rtol=1e-9, atol=1e-10)


def test_blocks_are_used_where_their_jacobians_are_few(monkeypatch):
    posterior = ppl.compile_model(HMM).condition({"T": 6, "K": 2, "y": Y})
    us, sizes = np.zeros((16, posterior.param_unc_num())), []
    through_time = scan.through_time
    monkeypatch.setattr(
        scan,
        "through_time",
        lambda g, found, outer: sizes.append(found.shape) or through_time(g, found, outer),
    )
    posterior.log_density_gradients(us)
    assert sizes == [(5, 16, 2, 2)]
    monkeypatch.setattr(scan, "MOST_IN_JACOBIANS", 5 * 16 * 4 - 1)
    posterior.log_density_gradients(us)
    assert len(sizes) == 1


@pytest.mark.parametrize(("steps", "width", "pays"), [(3, 24, True), (3, 25, False), (40, 25, True)])
def test_jacobians_of_many_draws_pay_for_few_numbers_or_many_steps(steps, width, pays):
    """Each takes a pull-back for each number of the state; of a state of rows and few steps it was N^2."""
    recurrence = scan.Scan(None, print, None, None, outer=1, over=(0,))
    assert scan.fits_in_jacobians(recurrence, [np.zeros((4, width))], [np.zeros(steps)]) is pays
