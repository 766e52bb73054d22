// Means of arms at several doses in several trials: a sigmoid Emax curve with baselines and maxima of trials.
data {
  int<lower=1> N;
  int<lower=1> S;
  array[N] int<lower=1, upper=S> trial;
  vector<lower=0>[N] dose;
  vector[N] y;
  vector<lower=0>[N] se;
}
parameters {
  real mu_e0;
  real mu_emax;
  real<lower=0> tau_e0;
  real<lower=0> tau_emax;
  vector<offset=mu_e0, multiplier=tau_e0>[S] e0;
  vector<offset=mu_emax, multiplier=tau_emax>[S] emax;
  real log_ed50;
  real<lower=0> hill;
}
model {
  mu_e0 ~ normal(0, 5);
  mu_emax ~ normal(0, 10);
  tau_e0 ~ normal(0, 2);
  tau_emax ~ normal(0, 2);
  e0 ~ normal(mu_e0, tau_e0);
  emax ~ normal(mu_emax, tau_emax);
  log_ed50 ~ normal(log(25), 1);
  hill ~ lognormal(0, 0.5);
  for (i in 1:N) {
    real share = dose[i] ^ hill / (exp(log_ed50 * hill) + dose[i] ^ hill);
    y[i] ~ normal(e0[trial[i]] + emax[trial[i]] * share, se[i]);
  }
}
generated quantities {
  real ed50 = exp(log_ed50);
}
