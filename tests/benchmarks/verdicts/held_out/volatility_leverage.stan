// Stochastic volatility with leverage: Omori et al. (2007), non-centred as in the User's Guide.
data {
  int<lower=2> T;
  vector[T] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=-1, upper=1> rho;
  real<lower=0> sigma;
  vector[T] z;
}
transformed parameters {
  vector[T] h;
  h[1] = mu + sigma / sqrt(1 - square(phi)) * z[1];
  for (t in 2:T) {
    real shock = y[t - 1] * exp(-h[t - 1] / 2);
    h[t] = mu + phi * (h[t - 1] - mu) + sigma * (rho * shock + sqrt(1 - square(rho)) * z[t]);
  }
}
model {
  mu ~ normal(0, 2);
  (phi + 1) / 2 ~ beta(20, 1.5);
  (rho + 1) / 2 ~ beta(2, 2);
  sigma ~ normal(0, 0.5);
  z ~ std_normal();
  y ~ normal(0, exp(h / 2));
}
