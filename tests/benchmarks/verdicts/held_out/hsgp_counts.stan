// Counts over time with a Gaussian process in a Hilbert space basis: Riutort-Mayol et al. (2023).
data {
  int<lower=1> N;
  int<lower=1> M;
  real<lower=0> L;
  vector[N] x;
  array[N] int<lower=0> y;
}
transformed data {
  vector[M] omega = linspaced_vector(M, 1, M) * pi() / (2 * L);
  matrix[N, M] PHI;
  for (m in 1:M)
    PHI[, m] = sin(omega[m] * (x + L)) / sqrt(L);
}
parameters {
  real alpha;
  real<lower=0> rho;
  real<lower=0> sigma;
  real<lower=0> phi;
  vector[M] z;
}
transformed parameters {
  vector[M] spd = sigma * sqrt(sqrt(2 * pi()) * rho) * exp(-0.25 * square(rho * omega));
  vector[N] f = PHI * (spd .* z);
}
model {
  alpha ~ normal(2, 1);
  rho ~ inv_gamma(5, 2);
  sigma ~ std_normal();
  phi ~ gamma(2, 0.1);
  z ~ std_normal();
  y ~ neg_binomial_2_log(alpha + f, phi);
}
