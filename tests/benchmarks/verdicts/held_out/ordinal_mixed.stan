// Pain on a scale of five in a trial with repeated visits: a cumulative logit with effects of patients.
data {
  int<lower=1> N;
  int<lower=1> J;
  int<lower=2> K;
  array[N] int<lower=1, upper=J> patient;
  vector[N] treated;
  vector[N] week;
  array[N] int<lower=1, upper=K> y;
}
parameters {
  real b_treated;
  real b_week;
  real b_interaction;
  ordered[K - 1] cut;
  real<lower=0> sigma;
  vector[J] z;
}
transformed parameters {
  vector[J] u = sigma * z;
}
model {
  vector[N] eta = b_treated * treated + b_week * week + b_interaction * treated .* week + u[patient];
  b_treated ~ normal(0, 2);
  b_week ~ std_normal();
  b_interaction ~ std_normal();
  cut ~ normal(0, 3);
  sigma ~ normal(0, 2);
  z ~ std_normal();
  y ~ ordered_logistic(eta, cut);
}
