// Poisson counts with a proper CAR prior, phi of precision (D - rho W) / sigma^2, in sparse form: Joseph (2016),
// "Exact sparse CAR models in Stan". `eigenvalues` are those of D^-1/2 W D^-1/2.
functions {
  real sparse_car_lpdf(vector phi, real rho, real sigma, array[] int node1, array[] int node2, vector neighbours,
                       vector eigenvalues) {
    real form = dot_product(neighbours, square(phi)) - 2 * rho * dot_product(phi[node1], phi[node2]);
    return 0.5 * sum(log1m(rho * eigenvalues)) - num_elements(phi) * log(sigma) - 0.5 * form / square(sigma);
  }
}
data {
  int<lower=1> N;
  int<lower=0> N_edges;
  array[N_edges] int<lower=1, upper=N> node1;
  array[N_edges] int<lower=1, upper=N> node2;
  vector<lower=0>[N] neighbours;
  vector[N] eigenvalues;
  vector[N] x;
  vector<lower=0>[N] E;
  array[N] int<lower=0> y;
}
transformed data {
  vector[N] log_E = log(E);
}
parameters {
  real alpha;
  real beta;
  real<lower=0, upper=1> rho;
  real<lower=0> sigma;
  vector[N] phi;
}
model {
  alpha ~ normal(0, 2);
  beta ~ std_normal();
  rho ~ beta(4, 1);
  sigma ~ std_normal();
  phi ~ sparse_car(rho, sigma, node1, node2, neighbours, eigenvalues);
  y ~ poisson_log(log_E + alpha + beta * x + phi);
}
