// Hares and lynxes: Lotka (1925), Volterra (1926), with lognormal errors; after Stan's case study (Carpenter 2018).
functions {
  vector growth(real t, vector z, real alpha, real beta, real gamma, real delta) {
    return [(alpha - beta * z[2]) * z[1], (-gamma + delta * z[1]) * z[2]]';
  }
}
data {
  int<lower=0> N;
  array[N] real ts;
  vector<lower=0>[2] y_init;
  array[N] vector<lower=0>[2] y;
}
parameters {
  array[4] real<lower=0> theta;
  vector<lower=0>[2] z_init;
  array[2] real<lower=0> sigma;
}
transformed parameters {
  array[N] vector[2] z = ode_rk45(growth, z_init, 0, ts, theta[1], theta[2], theta[3], theta[4]);
}
model {
  theta[{1, 3}] ~ normal(1, 0.5);
  theta[{2, 4}] ~ normal(0.05, 0.05);
  sigma ~ lognormal(-1, 1);
  z_init ~ lognormal(log(10), 1);
  for (k in 1:2) {
    y_init[k] ~ lognormal(log(z_init[k]), sigma[k]);
    y[, k] ~ lognormal(log(z[, k]), sigma[k]);
  }
}
