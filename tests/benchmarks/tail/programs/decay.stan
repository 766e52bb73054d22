// Decay from levels of few groups, not centred, whose scale has a heavy tail.
data {
  int<lower=1> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> group;
  vector[N] time;
  vector[N] y;
}
parameters {
  real level;
  real<lower=0> scale;
  vector[G] z;
  real<lower=0> rate;
  real<lower=0> sigma;
}
model {
  level ~ normal(0, 3);
  scale ~ cauchy(0, 1);
  z ~ std_normal();
  rate ~ lognormal(0, 1);
  sigma ~ exponential(1);
  y ~ normal(exp(level + scale * z[group]) .* exp(-rate * time), sigma);
}
