// Network meta-analysis of binomial arms with random effects: Dias et al. (2013). Arms have equal variance, so
// that the contrasts of a trial with three arms have correlation one half.
data {
  int<lower=1> N;
  int<lower=1> S;
  int<lower=2> K;
  array[N] int<lower=1, upper=S> study;
  array[N] int<lower=1, upper=K> treatment;
  array[S] int<lower=1, upper=K> control;
  array[N] int<lower=1> n;
  array[N] int<lower=0> r;
}
parameters {
  vector[S] mu;
  vector[K - 1] effect;
  real<lower=0> tau;
  vector[N] z;
}
transformed parameters {
  vector[K] d = append_row(0, effect);
}
model {
  mu ~ normal(0, 3);
  effect ~ normal(0, 2);
  tau ~ std_normal();
  z ~ std_normal();
  r ~ binomial_logit(n, mu[study] + d[treatment] - d[control[study]] + tau / sqrt2() * z);
}
generated quantities {
  vector[K] odds_ratio = exp(d);
}
