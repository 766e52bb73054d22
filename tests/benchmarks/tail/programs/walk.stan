// A level that walks at random, observed with noise; not centred, step by step.
data {
  int<lower=1> T;
  vector[T] y;
}
parameters {
  real start;
  vector[T - 1] z;
  real<lower=0> step;
  real<lower=0> sigma;
}
transformed parameters {
  vector[T] level;
  level[1] = start;
  for (t in 2:T)
    level[t] = level[t - 1] + step * z[t - 1];
}
model {
  start ~ normal(0, 5);
  z ~ std_normal();
  step ~ normal(0, 1);
  sigma ~ normal(0, 1);
  for (t in 1:T)
    y[t] ~ normal(level[t], sigma);
}
