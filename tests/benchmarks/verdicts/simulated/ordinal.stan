data {
  int<lower=0> N;
  int<lower=0> D;
  matrix[N, D] x;
  array[N] int<lower=1, upper=5> y;
}
parameters {
  vector[D] beta;
  ordered[4] cut;
}
model {
  beta ~ std_normal();
  cut ~ normal(0, 2);
  y ~ ordered_logistic(x * beta, cut);
}
