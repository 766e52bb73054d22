data {
  int<lower=0> J;
  int<lower=0> N;
  int<lower=0> D;
  array[N] int<lower=1, upper=J> group;
  matrix[N, D] x;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] z;
  vector[D] beta;
  real<lower=0> sigma;
}
transformed parameters {
  vector[J] theta = mu + tau * z;
}
model {
  mu ~ std_normal();
  tau ~ std_normal();
  z ~ std_normal();
  beta ~ std_normal();
  sigma ~ std_normal();
  y ~ normal(theta[group] + x * beta, sigma);
}
