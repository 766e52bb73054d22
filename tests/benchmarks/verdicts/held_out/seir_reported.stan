// Weekly reported cases of an epidemic with a latent period: Grinsztajn et al. (2021), for incidences.
functions {
  vector seir(real t, vector y, real beta, real sigma, real gamma, real n) {
    real infected = beta * y[1] * y[3] / n;
    return [-infected, infected - sigma * y[2], sigma * y[2] - gamma * y[3], sigma * y[2]]';
  }
}
data {
  int<lower=2> T;
  array[T] real week;
  real<lower=0> population;
  array[T] int<lower=0> cases;
}
parameters {
  real<lower=0> beta;
  real<lower=0> sigma;
  real<lower=0> gamma;
  real<lower=0> exposed;
  real<lower=0, upper=1> reported;
  real<lower=0> phi_inv;
}
transformed parameters {
  vector[4] start = [population - exposed, exposed, 0, 0]';
  array[T] vector[4] state = ode_rk45_tol(seir, start, 0, week, 1e-6, 1e-6, 1000, beta, sigma, gamma,
                                         population);
}
model {
  vector[T] onsets = to_vector(state[, 4]) - append_row(0, to_vector(state[1:(T - 1), 4]));
  beta ~ normal(2, 1);
  sigma ~ lognormal(log(1.5), 0.2);
  gamma ~ lognormal(log(1), 0.2);
  exposed ~ lognormal(log(10), 0.5);
  reported ~ beta(4, 6);
  phi_inv ~ exponential(5);
  cases ~ neg_binomial_2(reported * onsets, inv(phi_inv));
}
generated quantities {
  real R0 = beta / gamma;
}
