// Rosenbrock's function as a density: Goodman and Weare (2010), section 4.
parameters {
  real x;
  real y;
}
model {
  x ~ normal(1, sqrt(10));
  y ~ normal(square(x), sqrt(0.1));
}
