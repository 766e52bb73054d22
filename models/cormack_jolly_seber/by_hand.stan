// The same by the forward algorithm of each history, alive in 2 and dead in 1.
data {
  int<lower=0> I;
  int<lower=2> T;
  array[I, T] int<lower=0, upper=1> y;
}
transformed data {
  array[I] int<lower=1, upper=T> first;
  for (i in 1 : I) {
    first[i] = T;
    for (t in 1 : T) {
      if (y[i, T - t + 1] == 1) {
        first[i] = T - t + 1;
      }
    }
  }
}
parameters {
  vector<lower=0, upper=1>[T - 1] phi;
  vector<lower=0, upper=1>[T - 1] p;
}
model {
  array[I] vector[2] forward = rep_array([negative_infinity(), 0]', I);
  for (t in 2 : T) {
    for (i in 1 : I) {
      if (t > first[i]) {
        real dead = log_sum_exp(forward[i, 1], forward[i, 2] + log1m(phi[t - 1]));
        real living = forward[i, 2] + log(phi[t - 1]);
        forward[i, 1] = y[i, t] == 1 ? negative_infinity() : dead;
        forward[i, 2] = living + bernoulli_lpmf(y[i, t] | p[t - 1]);
      }
    }
  }
  for (i in 1 : I) {
    target += log_sum_exp(forward[i]);
  }
}
