// The same by the forward algorithm, as the Stan User's Guide writes it.
data {
  int<lower=1> T;
  int<lower=1> K;
  vector[T] y;
}
parameters {
  simplex[K] start;
  array[K] simplex[K] move;
  ordered[K] mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 5);
  sigma ~ lognormal(0, 1);
  array[K] vector[K] log_move_to;
  for (k in 1 : K) {
    for (j in 1 : K) {
      log_move_to[k, j] = log(move[j, k]);
    }
  }
  array[T] vector[K] gamma;
  for (k in 1 : K) {
    gamma[1, k] = log(start[k]) + normal_lpdf(y[1] | mu[k], sigma);
  }
  for (t in 2 : T) {
    for (k in 1 : K) {
      gamma[t, k] = log_sum_exp(gamma[t - 1] + log_move_to[k]) + normal_lpdf(y[t] | mu[k], sigma);
    }
  }
  target += log_sum_exp(gamma[T]);
}
