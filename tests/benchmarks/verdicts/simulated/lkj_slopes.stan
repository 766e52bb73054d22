data {
  int<lower=0> J;
  int<lower=0> N;
  array[N] int<lower=1, upper=J> group;
  vector[N] x;
  vector[N] y;
}
parameters {
  vector[2] beta;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] L;
  matrix[2, J] z;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[2, J] b = rep_matrix(beta, J) + diag_pre_multiply(tau, L) * z;
  real rho = L[2, 1];
}
model {
  beta ~ std_normal();
  tau ~ std_normal();
  L ~ lkj_corr_cholesky(2);
  to_vector(z) ~ std_normal();
  sigma ~ std_normal();
  y ~ normal(to_vector(b[1, group]) + to_vector(b[2, group]) .* x, sigma);
}
