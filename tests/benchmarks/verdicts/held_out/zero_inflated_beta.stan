// Cover of a plant in plots of several sites, zero or a proportion: Ospina and Ferrari (2012).
data {
  int<lower=1> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> site;
  vector[N] moisture;
  vector<lower=0, upper=1>[N] y;
}
parameters {
  real a_zero;
  real b_zero;
  real a_mean;
  real b_mean;
  real<lower=0> sigma;
  vector[G] z;
  real<lower=0> kappa;
}
transformed parameters {
  vector[G] u = sigma * z;
}
model {
  [a_zero, b_zero, a_mean, b_mean] ~ normal(0, 1.5);
  sigma ~ std_normal();
  z ~ std_normal();
  kappa ~ gamma(2, 0.1);
  for (i in 1:N) {
    real zero = a_zero + b_zero * moisture[i];
    if (y[i] == 0) {
      1 ~ bernoulli_logit(zero);
    } else {
      0 ~ bernoulli_logit(zero);
      y[i] ~ beta_proportion(inv_logit(a_mean + b_mean * moisture[i] + u[site[i]]), kappa);
    }
  }
}
