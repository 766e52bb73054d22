// Weights of animals at five ages, a line each, with inverse gamma variances: Gelfand, Hills,
// Racine-Poon and Smith (1990).
data {
  int<lower=1> N;
  int<lower=1> T;
  vector[T] age;
  matrix[N, T] weight;
}
transformed data {
  real mean_age = mean(age);
}
parameters {
  vector[N] alpha;
  vector[N] beta;
  real mu_alpha;
  real mu_beta;
  real<lower=0> sigmasq_y;
  real<lower=0> sigmasq_alpha;
  real<lower=0> sigmasq_beta;
}
model {
  mu_alpha ~ normal(0, 100);
  mu_beta ~ normal(0, 100);
  sigmasq_y ~ inv_gamma(0.001, 0.001);
  sigmasq_alpha ~ inv_gamma(0.001, 0.001);
  sigmasq_beta ~ inv_gamma(0.001, 0.001);
  alpha ~ normal(mu_alpha, sqrt(sigmasq_alpha));
  beta ~ normal(mu_beta, sqrt(sigmasq_beta));
  for (n in 1:N)
    for (t in 1:T)
      weight[n, t] ~ normal(alpha[n] + beta[n] * (age[t] - mean_age), sqrt(sigmasq_y));
}
generated quantities {
  real alpha0 = mu_alpha - mean_age * mu_beta;
}
