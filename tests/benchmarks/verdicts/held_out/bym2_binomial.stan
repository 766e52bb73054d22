// Prevalence in small areas with BYM2 effects, phi scaled: Riebler et al. (2016), Morris et al. (2019).
data {
  int<lower=1> N;
  int<lower=0> N_edges;
  array[N_edges] int<lower=1, upper=N> node1;
  array[N_edges] int<lower=1, upper=N> node2;
  real<lower=0> scaling_factor;
  vector[N] x;
  array[N] int<lower=0> trials;
  array[N] int<lower=0> y;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> sigma;
  real<lower=0, upper=1> rho;
  vector[N] z;
  vector[N] phi;
}
transformed parameters {
  vector[N] area = sigma * (sqrt(1 - rho) * z + sqrt(rho / scaling_factor) * phi);
}
model {
  alpha ~ normal(0, 2);
  beta ~ std_normal();
  sigma ~ std_normal();
  rho ~ beta(0.5, 0.5);
  z ~ std_normal();
  target += -0.5 * dot_self(phi[node1] - phi[node2]);
  sum(phi) ~ normal(0, 0.001 * N);
  y ~ binomial_logit(trials, alpha + beta * x + area);
}
