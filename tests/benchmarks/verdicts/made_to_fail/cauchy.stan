parameters {
  real x;
}
model {
  x ~ cauchy(0, 1);
}
