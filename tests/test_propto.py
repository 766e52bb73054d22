"""What `propto` leaves out: a constant, and the one that Stan leaves out."""

import math

import numpy as np
import pytest

from ppl import compile_model

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
GENERATOR = np.random.default_rng(5)
DATA = {
    "K": 3,
    "N": 5,
    "y": GENERATOR.normal(size=(5, 3)),
    "S": np.eye(3) + 0.2,
    "x": GENERATOR.normal(size=(5, 3)),
    "k": [1, 2, 0, 3, 1],
    "v": [0.1, 0.2, 0.3, 0.4, 0.5],
}
DECLARED = """data {
  int K; int N; array[N] vector[K] y; cov_matrix[K] S; matrix[N, K] x; array[N] int k; vector[N] v;
}
"""
LOG_FACTORIALS = -sum(math.lgamma(k + 1) for k in DATA["k"])
LOG_DET = np.linalg.slogdet(DATA["S"])[1]
DROPPED = {
    "a scale that is data": ("real m;", "v ~ normal(m, 2);", -5 * (HALF_LOG_TWO_PI + math.log(2))),
    "a scale that is not": ("real<lower=0> s;", "v ~ normal(1, s);", -5 * HALF_LOG_TWO_PI),
    "nothing but data": ("real m;", "m ~ normal(0, 1); v ~ normal(0, 1);", None),
    "an lpdf keeps all": ("real m;", "target += normal_lpdf(v | m, 2);", 0.0),
    "an lupdf does not": ("real m;", "target += normal_lupdf(v | m, 1);", -5 * HALF_LOG_TWO_PI),
    "counts": ("real<lower=0> r;", "k ~ poisson(r);", LOG_FACTORIALS),
    "a dimension": ("vector[K] m; cov_matrix[K] C;", "y ~ multi_normal(m, C);", -15 * HALF_LOG_TWO_PI),
    "a covariance": ("vector[K] m;", "y ~ multi_normal(m, S);", -15 * HALF_LOG_TWO_PI - 2.5 * LOG_DET),
    "multi_student_t": ("vector[K] m;", "y ~ multi_student_t(4, m, S);", None),
    "wishart": ("cov_matrix[K] C;", "C ~ wishart(5, S);", None),
    "inv_wishart": ("cov_matrix[K] C;", "C ~ inv_wishart(6, S);", None),
    "lkj_corr": ("corr_matrix[K] C;", "C ~ lkj_corr(2);", None),
    "lkj_corr_cholesky": ("cholesky_factor_corr[K] L;", "L ~ lkj_corr_cholesky(3);", None),
    "normal glm": ("vector[K] b; real<lower=0> s;", "v ~ normal_id_glm(x, 0, b, s);", -5 * HALF_LOG_TWO_PI),
    "poisson glm": ("vector[K] b;", "k ~ poisson_log_glm(x, 0, b);", LOG_FACTORIALS),
    "neg_binomial glm": ("vector[K] b;", "k ~ neg_binomial_2_log_glm(x, 0, b, 3.0);", None),
}  # fmt: skip


@pytest.mark.parametrize("name", DROPPED)
def test_what_is_dropped_is_a_constant(name):
    parameters, model, expected = DROPPED[name]
    posterior = compile_model(DECLARED + f"parameters {{ {parameters} }} model {{ {model} }}").condition(DATA)
    dropped = []
    for seed in range(3):
        u = np.random.default_rng(seed).normal(0, 0.3, posterior.param_unc_num())
        value, gradient = posterior.log_density_gradient(u)
        less, same = posterior.log_density_gradient(u, propto=True)
        np.testing.assert_allclose(same, gradient, rtol=1e-9, atol=1e-9)
        assert posterior.log_density(u, propto=True) == pytest.approx(less, abs=1e-9)
        dropped.append(value - less)
    assert np.ptp(dropped) < 1e-9
    if expected is None:
        assert abs(dropped[0]) > 0.01
    else:
        assert dropped[0] == pytest.approx(expected, abs=1e-9)
