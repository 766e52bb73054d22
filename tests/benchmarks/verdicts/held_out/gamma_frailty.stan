// Censored times with a Weibull hazard and a gamma frailty of each centre: Duchateau and Janssen (2008).
data {
  int<lower=1> N;
  int<lower=1> G;
  int<lower=1> D;
  array[N] int<lower=1, upper=G> centre;
  matrix[N, D] x;
  vector<lower=0>[N] t;
  vector<lower=0, upper=1>[N] event;
}
parameters {
  real alpha;
  vector[D] beta;
  real<lower=0> shape;
  real<lower=0> variance;
  vector<lower=0>[G] frailty;
}
model {
  vector[N] eta = alpha + x * beta + log(frailty[centre]);
  alpha ~ normal(0, 2);
  beta ~ std_normal();
  shape ~ lognormal(0, 0.5);
  variance ~ std_normal();
  frailty ~ gamma(inv(variance), inv(variance));
  target += sum(event .* (eta + log(shape) + (shape - 1) * log(t)));
  target += -sum(exp(eta + shape * log(t)));
}
