// Piironen and Vehtari (2017), "Sparsity information and regularization in the horseshoe", section 2.3.
data {
  int<lower=0> N;
  int<lower=0> D;
  matrix[N, D] x;
  vector[N] y;
}
parameters {
  vector[D] z;
  vector<lower=0>[D] lambda;
  real<lower=0> tau;
  real<lower=0> c2;
  real<lower=0> sigma;
}
transformed parameters {
  vector[D] beta = z .* sqrt(c2 * square(lambda) ./ (c2 + square(tau) * square(lambda))) * tau;
}
model {
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau ~ cauchy(0, 0.2);
  c2 ~ inv_gamma(2, 4);
  sigma ~ std_normal();
  y ~ normal(x * beta, sigma);
}
