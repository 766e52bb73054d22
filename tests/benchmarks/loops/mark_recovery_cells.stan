// Mark-recovery (Brownie et al. 1985; Kery and Schaub 2012, chapter 8) by the cell that each marked individual falls in.
functions {
  real log_cell(row_vector s, row_vector r, int i1, int i2) {
    int T = num_elements(s);
    if (i2 > T) {
      real never = 1;
      for (k in i1:T) never -= (k > i1 ? prod(s[i1:(k - 1)]) : 1) * (1 - s[k]) * r[k];
      return log(never);
    }
    if (i2 == i1) return log1m(s[i1]) + log(r[i1]);
    return log(prod(s[i1:(i2 - 1)])) + log1m(s[i2]) + log(r[i2]);
  }
}
data {
  int<lower=0> M;
  int<lower=1> T;
  array[M] int<lower=1, upper=T> marked;
  array[M] int<lower=1, upper=T + 1> recovered; // T + 1: never
}
parameters {
  vector[T] a;
  real b;
  real<lower=0> sigma;
  vector[M] epsilon;
}
transformed parameters {
  matrix<lower=0, upper=1>[M, T] s;
  matrix<lower=0, upper=1>[M, T] r;
  for (i in 1:M) {
    for (t in 1:T) {
      s[i, t] = inv_logit(a[t] + sigma * epsilon[i]);
      r[i, t] = inv_logit(b);
    }
  }
}
model {
  a ~ normal(0, 1.5);
  b ~ normal(0, 1.5);
  sigma ~ std_normal();
  epsilon ~ std_normal();
  for (i in 1:M) target += log_cell(s[i], r[i], marked[i], recovered[i]);
}
