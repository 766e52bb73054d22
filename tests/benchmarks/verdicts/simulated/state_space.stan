// An autoregressive state of 30 steps under noise, non-centred.
data {
  int<lower=0> T;
  vector[T] y;
}
parameters {
  real<lower=-1, upper=1> phi;
  real<lower=0> q;
  real<lower=0> r;
  vector[T] z;
}
transformed parameters {
  vector[T] state;
  state[1] = q * z[1];
  for (t in 2:T) {
    state[t] = phi * state[t - 1] + q * z[t];
  }
}
model {
  q ~ std_normal();
  r ~ std_normal();
  z ~ std_normal();
  y ~ normal(state, r);
}
