// The same with the classes summed out by hand.
data {
  int<lower=0> N;
  int<lower=1> J;
  int<lower=1> C;
  array[N, J] int<lower=0, upper=1> y;
}
parameters {
  simplex[C] share;
  array[C] vector<lower=0, upper=1>[J] yes;
}
model {
  share ~ dirichlet(rep_vector(2, C));
  for (c in 1 : C) {
    yes[c] ~ beta(1.5, 1.5);
  }
  for (n in 1 : N) {
    vector[C] lp = log(share);
    for (c in 1 : C) {
      lp[c] += bernoulli_lpmf(y[n] | yes[c]);
    }
    target += log_sum_exp(lp);
  }
}
