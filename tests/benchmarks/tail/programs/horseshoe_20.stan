// Linear regression with a horseshoe (Carvalho, Polson and Scott 2010), not centred.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] X;
  vector[N] y;
}
parameters {
  real alpha;
  vector[K] z;
  vector<lower=0>[K] lambda;
  real<lower=0> tau;
  real<lower=0> sigma;
}
transformed parameters {
  vector[K] beta = tau * lambda .* z;
}
model {
  alpha ~ normal(0, 5);
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau ~ cauchy(0, 1);
  sigma ~ normal(0, 3);
  y ~ normal(alpha + X * beta, sigma);
}
