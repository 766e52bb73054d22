// Support in polls: a random walk over days, effects of houses and errors of polls, after Linzer
// (2013); not centred.
data {
  int<lower=1> T;
  int<lower=1> H;
  int<lower=1> N;
  array[N] int<lower=1, upper=T> day;
  array[N] int<lower=1, upper=H> house;
  array[N] int<lower=1> respondents;
  array[N] int<lower=0> y;
}
parameters {
  vector[T] z_day;
  vector[H] z_house;
  vector[N] z_poll;
  real<lower=0> sigma_day;
  real<lower=0> sigma_house;
  real<lower=0> sigma_poll;
}
transformed parameters {
  vector[T] support;
  support[1] = 0.5 * z_day[1];
  for (t in 2:T)
    support[t] = support[t - 1] + sigma_day * z_day[t];
}
model {
  z_day ~ std_normal();
  z_house ~ std_normal();
  z_poll ~ std_normal();
  sigma_day ~ normal(0, 0.05);
  sigma_house ~ normal(0, 0.1);
  sigma_poll ~ normal(0, 0.1);
  for (n in 1:N)
    y[n] ~ binomial_logit(respondents[n],
                          support[day[n]] + sigma_house * z_house[house[n]] + sigma_poll * z_poll[n]);
}
