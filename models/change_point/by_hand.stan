// The same summed out by hand (Stan User's Guide, "Change point models").
data {
  int<lower=1> T;
  array[T] int<lower=0> y;
}
parameters {
  real<lower=0> early;
  real<lower=0> late;
}
model {
  vector[T] lp = rep_vector(0, T);
  early ~ exponential(1);
  late ~ exponential(1);
  for (s in 1 : T) {
    for (t in 1 : T) {
      lp[s] += poisson_lpmf(y[t] | t < s ? early : late);
    }
  }
  target += log_sum_exp(lp);
}
