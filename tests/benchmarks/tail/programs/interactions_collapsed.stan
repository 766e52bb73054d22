// interactions of ../shared/cases with its coefficients integrated out, then drawn: for chains of its reference.
functions {
  // Coefficients are scale .* u; given y, u has the precision L * L' and the mean L' \ h.
  matrix factor(matrix XX, vector scale, real sy) {
    return cholesky_decompose(add_diag(quad_form_diag(XX, scale / sy), 1));
  }
  vector whitened(matrix L, vector Xy, vector scale, real sy) {
    return mdivide_left_tri_low(L, scale .* Xy / square(sy));
  }
}
data {
  int N;
  int nE;
  int nA;
  array[N] int eth;
  array[N] int age;
  vector[N] x;
  vector[N] y;
}
transformed data {
  int B = nE * nA;
  int P = 2 + 2 * (nE + nA + B);
  matrix[N, P] X = rep_matrix(0, N, P);
  for (n in 1:N) {
    int e = 2 + eth[n];
    int a = 2 + 2 * nE + age[n];
    int b = 2 + 2 * (nE + nA) + (age[n] - 1) * nE + eth[n];
    X[n, 1] = 10;
    X[n, 2] = x[n];
    X[n, e] = 1;
    X[n, e + nE] = x[n];
    X[n, a] = 1;
    X[n, a + nA] = x[n];
    X[n, b] = 1;
    X[n, b + B] = x[n];
  }
  matrix[P, P] XX = crossprod(X);
  vector[P] Xy = X' * y;
  real yy = dot_self(y);
}
parameters {
  real<lower=0, upper=100> se1;
  real<lower=0, upper=100> se2;
  real<lower=0, upper=100> sa1;
  real<lower=0, upper=100> sa2;
  real<lower=0, upper=100> sb1;
  real<lower=0, upper=100> sb2;
  real<lower=0, upper=100> sy;
}
transformed parameters {
  vector[P] scale;
  scale[1:2] = [1, 1]';
  scale[3:(2 + 2 * nE)] = append_row(rep_vector(se1, nE), rep_vector(se2, nE));
  scale[(3 + 2 * nE):(2 + 2 * (nE + nA))] = append_row(rep_vector(sa1, nA), rep_vector(sa2, nA));
  scale[(3 + 2 * (nE + nA)):P] = append_row(rep_vector(sb1, B), rep_vector(sb2, B));
}
model {
  matrix[P, P] L = factor(XX, scale, sy);
  vector[P] h = whitened(L, Xy, scale, sy);
  target += -N * log(sy) - sum(log(diagonal(L))) - 0.5 * (yy / square(sy) - dot_self(h));
}
generated quantities {
  real mu1;
  real mu2;
  vector[nE] e1;
  vector[nE] e2;
  vector[nA] a1;
  vector[nA] a2;
  matrix[nE, nA] b1;
  matrix[nE, nA] b2;
  {
    matrix[P, P] L = factor(XX, scale, sy);
    vector[P] z = whitened(L, Xy, scale, sy);
    for (p in 1:P)
      z[p] += std_normal_rng();
    vector[P] w = scale .* mdivide_right_tri_low(z', L)';
    int k = 2;
    mu1 = w[1];
    mu2 = w[2];
    e1 = segment(w, k + 1, nE);
    e2 = segment(w, k + nE + 1, nE);
    k += 2 * nE;
    a1 = segment(w, k + 1, nA);
    a2 = segment(w, k + nA + 1, nA);
    k += 2 * nA;
    b1 = to_matrix(segment(w, k + 1, B), nE, nA);
    b2 = to_matrix(segment(w, k + B + 1, B), nE, nA);
  }
}
