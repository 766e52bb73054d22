// A Kalman filter of four states, level, slope and a damped cycle, for one series, in the loop of the textbook.
data {
  int<lower=1> T;
  vector[T] y;
}
parameters {
  real<lower=0> s_level;
  real<lower=0> s_slope;
  real<lower=0> s_cycle;
  real<lower=0> s_obs;
  real<lower=0, upper=1> rho;
  real<lower=0, upper=pi()> lambda;
}
transformed parameters {
  matrix[4, 4] F = rep_matrix(0, 4, 4);
  F[1, 1] = 1;
  F[1, 2] = 1;
  F[2, 2] = 1;
  F[3, 3] = rho * cos(lambda);
  F[3, 4] = rho * sin(lambda);
  F[4, 3] = -rho * sin(lambda);
  F[4, 4] = rho * cos(lambda);
}
model {
  row_vector[4] H = [1, 0, 1, 0];
  matrix[4, 4] Q = diag_matrix([square(s_level), square(s_slope), square(s_cycle), square(s_cycle)]');
  vector[4] m = [y[1], 0, 0, 0]';
  matrix[4, 4] P = diag_matrix(rep_vector(4, 4));
  s_level ~ normal(0, 1);
  s_slope ~ normal(0, 0.2);
  s_cycle ~ normal(0, 1);
  s_obs ~ normal(0, 1);
  rho ~ beta(8, 2);
  for (t in 1:T) {
    vector[4] K;
    real v;
    real S;
    m = F * m;
    P = F * P * F' + Q;
    v = y[t] - H * m;
    S = H * P * H' + square(s_obs);
    K = P * H' / S;
    m = m + K * v;
    P = P - K * (H * P);
    target += normal_lpdf(v | 0, sqrt(S));
  }
}
