"""The log density of each family of vectors and matrices in the language itself; `formulas.py` has others.

Statements, where there are any, then the expression: what a page shows. A law holds them to the code.
Stan Functions Reference.
"""

from collections.abc import Mapping

MULTIVARIATE: Mapping[str, str] = {
    "categorical": "log(theta[y])",
    "categorical_logit": "beta[y] - log_sum_exp(beta)",
    "dirichlet": "lgamma(sum(alpha)) - sum(lgamma(alpha)) + dot_product(alpha - 1, log(theta))",
    "dirichlet_multinomial": """\
vector[size(y)] n = to_vector(y);
lgamma(sum(n) + 1) - sum(lgamma(n + 1))
  + lgamma(sum(alpha)) - lgamma(sum(n) + sum(alpha))
  + sum(lgamma(n + alpha)) - sum(lgamma(alpha))""",
    "gaussian_dlm_obs": """\
vector[size(m0)] m = m0;
matrix[size(m0), size(m0)] C = C0;
real total = 0;
for (t in 1:cols(y)) {
  matrix[size(m0), size(m0)] R = G * C * G' + W;
  matrix[rows(y), rows(y)] Q = F' * R * F + V;
  matrix[size(m0), rows(y)] gain = R * F / Q;
  total += multi_normal_lpdf(y[:, t] | F' * G * m, Q);
  m = G * m + gain * (y[:, t] - F' * G * m);
  C = R - gain * Q * gain';
}
total""",
    "normal_id_glm": "normal_lpdf(y | alpha + x * beta, sigma)",
    "bernoulli_logit_glm": "bernoulli_logit_lpmf(y | alpha + x * beta)",
    "poisson_log_glm": "poisson_log_lpmf(y | alpha + x * beta)",
    "neg_binomial_2_log_glm": "neg_binomial_2_log_lpmf(y | alpha + x * beta, phi)",
    "binomial_logit_glm": "binomial_logit_lpmf(y | N, alpha + x * beta)",
    "categorical_logit_glm": """\
real total = 0;
for (n in 1:rows(x)) {
  total += categorical_logit_lpmf(y[n] | alpha + (x[n] * beta)');
}
total""",
    "ordered_logistic_glm": "ordered_logistic_lpmf(y | x * beta, c)",
    "hmm_latent": """\
real total = log(rho[states[1]]) + log_omega[states[1], 1];
for (n in 2:size(states)) {
  total += log(Gamma[states[n - 1], states[n]]) + log_omega[states[n], n];
}
total - hmm_marginal(log_omega, Gamma, rho)""",
    "wishart": """\
int K = rows(W);
(nu - K - 1) / 2 * log_determinant_spd(W) - trace(S \\ W) / 2
  - nu / 2 * log_determinant_spd(S) - nu * K / 2 * log(2) - lmgamma(K, nu / 2)""",
    "wishart_cholesky": """\
int K = rows(L_W);
wishart_lpdf(L_W * L_W' | nu, L_S * L_S')
  + K * log(2)
  + dot_product(K + 1 - linspaced_vector(K, 1, K), log(diagonal(L_W)))""",
    "inv_wishart": """\
int K = rows(W);
-(nu + K + 1) / 2 * log_determinant_spd(W) - trace(W \\ S) / 2
  + nu / 2 * log_determinant_spd(S) - nu * K / 2 * log(2) - lmgamma(K, nu / 2)""",
    "inv_wishart_cholesky": """\
int K = rows(L_W);
inv_wishart_lpdf(L_W * L_W' | nu, L_S * L_S')
  + K * log(2)
  + dot_product(K + 1 - linspaced_vector(K, 1, K), log(diagonal(L_W)))""",
    "lkj_corr": """\
int K = rows(Omega);
vector[K - 1] k = linspaced_vector(K - 1, 1, K - 1);
vector[K - 1] b = eta + (k - 1) / 2;
(eta - 1) * log_determinant_spd(Omega)
  - dot_product(k, (2 * b - 1) * log(2) + lbeta(b, b))""",
    "lkj_corr_cholesky": """\
int K = rows(L);
lkj_corr_lpdf(L * L' | eta)
  + dot_product(K - linspaced_vector(K, 1, K), log(diagonal(L)))""",
    "lkj_cov": """\
vector[rows(y)] s = sqrt(diagonal(y));
lognormal_lpdf(s | mu, sigma) + lkj_corr_lpdf(y ./ (s * s') | eta)""",
    "multi_gp": """\
int K = rows(y);
int N = cols(y);
N / 2.0 * sum(log(w)) - K * N / 2.0 * log(2 * pi())
  - K / 2.0 * log_determinant_spd(Sigma)
  - dot_product(w, diagonal(y / Sigma * y')) / 2""",
    "multi_gp_cholesky": "multi_gp_lpdf(y | L * L', w)",
    "multi_normal": """\
int K = size(y);
-(y - mu)' / Sigma * (y - mu) / 2
  - log_determinant_spd(Sigma) / 2 - K / 2.0 * log(2 * pi())""",
    "multi_normal_cholesky": "multi_normal_lpdf(y | mu, L * L')",
    "multi_normal_prec": """\
int K = size(y);
-(y - mu)' * Omega * (y - mu) / 2
  + log_determinant_spd(Omega) / 2 - K / 2.0 * log(2 * pi())""",
    "multi_student_t": """\
int K = size(y);
lgamma((nu + K) / 2) - lgamma(nu / 2)
  - log_determinant_spd(Sigma) / 2 - K / 2.0 * log(nu * pi())
  - (nu + K) / 2 * log1p((y - mu)' / Sigma * (y - mu) / nu)""",
    "multi_student_t_cholesky": "multi_student_t_lpdf(y | nu, mu, L * L')",
    "multinomial": """\
vector[size(y)] n = to_vector(y);
lgamma(sum(n) + 1) - sum(lgamma(n + 1)) + dot_product(n, log(theta))""",
    "multinomial_logit": "multinomial_lpmf(y | softmax(gamma))",
    "ordered_logistic": """\
real a = y == 1 ? negative_infinity() : c[y - 1];
real b = y > size(c) ? positive_infinity() : c[y];
log(inv_logit(b - eta) - inv_logit(a - eta))""",
    "ordered_probit": """\
real a = y == 1 ? negative_infinity() : c[y - 1];
real b = y > size(c) ? positive_infinity() : c[y];
log(Phi(b - eta) - Phi(a - eta))""",
    "wiener": """\
// With var_delta, var_beta and var_tau zero. The sum is over all whole k;
// these are enough unless t is large.
real t = (y - tau) / alpha ^ 2;
real w = 1 - beta;
real hits = 0;
for (k in -20:20) {
  hits += (w + 2 * k) * exp(-(w + 2 * k) ^ 2 / (2 * t));
}
delta * alpha * w - delta ^ 2 * (y - tau) / 2
  + log(hits) - log(2 * pi() * t ^ 3) / 2 - 2 * log(alpha)""",
}
"""The formula of each family: what a function of its arguments by their names would return."""

OF_HIDDEN_STATES: Mapping[str, str] = {
    "hmm_marginal": """\
vector[size(rho)] a = log(rho) + log_omega[:, 1];
for (n in 2:cols(log_omega)) {
  a = log(Gamma' * exp(a)) + log_omega[:, n];
}
log_sum_exp(a)""",
    "hmm_hidden_state_prob": """\
real total = hmm_marginal(log_omega, Gamma, rho);
matrix[rows(log_omega), cols(log_omega)] p;
for (n in 1:cols(log_omega)) {
  for (k in 1:rows(log_omega)) {
    matrix[rows(log_omega), cols(log_omega)] only_k = log_omega;
    only_k[:, n] = rep_vector(negative_infinity(), rows(log_omega));
    only_k[k, n] = log_omega[k, n];
    p[k, n] = exp(hmm_marginal(only_k, Gamma, rho) - total);
  }
}
p""",
}
"""The results of the functions of hidden Markov models, of arguments log_omega, Gamma and rho."""
