// Regression whose mean and log sd are Gaussian processes of time (Goldberg, Williams and Bishop
// 1998); not centred.
data {
  int<lower=1> N;
  int<lower=1> T;
  array[T] real time;
  array[N] int<lower=1, upper=T> at;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> alpha;
  real<lower=0> rho;
  vector[T] z;
  real mu_sd;
  real<lower=0> alpha_sd;
  real<lower=0> rho_sd;
  vector[T] z_sd;
}
transformed parameters {
  vector[T] f;
  vector[T] g;
  {
    matrix[T, T] K = gp_exp_quad_cov(time, alpha, rho);
    for (t in 1:T)
      K[t, t] = K[t, t] + 1e-8;
    f = mu + cholesky_decompose(K) * z;
  }
  {
    matrix[T, T] K = gp_exp_quad_cov(time, alpha_sd, rho_sd);
    for (t in 1:T)
      K[t, t] = K[t, t] + 1e-8;
    g = mu_sd + cholesky_decompose(K) * z_sd;
  }
}
model {
  mu ~ normal(0, 1);
  alpha ~ student_t(3, 0, 1);
  rho ~ inv_gamma(2, 0.4);
  z ~ std_normal();
  mu_sd ~ normal(-1, 1);
  alpha_sd ~ student_t(3, 0, 1);
  rho_sd ~ inv_gamma(2, 0.4);
  z_sd ~ std_normal();
  for (n in 1:N)
    y[n] ~ normal(f[at[n]], exp(g[at[n]]));
}
