// Occupancy over seasons with persistence, colonisation and imperfect detection: MacKenzie et al. (2003).
data {
  int<lower=1> S;
  int<lower=1> T;
  int<lower=1> visits;
  vector[S] elevation;
  array[S, T] int<lower=0, upper=visits> y;
}
parameters {
  real a_psi;
  real b_psi;
  real<lower=0, upper=1> persist;
  real<lower=0, upper=1> colonise;
  real mu_p;
  real<lower=0> sigma_p;
  vector<offset=mu_p, multiplier=sigma_p>[T] logit_p;
}
model {
  a_psi ~ logistic(0, 1);
  b_psi ~ normal(0, 1.5);
  mu_p ~ normal(0, 1.5);
  sigma_p ~ std_normal();
  logit_p ~ normal(mu_p, sigma_p);
  for (s in 1:S) {
    real psi = inv_logit(a_psi + b_psi * elevation[s]);
    vector[2] state = [psi, 1 - psi]';
    for (t in 1:T) {
      state[1] *= exp(binomial_logit_lpmf(y[s, t] | visits, logit_p[t]));
      state[2] *= y[s, t] == 0;
      if (t < T)
        state = [persist * state[1] + colonise * state[2],
                 (1 - persist) * state[1] + (1 - colonise) * state[2]]';
    }
    target += log(sum(state));
  }
}
