"""What `propto` leaves out: a constant, and the one that Stan leaves out."""

import math

import numpy as np
import pytest

from ppl import compile_model

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
RNG = np.random.default_rng(5)
DATA = {
    "K": 3,
    "N": 5,
    "y": RNG.normal(size=(5, 3)),
    "S": np.eye(3) + 0.2,
    "x": RNG.normal(size=(5, 3)),
    "k": [1, 2, 0, 3, 1],
    "v": [0.1, 0.2, 0.3, 0.4, 0.5],
}
DECLARED = """data {
  int K; int N; array[N] vector[K] y; cov_matrix[K] S; matrix[N, K] x; array[N] int k; vector[N] v;
}
"""
LOG_FACTORIALS = -sum(math.lgamma(k + 1) for k in DATA["k"])
LOG_CHOOSE = sum(math.log(math.comb(4, k)) for k in DATA["k"])
LOG_DET = np.linalg.slogdet(DATA["S"])[1]
GLM_CONSTANT = 5 * 3 * math.log(3) + sum(
    math.lgamma(k + 3) - math.lgamma(3) - math.lgamma(k + 1) for k in DATA["k"]
)
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
    "its scatter": ("real<lower=3> nu;", "S ~ wishart(nu, S);", -1.5),
    "its inverse": ("real<lower=3> nu;", "S ~ inv_wishart(nu, S);", -1.5),
    "loglogistic": ("real<lower=0> y1;", "y1 ~ loglogistic(2, 3);", math.log(3) - 3 * math.log(2)),
    "lkj_corr": ("corr_matrix[K] C;", "C ~ lkj_corr(2);", None),
    "lkj_corr_cholesky": ("cholesky_factor_corr[K] L;", "L ~ lkj_corr_cholesky(3);", None),
    "normal glm": ("vector[K] b; real<lower=0> s;", "v ~ normal_id_glm(x, 0, b, s);", -5 * HALF_LOG_TWO_PI),
    "poisson glm": ("vector[K] b;", "k ~ poisson_log_glm(x, 0, b);", LOG_FACTORIALS),
    "neg_binomial glm": ("vector[K] b;", "k ~ neg_binomial_2_log_glm(x, 0, b, 3.0);", GLM_CONSTANT),
    "binomial glm": ("vector[K] b;", "k ~ binomial_logit_glm(4, x, 0, b);", LOG_CHOOSE),
    "a glm in a loop": (
        "vector[K] b; real<lower=0> s;",
        "for (n in 1:N) v[n] ~ normal_id_glm(x[n:n], 0, b, s);",
        -5 * HALF_LOG_TWO_PI,
    ),
    "multi_gp": (
        "vector<lower=0>[N] w;", "x ~ multi_gp(S, w);", -15 * HALF_LOG_TWO_PI - 2.5 * LOG_DET
    ),
    "dirichlet_multinomial": (
        "vector<lower=0>[N] a;", "k ~ dirichlet_multinomial(a);", math.log(7) - math.log(2) - math.log(3)
    ),
    "its shape not data": (
        "vector[K] b; real<lower=0> s;", "k ~ neg_binomial_2_log_glm(x, 0, b, s);", LOG_FACTORIALS
    ),
    "a mean that is data": ("real<lower=0> s;", "k ~ neg_binomial_2(2.0, s);", 7 * math.log(2)),
}  # fmt: skip


@pytest.mark.parametrize("name", DROPPED)
def test_what_is_dropped_is_a_constant(name):
    parameters, model, expected = DROPPED[name]
    dropped = constant_dropped(DECLARED + f"parameters {{ {parameters} }} model {{ {model} }}")
    if expected is None:
        assert abs(dropped) > 0.01
    else:
        assert dropped == pytest.approx(expected, abs=1e-9)


def constant_dropped(program):
    """What propto leaves out, which must be the same everywhere and leave the gradient as it is."""
    posterior = compile_model(program).condition(DATA)
    dropped = []
    for seed in range(3):
        u = np.random.default_rng(seed).normal(0, 0.3, posterior.param_unc_num())
        value, gradient = posterior.log_density_gradient(u)
        less, same = posterior.log_density_gradient(u, propto=True)
        np.testing.assert_allclose(same, gradient, rtol=1e-9, atol=1e-9)
        assert posterior.log_density(u, propto=True) == pytest.approx(less, abs=1e-9)
        dropped.append(value - less)
    assert np.ptp(dropped) < 1e-9
    return dropped[0]


