data {
  int<lower=0> N;
  int<lower=0> M;
  int<lower=0> D;
  vector<lower=0>[N] y;
  matrix[N, D] x;
  vector<lower=0>[M] y_censored;
  matrix[M, D] x_censored;
}
parameters {
  real<lower=0> shape;
  real alpha;
  vector[D] beta;
}
model {
  shape ~ lognormal(0, 0.5);
  alpha ~ std_normal();
  beta ~ std_normal();
  y ~ weibull(shape, exp(alpha + x * beta));
  target += weibull_lccdf(y_censored | shape, exp(alpha + x_censored * beta));
}
