// Correct answers in an experiment with crossed subjects and words: Jaeger (2008).
data {
  int<lower=1> N;
  int<lower=1> J;
  int<lower=1> K;
  array[N] int<lower=1, upper=J> subject;
  array[N] int<lower=1, upper=K> word;
  vector[N] condition;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  vector[2] beta;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] L;
  matrix[2, J] z_subject;
  real<lower=0> sigma_word;
  vector[K] z_word;
}
transformed parameters {
  matrix[J, 2] u = (diag_pre_multiply(tau, L) * z_subject)';
  vector[K] w = sigma_word * z_word;
}
model {
  beta ~ normal(0, 2);
  tau ~ std_normal();
  L ~ lkj_corr_cholesky(2);
  to_vector(z_subject) ~ std_normal();
  sigma_word ~ std_normal();
  z_word ~ std_normal();
  y ~ bernoulli_logit(beta[1] + u[subject, 1] + w[word] + (beta[2] + u[subject, 2]) .* condition);
}
generated quantities {
  real rho = L[2, 1];
}
