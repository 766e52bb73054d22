// Counts of taxa in samples: a Dirichlet-multinomial regression, as of microbiomes (Chen and Li, 2013).
functions {
  real dirichlet_multinomial_log_lpmf(array[] int y, vector eta, real precision) {
    vector[num_elements(eta)] a = precision * softmax(eta);
    vector[num_elements(eta)] n = to_vector(y);
    return lgamma(precision) - lgamma(precision + sum(n)) + sum(lgamma(a + n) - lgamma(a))
           + lgamma(sum(n) + 1) - sum(lgamma(n + 1));
  }
}
data {
  int<lower=1> N;
  int<lower=2> K;
  int<lower=1> D;
  matrix[N, D] x;
  array[N, K] int<lower=0> y;
}
parameters {
  vector[K - 1] alpha;
  matrix[K - 1, D] beta;
  real<lower=0> precision;
}
model {
  alpha ~ normal(0, 2);
  to_vector(beta) ~ std_normal();
  precision ~ lognormal(3, 1);
  for (i in 1:N)
    y[i] ~ dirichlet_multinomial_log(append_row(0, alpha + beta * x[i]'), precision);
}
