// The same summed out by hand (Stan User's Guide, "Zero-inflated and hurdle models").
data {
  int<lower=0> N;
  array[N] int<lower=0> y;
}
parameters {
  real<lower=0, upper=1> theta;
  real<lower=0> lambda;
}
model {
  theta ~ beta(1, 1);
  lambda ~ exponential(0.2);
  for (n in 1 : N) {
    if (y[n] == 0) {
      target += log_sum_exp(log(theta), log1m(theta) + poisson_lpmf(y[n] | lambda));
    } else {
      target += log1m(theta) + poisson_lpmf(y[n] | lambda);
    }
  }
}
