// Closed population with individual heterogeneity and data augmentation: Mh of Kery and Schaub (2012), section 6.2.3.
data {
  int<lower=0> C;
  int<lower=C> M;
  int<lower=1> T;
  array[C] int<lower=1, upper=T> y;
}
parameters {
  real<lower=0, upper=1> omega;
  real<lower=0, upper=1> mean_p;
  real<lower=0> sigma;
  vector[M] z;
}
transformed parameters {
  vector[M] eps = logit(mean_p) + sigma * z;
}
model {
  sigma ~ std_normal();
  z ~ std_normal();
  target += C * log(omega) + binomial_logit_lpmf(y | T, eps[1:C]);
  for (i in (C + 1):M)
    target += log_sum_exp(log(omega) + binomial_logit_lpmf(0 | T, eps[i]), log1m(omega));
}
generated quantities {
  int<lower=C, upper=M> N = C;
  for (i in (C + 1):M) {
    real present = log(omega) + binomial_logit_lpmf(0 | T, eps[i]);
    N += bernoulli_logit_rng(present - log1m(omega));
  }
}
