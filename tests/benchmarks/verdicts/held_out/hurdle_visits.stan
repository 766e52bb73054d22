// Visits to a doctor: whether there are any, and how many, with correlated effects of practices on both.
data {
  int<lower=1> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> practice;
  vector[N] age;
  array[N] int<lower=0> y;
}
parameters {
  vector[2] alpha;
  vector[2] beta;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] L;
  matrix[2, G] z;
  real<lower=0> phi;
}
transformed parameters {
  matrix[2, G] u = diag_pre_multiply(tau, L) * z;
}
model {
  vector[N] any = alpha[1] + beta[1] * age + u[1, practice]';
  vector[N] log_mean = alpha[2] + beta[2] * age + u[2, practice]';
  alpha ~ normal(0, 2);
  beta ~ std_normal();
  tau ~ std_normal();
  L ~ lkj_corr_cholesky(2);
  to_vector(z) ~ std_normal();
  phi ~ gamma(2, 0.5);
  for (i in 1:N) {
    if (y[i] == 0)
      target += bernoulli_logit_lpmf(0 | any[i]);
    else
      target += bernoulli_logit_lpmf(1 | any[i]) + neg_binomial_2_log_lpmf(y[i] | log_mean[i], phi)
                - log1m_exp(neg_binomial_2_log_lpmf(0 | log_mean[i], phi));
  }
}
