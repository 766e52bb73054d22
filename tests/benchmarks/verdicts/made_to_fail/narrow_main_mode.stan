// Most of the mass is in the mode that is harder to find.
parameters {
  real x;
}
model {
  target += log_mix(0.9, normal_lpdf(x | -20, 0.1), normal_lpdf(x | 20, 5));
}
