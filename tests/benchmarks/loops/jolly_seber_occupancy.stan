// Jolly-Seber as a restricted dynamic occupancy model (Kery and Schaub 2012, chapter 10): augmented individuals are not
// yet entered, alive, or dead.
data {
  int<lower=0> M;
  int<lower=2> n_occasions;
  array[M, n_occasions] int<lower=0, upper=1> y;
}
parameters {
  real<lower=0, upper=1> mean_phi;
  vector<lower=0, upper=1>[n_occasions] gamma; // removal entry
  real mu_p;
  real<lower=0> sigma;
  vector[M] epsilon;
}
transformed parameters {
  vector<lower=0, upper=1>[M] p = inv_logit(mu_p + sigma * epsilon);
}
model {
  mu_p ~ normal(0, 1.5);
  sigma ~ normal(0, 1);
  epsilon ~ std_normal();
  for (i in 1:M) {
    vector[3] f;
    f[1] = y[i, 1] == 1 ? negative_infinity() : log1m(gamma[1]);
    f[2] = log(gamma[1]) + bernoulli_lpmf(y[i, 1] | p[i]);
    f[3] = negative_infinity();
    for (t in 2:n_occasions) {
      vector[3] g;
      g[1] = y[i, t] == 1 ? negative_infinity() : f[1] + log1m(gamma[t]);
      g[2] = log_sum_exp(f[1] + log(gamma[t]), f[2] + log(mean_phi)) + bernoulli_lpmf(y[i, t] | p[i]);
      g[3] = y[i, t] == 1 ? negative_infinity() : log_sum_exp(f[2] + log1m(mean_phi), f[3]);
      f = g;
    }
    target += log_sum_exp(f);
  }
}
