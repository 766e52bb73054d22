// Quarterly counts, level and seasonal pattern random walks: Durbin and Koopman (2012), section 3.2.
data {
  int<lower=4> T;
  array[T] int<lower=0> y;
}
parameters {
  real<lower=0> sigma_level;
  real<lower=0> sigma_season;
  real start;
  vector[3] pattern;
  vector[T - 1] z_level;
  vector[T - 3] z_season;
}
transformed parameters {
  vector[T] level = append_row(start, start + sigma_level * cumulative_sum(z_level));
  vector[T] season;
  season[1:3] = pattern;
  for (t in 4:T)
    season[t] = -sum(season[(t - 3):(t - 1)]) + sigma_season * z_season[t - 3];
}
model {
  sigma_level ~ normal(0, 0.2);
  sigma_season ~ normal(0, 0.2);
  start ~ normal(3, 1);
  pattern ~ std_normal();
  z_level ~ std_normal();
  z_season ~ std_normal();
  y ~ poisson_log(level + season);
}
