// Logistic regression with a regularised horseshoe: Piironen and Vehtari (2017), "Sparsity information and
// regularization in the horseshoe and other shrinkage priors", appendix C.2.
data {
  int<lower=0> N;
  int<lower=0> D;
  matrix[N, D] x;
  array[N] int<lower=0, upper=1> y;
  real<lower=0> scale_global;
  real<lower=0> slab_scale;
  real<lower=0> slab_df;
}
parameters {
  real alpha;
  vector[D] z;
  vector<lower=0>[D] lambda;
  real<lower=0> tau;
  real<lower=0> c2;
}
transformed parameters {
  vector[D] beta = tau * z .* lambda .* sqrt(c2 ./ (c2 + square(tau) * square(lambda)));
}
model {
  alpha ~ normal(0, 2);
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau ~ cauchy(0, scale_global);
  c2 ~ inv_gamma(0.5 * slab_df, 0.5 * slab_df * square(slab_scale));
  y ~ bernoulli_logit_glm(x, alpha, beta);
}
