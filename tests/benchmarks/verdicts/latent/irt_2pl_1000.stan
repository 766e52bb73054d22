// Two-parameter logistic model with hierarchical items: Stan User's Guide, item-response theory models.
data {
  int<lower=1> I;
  int<lower=1> J;
  int<lower=1> N;
  array[N] int<lower=1, upper=I> item;
  array[N] int<lower=1, upper=J> person;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real mu_b;
  real<lower=0> sigma_b;
  real<lower=0> sigma_a;
  vector<lower=0>[I] a;
  vector[I] b;
  vector[J] theta;
}
model {
  mu_b ~ normal(0, 2);
  sigma_b ~ normal(0, 2);
  sigma_a ~ std_normal();
  a ~ lognormal(0, sigma_a);
  b ~ normal(mu_b, sigma_b);
  theta ~ std_normal();
  y ~ bernoulli_logit(a[item] .* (theta[person] - b[item]));
}