FUNCTIONS = """functions {
  real kept_lpdf(real y, real m, real s) { return normal_lpdf(y | m, s); }
  real loose_lpdf(real y, real m, real s) { return normal_lupdf(y | m, s); }
  real local_lpdf(real y, real m, real s) { real t = 2 * s; return normal_lupdf(y | m, t); }
  real fixed_lpdf(real y, real m) { real t = 2; return normal_lupdf(y | m, t); }
  real outer_lpdf(real y, real m, real s) { return loose_lupdf(y | m, s) + loose_lpdf(y | m, s); }
  real again_lpdf(real y, real m, int n) {
    if (n == 0) return normal_lupdf(y | m, 2);
    return again_lupdf(y | m, n - 1) + normal_lupdf(y | m, 2);
  }
  void prior_lp(real m, real s) { m ~ normal(0, s); target += normal_lpdf(m | 0, s); }
  void plain_lp() { real t = 3; t ~ normal(0, 2); }
  void around_lp() { 1.0 ~ normal(0, 2); plain_lp(); }
  void of_ints_lp(int n) { for (i in 1:n) { real t = i; while (t > 9) t = 1; t ~ normal(0, 2); } }
  real part_lpmf(array[] int k, int a, int b, real r) { return poisson_lupmf(k | r); }
  real twice(real x) { return 2 * x; }
}
"""
ONE = -HALF_LOG_TWO_PI
TWO = -HALF_LOG_TWO_PI - math.log(2)
OWN = {
    "an lpdf inside keeps all": ("1.2 ~ kept(m, 2);", 0),
    "an lupdf inside does not": ("1.2 ~ loose(m, 2);", TWO),
    "a scale that is not data": ("1.2 ~ loose(m, s);", ONE),
    "called as lpdf": ("target += loose_lpdf(1.2 | m, 2);", 0),
    "called as lupdf": ("target += loose_lupdf(1.2 | m, 2);", TWO),
    "nothing but data": ("m ~ normal(0, 1); 2.0 ~ local(2, 0.5);", 2 * ONE),
    "a local": ("1.2 ~ local(m, 1);", ONE),
    "a local made of constants": ("1.2 ~ fixed(m);", ONE),
    "one inside another": ("1.2 ~ outer(m, 2);", TWO),
    "recursion": ("1.2 ~ again(m, 2);", 3 * TWO),
    "an lp function": ("prior_lp(m, 2);", TWO),
    "an lp function without arguments": ("m ~ std_normal(); plain_lp();", ONE + TWO - 9 / 8),
    "one in another": ("m ~ std_normal(); around_lp();", ONE + TWO - 1 / 8 + TWO - 9 / 8),
    "one of ints": ("m ~ std_normal(); of_ints_lp(2);", ONE + TWO - 1 / 8 + TWO - 4 / 8),
    "a loop": ("for (n in 1:N) v[n] ~ loose(m, 2);", 5 * TWO),
    "a loop, with a local": ("for (n in 1:N) v[n] ~ local(m, 1);", 5 * ONE),
    "a loop over lpdf": ("for (n in 1:N) target += loose_lpdf(v[n] | m, 2);", 0),
    "reduce_sum": ("target += reduce_sum(part_lupmf, k, 1, s);", LOG_FACTORIALS),
    "reduce_sum of lpmf": ("target += reduce_sum(part_lpmf, k, 1, s);", 0),
    "a function of data": ("1.2 ~ normal(m, twice(1));", TWO),
    "a local of the model block": ("real t = 2; 1.2 ~ normal(m, t);", ONE),
}


@pytest.mark.rotate
@pytest.mark.parametrize("name", OWN)
def test_densities_of_the_program_drop_as_their_calls_say(name):
    """As in the code that stanc writes: locals have a gradient as soon as an argument has."""
    model, expected = OWN[name]
    program = f"{FUNCTIONS}{DECLARED}parameters {{ real m; real<lower=0> s; }} model {{ {model} }}"
    assert constant_dropped(program) == pytest.approx(expected, abs=1e-9)


ENTRIES = {
    "of vectors": "for (n in 1:N) l[n] = multi_normal_lupdf(y[n] | x[n]', S);",
    "of a whole vector": "for (n in 1:N) l[n] = normal_lupdf(v | k[n], 2);",
    "of functions called once each": "for (n in 1:N) l[n] = normal_lupdf(v[n:N] | k[n], 2);",
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_density_of_data_alone_leaves_nothing_in_each_entry(name):
    """Not numbers as wide as the first argument that a loop varies."""
    program = DECLARED + f"parameters {{ real m; }} model {{ vector[N] l; {ENTRIES[name]} target += m * l; }}"
    posterior = compile_model(program).condition(DATA)
    assert posterior.log_density([0.7], propto=True) == 0.0
    assert posterior.log_density([0.7]) != 0.0
