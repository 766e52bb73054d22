// Mixed logit with choice sets of different sizes: one random coefficient vector a person, rows of a task by position.
data {
  int<lower=1> N; // rows: alternatives of all tasks
  int<lower=1> T; // tasks
  int<lower=1> I; // people
  int<lower=1> K;
  vector<lower=0, upper=1>[N] choice;
  matrix[N, K] X;
  array[T] int<lower=1, upper=I> person;
  array[T] int<lower=1, upper=N> start;
  array[T] int<lower=1, upper=N> end;
}
parameters {
  vector[K] beta;
  vector<lower=0>[K] tau;
  matrix[K, I] z;
  cholesky_factor_corr[K] L_Omega;
}
transformed parameters {
  matrix[I, K] beta_individual = rep_matrix(beta', I) + (diag_pre_multiply(tau, L_Omega) * z)';
}
model {
  vector[N] log_prob;
  tau ~ normal(0, 0.5);
  beta ~ normal(0, 1);
  to_vector(z) ~ std_normal();
  L_Omega ~ lkj_corr_cholesky(4);
  for (t in 1:T) {
    log_prob[start[t]:end[t]] = log_softmax(X[start[t]:end[t]] * beta_individual[person[t]]');
  }
  target += log_prob' * choice;
}
