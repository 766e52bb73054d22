// The same with the true categories summed out by hand.
data {
  int<lower=1> I;
  int<lower=1> J;
  int<lower=1> K;
  int<lower=0> N;
  array[N] int<lower=1, upper=I> item;
  array[N] int<lower=1, upper=J> rater;
  array[N] int<lower=1, upper=K> y;
}
parameters {
  simplex[K] prevalence;
  array[J, K] simplex[K] says;
}
model {
  prevalence ~ dirichlet(rep_vector(3, K));
  for (j in 1 : J) {
    for (k in 1 : K) {
      vector[K] alpha = rep_vector(1, K);
      alpha[k] = 2.5 * K;
      says[j, k] ~ dirichlet(alpha);
    }
  }
  array[I] vector[K] log_q = rep_array(log(prevalence), I);
  for (n in 1 : N) {
    for (k in 1 : K) {
      log_q[item[n], k] += log(says[rater[n], k, y[n]]);
    }
  }
  for (i in 1 : I) {
    target += log_sum_exp(log_q[i]);
  }
}
