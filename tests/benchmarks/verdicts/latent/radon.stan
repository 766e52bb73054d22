// Varying intercepts and slopes of 386 counties, non-centred: Gelman and Hill (2007), section 13.1.
data {
  int<lower=0> N;
  int<lower=0> J;
  array[N] int<lower=1, upper=J> county;
  vector[N] x;
  vector[N] y;
}
parameters {
  real mu_alpha;
  real mu_beta;
  real<lower=0> sigma_alpha;
  real<lower=0> sigma_beta;
  real<lower=0> sigma;
  vector[J] z_alpha;
  vector[J] z_beta;
}
transformed parameters {
  vector[J] alpha = mu_alpha + sigma_alpha * z_alpha;
  vector[J] beta = mu_beta + sigma_beta * z_beta;
}
model {
  mu_alpha ~ normal(0, 10);
  mu_beta ~ normal(0, 10);
  sigma_alpha ~ std_normal();
  sigma_beta ~ std_normal();
  sigma ~ std_normal();
  z_alpha ~ std_normal();
  z_beta ~ std_normal();
  y ~ normal(alpha[county] + beta[county] .* x, sigma);
}
