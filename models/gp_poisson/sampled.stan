// The posterior of gp_poisson.model without the approximation: the process has a value at each site, theta.
data {
  int<lower=1> S;
  array[S] real x;
  int<lower=1> N;
  array[N] int<lower=1, upper=S> site;
  array[N] int<lower=0> y;
}
parameters {
  real mu;
  real<lower=0> alpha;
  real<lower=0> rho;
  vector[S] z;
}
transformed parameters {
  vector[S] theta = cholesky_decompose(add_diag(gp_exp_quad_cov(x, alpha, rho), 1e-6)) * z;
}
model {
  mu ~ normal(0, 2);
  alpha ~ normal(0, 1);
  rho ~ inv_gamma(5, 5);
  z ~ std_normal();
  y ~ poisson_log(mu + theta[site]);
}
