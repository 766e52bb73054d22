// Growth of firms: a dynamic panel in which levels and persistence differ from firm to firm.
data {
  int<lower=1> J;
  int<lower=2> T;
  matrix[J, T] x;
  matrix[J, T] y;
}
parameters {
  real mu_alpha;
  real<lower=0> tau_alpha;
  vector[J] alpha;
  real mu_phi;
  real<lower=0> tau_phi;
  vector[J] z_phi;
  real beta;
  real<lower=0> sigma;
}
transformed parameters {
  vector<lower=-1, upper=1>[J] phi = tanh(mu_phi + tau_phi * z_phi);
}
model {
  mu_alpha ~ normal(0, 2);
  tau_alpha ~ std_normal();
  alpha ~ normal(mu_alpha, tau_alpha);
  mu_phi ~ normal(0, 0.7);
  tau_phi ~ normal(0, 0.5);
  z_phi ~ std_normal();
  beta ~ std_normal();
  sigma ~ std_normal();
  for (j in 1:J)
    y[j, 2:T] ~ normal(alpha[j] + phi[j] * y[j, 1:(T - 1)] + beta * x[j, 2:T], sigma);
}
