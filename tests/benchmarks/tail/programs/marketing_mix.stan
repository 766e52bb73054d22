// Sales by spending on channels: geometric adstock over L weeks, then a Hill curve (Jin and others 2017).
data {
  int<lower=1> N;
  int<lower=1> C;
  int<lower=1> L;
  int<lower=0> K;
  array[C] vector[N + L - 1] spend;
  matrix[N, K] X;
  vector[N] y;
}
parameters {
  real alpha;
  vector<lower=0>[C] beta;
  vector<lower=0, upper=1>[C] retain;
  vector<lower=0, upper=1>[C] half;
  vector<lower=0>[C] slope;
  vector[K] gamma;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[N, C] effect;
  for (c in 1:C) {
    for (n in 1:N) {
      real stock = 0;
      real weights = 0;
      for (l in 1:L) {
        stock += pow(retain[c], l - 1) * spend[c, n + L - l];
        weights += pow(retain[c], l - 1);
      }
      stock = stock / weights;
      effect[n, c] = beta[c] / (1 + pow(stock / half[c], -slope[c]));
    }
  }
}
model {
  alpha ~ normal(0, 5);
  beta ~ normal(0, 1);
  retain ~ beta(3, 3);
  half ~ beta(2, 2);
  slope ~ gamma(3, 1);
  gamma ~ normal(0, 1);
  sigma ~ normal(0, 1);
  for (n in 1:N)
    y[n] ~ normal(alpha + sum(effect[n]) + X[n] * gamma, sigma);
}
