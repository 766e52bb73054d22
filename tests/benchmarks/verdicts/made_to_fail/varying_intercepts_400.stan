// 400 latent variables with two observations each.
data {
  int<lower=0> J;
  int<lower=0> N;
  array[N] int<lower=1, upper=J> group;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] z;
}
transformed parameters {
  vector[J] theta = mu + tau * z;
}
model {
  mu ~ std_normal();
  tau ~ normal(0, 0.5);
  z ~ std_normal();
  y ~ normal(theta[group], 1);
}
