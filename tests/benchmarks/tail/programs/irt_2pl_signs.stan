// Two-parameter item response whose discriminations may have either sign: (a, theta) and (-a,
// -theta) are equally likely.
data {
  int<lower=1> I;
  int<lower=1> J;
  array[I, J] int<lower=0, upper=1> y;
}
parameters {
  vector[J] theta;
  real<lower=0> sigma_a;
  vector[I] a;
  real mu_b;
  real<lower=0> sigma_b;
  vector[I] b;
}
model {
  theta ~ std_normal();
  sigma_a ~ normal(0, 2);
  a ~ normal(0, sigma_a);
  mu_b ~ normal(0, 2);
  sigma_b ~ normal(0, 2);
  b ~ normal(mu_b, sigma_b);
  for (i in 1:I)
    for (j in 1:J)
      y[i, j] ~ bernoulli_logit(a[i] * theta[j] - b[i]);
}
