// Improper: nothing holds a - b.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real a;
  real b;
}
model {
  y ~ normal(a + b, 1);
}
