data {
  int<lower=0> J;
  int<lower=0> N;
  array[N] int<lower=1, upper=J> group;
  vector[N] x;
  vector<lower=0>[N] exposure;
  array[N] int<lower=0> y;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> tau;
  vector[J] z;
}
model {
  alpha ~ std_normal();
  beta ~ normal(0, 0.5);
  tau ~ normal(0, 0.5);
  z ~ std_normal();
  y ~ poisson_log(log(exposure) + alpha + beta * x + tau * z[group]);
}
