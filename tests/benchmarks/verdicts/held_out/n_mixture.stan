// Repeated counts of birds, abundances summed out up to a bound: the N-mixture model of Royle (2004).
data {
  int<lower=1> R;
  int<lower=1> T;
  int<lower=1> K;
  vector[R] forest;
  matrix[R, T] wind;
  array[R, T] int<lower=0, upper=K> y;
}
parameters {
  real a_lambda;
  real b_lambda;
  real a_p;
  real b_p;
}
model {
  a_lambda ~ normal(0, 2);
  b_lambda ~ std_normal();
  a_p ~ normal(0, 1.5);
  b_p ~ std_normal();
  for (i in 1:R) {
    int least = max(y[i]);
    vector[K - least + 1] lp;
    for (n in least:K)
      lp[n - least + 1] = poisson_log_lpmf(n | a_lambda + b_lambda * forest[i])
                          + binomial_logit_lpmf(y[i] | n, a_p + b_p * wind[i]);
    target += log_sum_exp(lp);
  }
}
generated quantities {
  real mean_abundance = exp(a_lambda);
}
