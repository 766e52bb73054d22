// Three-parameter item response: an item of difficulty b is answered by chance with probability c
// (Birnbaum 1968).
data {
  int<lower=1> I;
  int<lower=1> J;
  array[J, I] int<lower=0, upper=1> y;
}
parameters {
  vector[J] theta;
  vector<lower=0>[I] a;
  vector[I] b;
  vector<lower=0, upper=1>[I] c;
}
model {
  theta ~ std_normal();
  a ~ lognormal(0, 0.5);
  b ~ normal(0, 2);
  c ~ beta(5, 17);
  for (j in 1:J) {
    for (i in 1:I) {
      real p = c[i] + (1 - c[i]) * inv_logit(a[i] * (theta[j] - b[i]));
      y[j, i] ~ bernoulli(p);
    }
  }
}
