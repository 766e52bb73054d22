// The same with the labels summed out by hand (Stan User's Guide, "Summing out the responsibility parameter").
data {
  int<lower=0> N;
  int<lower=1> K;
  vector[N] y;
}
parameters {
  simplex[K] theta;
  ordered[K] mu;
  vector<lower=0>[K] sigma;
}
model {
  vector[K] log_theta = log(theta);
  mu ~ normal(0, 10);
  sigma ~ lognormal(0, 1);
  for (n in 1 : N) {
    vector[K] lps = log_theta;
    for (k in 1 : K) {
      lps[k] += normal_lpdf(y[n] | mu[k], sigma[k]);
    }
    target += log_sum_exp(lps);
  }
}
