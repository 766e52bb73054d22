// Regression whose mean and log sd are thin plate splines of low rank: Ruppert, Wand and Carroll
// (2003), section 13.4.
data {
  int<lower=1> N;
  int<lower=1> K;
  vector[N] x;
  matrix[N, K] Z;
  vector[N] y;
}
parameters {
  real b0;
  real b1;
  vector[K] u;
  real<lower=0> tau;
  real b0_sd;
  real b1_sd;
  vector[K] u_sd;
  real<lower=0> tau_sd;
}
model {
  vector[N] mean_y = b0 + b1 * x + tau * (Z * u);
  vector[N] log_sd = b0_sd + b1_sd * x + tau_sd * (Z * u_sd);
  b0 ~ student_t(3, 0, 2.5);
  b1 ~ normal(0, 5);
  u ~ std_normal();
  tau ~ student_t(3, 0, 2.5);
  b0_sd ~ student_t(3, 0, 2.5);
  b1_sd ~ normal(0, 5);
  u_sd ~ std_normal();
  tau_sd ~ student_t(3, 0, 2.5);
  y ~ normal(mean_y, exp(log_sd));
}
