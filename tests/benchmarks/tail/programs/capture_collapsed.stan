// capture with its effects integrated out on a grid, then drawn: for chains of its reference.
functions {
  // Log weight and log likelihood of k captures at the points of the grid.
  vector terms(int k, int T, vector log_weight, vector eps) {
    return log_weight + k * log_inv_logit(eps) + (T - k) * log1m_inv_logit(eps);
  }
}
data {
  int<lower=1> M;
  int<lower=1> T;
  array[M] int<lower=0, upper=T> y;
}
transformed data {
  int G = 161;
  real step = 0.08;
  vector[G] grid = linspaced_vector(G, -6.4, 6.4);
  vector[G] log_weight = -0.5 * square(grid);
  array[T + 1] int count = rep_array(0, T + 1);
  log_weight -= log_sum_exp(log_weight);
  for (i in 1:M)
    count[y[i] + 1] += 1;
}
parameters {
  real<lower=0, upper=1> omega;
  real<lower=0, upper=1> mean_p;
  real<lower=0, upper=5> sigma;
}
model {
  vector[G] eps = logit(mean_p) + sigma * grid;
  for (k in 1:T)
    target += count[k + 1] * (log(omega) + log_sum_exp(terms(k, T, log_weight, eps)));
  target += count[1] * log_sum_exp(log(omega) + log_sum_exp(terms(0, T, log_weight, eps)), log1m(omega));
}
generated quantities {
  vector[M] eps_raw;
  vector[M] eps;
  {
    array[T + 1] vector[G] at;
    for (k in 0:T)
      at[k + 1] = terms(k, T, log_weight, logit(mean_p) + sigma * grid);
    real present = inv_logit(log(omega) + log_sum_exp(at[1]) - log1m(omega));
    for (i in 1:M) {
      if (y[i] > 0 || bernoulli_rng(present) == 1)
        eps_raw[i] = grid[categorical_logit_rng(at[y[i] + 1])] + step * uniform_rng(-0.5, 0.5);
      else
        eps_raw[i] = std_normal_rng();
    }
    eps = logit(mean_p) + sigma * eps_raw;
  }
}
