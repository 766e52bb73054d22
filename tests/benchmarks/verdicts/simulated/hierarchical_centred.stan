data {
  int<lower=0> J;
  int<lower=0> N;
  array[N] int<lower=1, upper=J> group;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] theta;
}
model {
  mu ~ std_normal();
  tau ~ std_normal();
  theta ~ normal(mu, tau);
  y ~ normal(theta[group], 1);
}
