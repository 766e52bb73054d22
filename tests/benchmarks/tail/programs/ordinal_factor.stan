// One factor of ordinal items: the graded response model (Samejima 1969), each item with its own cut points.
data {
  int<lower=1> I;
  int<lower=1> J;
  int<lower=2> K;
  array[J, I] int<lower=1, upper=K> y;
}
parameters {
  vector[J] eta;
  vector<lower=0>[I] lambda;
  array[I] ordered[K - 1] cut;
}
model {
  eta ~ std_normal();
  lambda ~ normal(0, 2);
  for (i in 1:I)
    cut[i] ~ normal(0, 3);
  for (j in 1:J)
    for (i in 1:I)
      y[j, i] ~ ordered_logistic(lambda[i] * eta[j], cut[i]);
}
