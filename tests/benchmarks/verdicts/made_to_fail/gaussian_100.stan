// Eigenvalues of the covariance from 1 to 1e-6; e are the principal components.
data {
  int<lower=0> D;
  vector[D] mu;
  matrix[D, D] L;
  matrix[D, D] axes;
}
parameters {
  vector[D] x;
}
model {
  x ~ multi_normal_cholesky(mu, L);
}
generated quantities {
  vector[D] e = axes' * (x - mu);
}
