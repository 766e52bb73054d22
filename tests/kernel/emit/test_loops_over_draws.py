"""A density or function of whole rows, called in a loop, gives many draws what it gives one."""

import numpy as np
import pytest

import ppl
from ppl.stages import show_stage

G, K, N = 3, 4, 6
BLOCKS = """
data {
  int G; int K; int N;
  array[G, K] int y; array[G, N] int category; array[G, N] int count; array[G, N] int bit;
  array[G] vector[K] v; array[G] matrix[N, K] X; array[G] simplex[K] s; array[G] vector[N] z;
  array[G] cov_matrix[K] S;
}
parameters {
  array[G] simplex[K] theta; array[G] vector[K] m; array[G] vector<lower=0>[K] a;
  array[G] cholesky_factor_corr[K] L; array[G] ordered[K - 1] cuts; array[G] cov_matrix[K] W; real<lower=0> t;
}
"""
OF_ONE_ROW = """
y[g] ~ multinomial(theta[g]); y[g] ~ multinomial(softmax(m[g])); y[g] ~ multinomial_logit(m[g]);
y[g] ~ dirichlet_multinomial(a[g]); target += t * multinomial_lpmf(y[g] | theta[g]);
s[g] ~ dirichlet(a[g]); theta[g] ~ dirichlet(a[g]);
category[g] ~ categorical(theta[g]); category[g] ~ categorical_logit(m[g]);
category[g] ~ ordered_probit(t, cuts[g]); category[g] ~ ordered_logistic_glm(X[g], m[g], cuts[g]);
category[g] ~ categorical_logit_glm(X[g], m[g], rep_matrix(m[g], K));
v[g] ~ multi_normal(m[g], W[g]); v[g] ~ multi_normal_prec(m[g], W[g]);
v[g] ~ multi_normal_cholesky(m[g], L[g]);
v[g] ~ multi_student_t(5, m[g], W[g]); v[g] ~ multi_student_t_cholesky(5, m[g], L[g]);
L[g] ~ lkj_corr_cholesky(1 + t); S[g] ~ wishart(6, W[g]); W[g] ~ wishart(6 + t, S[g]);
W[g] ~ inv_wishart(6, S[g]);
z[g] ~ normal_id_glm(X[g], t, m[g], t); bit[g] ~ bernoulli_logit_glm(X[g], t, m[g]);
count[g] ~ poisson_log_glm(X[g], t, m[g]); count[g] ~ neg_binomial_2_log_glm(X[g], t, m[g], t);
z[g] ~ student_t(4, X[g] * m[g], a[g][1]); count[g] ~ neg_binomial_2(exp(X[g] * m[g]), t);
target += log_mix(theta[g], m[g]); target += log_sum_exp(m[g]) + dot_product(m[g], v[g]);
target += quad_form(W[g], m[g]); target += log_determinant(W[g]); target += sum(mdivide_left_spd(W[g], m[g]));
target += hmm_marginal(rep_matrix(m[g], K), rep_matrix(theta[g], K)', theta[g])
"""


def data() -> dict[str, object]:
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(G, K, 20))
    return {
        "G": G,
        "K": K,
        "N": N,
        "y": rng.integers(0, 5, (G, K)),
        "category": rng.integers(1, K + 1, (G, N)),
        "count": rng.poisson(2, (G, N)),
        "bit": rng.integers(0, 2, (G, N)),
        "v": rng.normal(size=(G, K)),
        "X": rng.normal(size=(G, N, K)),
        "s": rng.dirichlet(np.ones(K), G),
        "z": rng.normal(size=(G, N)),
        "S": spread @ spread.transpose(0, 2, 1) / 20,
    }


@pytest.mark.rotate
@pytest.mark.parametrize("statement", [s.strip() for s in OF_ONE_ROW.split(";")])
def test_many_draws_of_a_loop_are_those_of_one(statement: str) -> None:
    body = f"t ~ gamma(2, 2); for (g in 1:G) {{ {statement}; }}"
    posterior = ppl.compile_model(f"{BLOCKS} model {{ {body} }}").condition(data())
    us = np.random.default_rng(1).normal(size=(7, posterior.param_unc_num())) * 0.3
    alone = [posterior.log_density_gradient(u) for u in us]
    values, gradients = posterior.log_density_gradients(us)
    np.testing.assert_allclose(values, [value for value, _ in alone], rtol=1e-10)
    np.testing.assert_allclose(posterior.log_densities(us), values, rtol=1e-10)
    np.testing.assert_allclose(gradients, [gradient for _, gradient in alone], rtol=1e-8, atol=1e-8)


FIRST = (
    "real first(vector x) { for (i in 1:3) { real y = i * x[2]; if (y > x[1]) return y * i; } return x[2]; }"
)
LEFT = {
    "from a profile": 'for (i in 1:4) { profile("p") { if (x[1] > 0.5 * i) break; } target += -x[2]^2 * i; }',
    "by a return": "target += first(x); target += -first(-x)^2;",
    "by data": """real y = x[1]; int k = 0;
        while (y < 3) { k += 1; if (k > 2) break; y += exp(x[2]); target += -y; }""",
    "of its own length": """int m = 1; if (x[1] > 0) m = 3;
        for (i in 1:m) { if (i == 2) break; target += -x[2]^2 * i; }""",
    "of a loop inside": "for (i in 1:3) for (j in 1:3) { if (x[1] * j > i) break; target += -x[2]^2 * j; }",
}


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_draws_that_leave_a_loop_at_different_steps_do_so_together(body: str) -> None:
    program = f"functions {{ {FIRST} }} parameters {{ vector[2] x; }} model {{ x ~ std_normal(); {body} }}"
    posterior = ppl.compile_model(program).condition({})
    assert posterior.log_joint().values_at_once is not None
    assert "takes one draw" not in show_stage(program, "plan")
    us = np.random.default_rng(2).normal(size=(20, 2))
    alone = [posterior.log_density_gradient(u) for u in us]
    values, gradients = posterior.log_density_gradients(us)
    np.testing.assert_allclose(values, [value for value, _ in alone], rtol=1e-12)
    np.testing.assert_allclose(gradients, [gradient for _, gradient in alone], rtol=1e-12, atol=1e-12)
