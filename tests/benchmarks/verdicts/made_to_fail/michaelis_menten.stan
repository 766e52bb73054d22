// One compartment: absorbed by a first-order law, eliminated by Michaelis and Menten's.
functions {
  vector rate(real t, vector c, real k_a, real K_m, real V_m, real dose) {
    return [dose * k_a * exp(-k_a * t) - V_m * c[1] / (K_m + c[1])]';
  }
}
data {
  int<lower=0> N;
  array[N] real t;
  real dose;
  vector<lower=0>[N] y;
}
parameters {
  real<lower=0> k_a;
  real<lower=0> K_m;
  real<lower=0> V_m;
  real<lower=0> sigma;
}
transformed parameters {
  array[N] vector[1] c = ode_rk45(rate, [0]', 0, t, k_a, K_m, V_m, dose);
}
model {
  k_a ~ lognormal(0, 1);
  K_m ~ lognormal(1, 1);
  V_m ~ lognormal(1, 1);
  sigma ~ normal(0, 0.5);
  y ~ lognormal(log(to_vector(c[:, 1])), sigma);
}
