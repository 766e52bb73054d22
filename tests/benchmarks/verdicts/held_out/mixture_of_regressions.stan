// Two groups of customers that answer to prices differently: a mixture of regressions with ordered slopes.
data {
  int<lower=1> N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real<lower=0, upper=1> weight;
  vector[2] alpha;
  ordered[2] beta;
  real<lower=0> sigma;
}
model {
  weight ~ beta(2, 2);
  alpha ~ normal(0, 3);
  beta ~ normal(0, 2);
  sigma ~ lognormal(0, 0.5);
  for (i in 1:N)
    target += log_mix(weight, normal_lpdf(y[i] | alpha[1] + beta[1] * x[i], sigma),
                      normal_lpdf(y[i] | alpha[2] + beta[2] * x[i], sigma));
}
