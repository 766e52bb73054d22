// Two equal modes, which differ by the names of the groups; what is invariant is judged.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  vector[2] mu;
  real<lower=0, upper=1> weight;
}
model {
  mu ~ normal(0, 5);
  weight ~ beta(2, 2);
  for (n in 1:N) {
    target += log_mix(weight, normal_lpdf(y[n] | mu[1], 1), normal_lpdf(y[n] | mu[2], 1));
  }
}
generated quantities {
  real mu_low = min(mu);
  real mu_high = max(mu);
  real weight_low = mu[1] < mu[2] ? weight : 1 - weight;
}
