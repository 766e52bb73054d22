parameters {
  real<lower=0, upper=1> x;
}
model {
  x ~ beta(0.01, 0.01);
}
