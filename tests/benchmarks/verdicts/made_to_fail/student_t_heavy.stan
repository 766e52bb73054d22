// No mean, and tails that no Gaussian comes near.
parameters {
  real x;
}
model {
  x ~ student_t(0.3, 0, 1);
}
