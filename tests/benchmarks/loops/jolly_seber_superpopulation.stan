// Jolly-Seber in the superpopulation parametrisation (Schwarz and Arnason 1996; Kery and Schaub 2012, chapter 10),
// augmented individuals with their histories summed over the times of entry and of leaving.
functions {
  array[] int first_capture(array[,] int y) {
    array[size(y)] int first = rep_array(0, size(y));
    for (i in 1:size(y)) {
      for (t in 1:size(y[i])) {
        if (y[i, t] == 1 && first[i] == 0) first[i] = t;
      }
    }
    return first;
  }
  array[] int last_capture(array[,] int y) {
    array[size(y)] int last = rep_array(0, size(y));
    for (i in 1:size(y)) {
      for (t in 1:size(y[i])) {
        if (y[i, t] == 1) last[i] = t;
      }
    }
    return last;
  }
  matrix never_seen_again(matrix phi, matrix p) {
    int T = cols(p);
    matrix[rows(p), T] chi;
    for (i in 1:rows(p)) {
      chi[i, T] = 1.0;
      for (k in 1:(T - 1)) {
        int now = T - k;
        chi[i, now] = (1 - phi[i, now]) + phi[i, now] * (1 - p[i, now + 1]) * chi[i, now + 1];
      }
    }
    return chi;
  }
  vector entries(vector beta) {
    int T = num_elements(beta);
    vector[T] nu;
    nu[1] = beta[1];
    for (t in 2:(T - 1)) nu[t] = beta[t] / (1.0 - sum(beta[1:(t - 1)]));
    nu[T] = 1.0;
    return nu;
  }
  void jolly_seber_lp(array[,] int y, array[] int first, array[] int last, matrix phi, matrix p, real psi,
                      vector nu, matrix chi) {
    int T = cols(p);
    vector[T] qnu = 1.0 - nu;
    for (i in 1:size(y)) {
      vector[T] qp = 1.0 - p[i]';
      if (first[i]) {
        1 ~ bernoulli(psi);
        if (first[i] == 1) {
          1 ~ bernoulli(nu[1] * p[i, 1]);
        } else {
          vector[first[i]] lp;
          lp[1] = bernoulli_lpmf(1 | nu[1]) + bernoulli_lpmf(1 | prod(qp[1:(first[i] - 1)]))
                  + bernoulli_lpmf(1 | prod(phi[i, 1:(first[i] - 1)])) + bernoulli_lpmf(1 | p[i, first[i]]);
          for (t in 2:(first[i] - 1)) {
            lp[t] = bernoulli_lpmf(1 | prod(qnu[1:(t - 1)])) + bernoulli_lpmf(1 | nu[t])
                    + bernoulli_lpmf(1 | prod(qp[t:(first[i] - 1)]))
                    + bernoulli_lpmf(1 | prod(phi[i, t:(first[i] - 1)])) + bernoulli_lpmf(1 | p[i, first[i]]);
          }
          lp[first[i]] = bernoulli_lpmf(1 | prod(qnu[1:(first[i] - 1)])) + bernoulli_lpmf(1 | nu[first[i]])
                         + bernoulli_lpmf(1 | p[i, first[i]]);
          target += log_sum_exp(lp);
        }
        for (t in (first[i] + 1):last[i]) {
          1 ~ bernoulli(phi[i, t - 1]);
          y[i, t] ~ bernoulli(p[i, t]);
        }
        1 ~ bernoulli(chi[i, last[i]]);
      } else {
        vector[T + 1] lp;
        lp[1] = bernoulli_lpmf(1 | psi) + bernoulli_lpmf(1 | nu[1]) + bernoulli_lpmf(0 | p[i, 1])
                + bernoulli_lpmf(1 | chi[i, 1]);
        for (t in 2:T) {
          lp[t] = bernoulli_lpmf(1 | psi) + bernoulli_lpmf(1 | prod(qnu[1:(t - 1)])) + bernoulli_lpmf(1 | nu[t])
                  + bernoulli_lpmf(0 | p[i, t]) + bernoulli_lpmf(1 | chi[i, t]);
        }
        lp[T + 1] = bernoulli_lpmf(0 | psi);
        target += log_sum_exp(lp);
      }
    }
  }
}
data {
  int<lower=0> M;
  int<lower=2> n_occasions;
  array[M, n_occasions] int<lower=0, upper=1> y;
}
transformed data {
  array[M] int first = first_capture(y);
  array[M] int last = last_capture(y);
}
parameters {
  real<lower=0, upper=1> mean_phi;
  real<lower=0, upper=1> mean_p;
  real<lower=0, upper=1> psi;
  vector<lower=0>[n_occasions] beta;
  vector[M] epsilon;
  real<lower=0, upper=5> sigma;
}
transformed parameters {
  matrix<lower=0, upper=1>[M, n_occasions - 1] phi = rep_matrix(mean_phi, M, n_occasions - 1);
  matrix<lower=0, upper=1>[M, n_occasions] p;
  vector<lower=0, upper=1>[n_occasions] b = beta / sum(beta);
  vector<lower=0, upper=1>[n_occasions] nu = entries(b);
  matrix<lower=0, upper=1>[M, n_occasions] chi;
  for (t in 1:n_occasions) p[ : , t] = inv_logit(logit(mean_p) + sigma * epsilon);
  chi = never_seen_again(phi, p);
}
model {
  beta ~ gamma(1, 1);
  epsilon ~ std_normal();
  jolly_seber_lp(y, first, last, phi, p, psi, nu, chi);
}
