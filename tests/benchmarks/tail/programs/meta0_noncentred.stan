// meta0 of ../shared/cases, its effects not centred: for chains of its reference.
data {
  int S;
  array[S] int nt;
  array[S] int nc;
  array[S] int rt;
  array[S] int rc;
}
parameters {
  real d;
  real<lower=0> tau;
  vector[S] mu;
  vector[S] z;
}
transformed parameters {
  vector[S] delta = d + tau * z;
}
model {
  d ~ normal(0, 2);
  tau ~ std_normal();
  mu ~ normal(-3, 3);
  z ~ std_normal();
  rc ~ binomial_logit(nc, mu);
  rt ~ binomial_logit(nt, mu + delta);
}
