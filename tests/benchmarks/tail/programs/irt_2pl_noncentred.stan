// irt_2pl not centred, difficulties in units of sigma_theta: for chains of its references.
data {
  int<lower=1> I;
  int<lower=1> J;
  array[I, J] int<lower=0, upper=1> y;
}
parameters {
  real<lower=0> sigma_theta;
  vector[J] z;
  real<lower=0> sigma_a;
  vector[I] z_a;
  real mu_z;
  real<lower=0> sigma_z;
  vector[I] b_z;
}
transformed parameters {
  vector[J] theta = sigma_theta * z;
  vector[I] a = exp(sigma_a * z_a);
  vector[I] b = sigma_theta * b_z;
  real mu_b = sigma_theta * mu_z;
  real sigma_b = sigma_theta * sigma_z;
}
model {
  sigma_theta ~ cauchy(0, 2);
  z ~ std_normal();
  sigma_a ~ cauchy(0, 2);
  z_a ~ std_normal();
  mu_b ~ normal(0, 5);
  sigma_b ~ cauchy(0, 2);
  b_z ~ normal(mu_z, sigma_z);
  target += 2 * log(sigma_theta);  // the Jacobian of mu_b and sigma_b
  for (i in 1:I)
    y[i] ~ bernoulli_logit(a[i] * (theta - b[i]));
}
