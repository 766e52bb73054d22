// A ridge: a - b has its prior alone.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real a;
  real b;
}
model {
  a ~ normal(0, 100);
  b ~ normal(0, 100);
  y ~ normal(a + b, 1);
}
