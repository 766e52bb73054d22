// Goals in a league by attack and defence of teams and advantage at home: Baio and Blangiardo (2010).
data {
  int<lower=2> teams;
  int<lower=1> N;
  array[N] int<lower=1, upper=teams> home;
  array[N] int<lower=1, upper=teams> away;
  array[N] int<lower=0> home_goals;
  array[N] int<lower=0> away_goals;
}
parameters {
  real intercept;
  real advantage;
  real<lower=0> sigma_attack;
  real<lower=0> sigma_defence;
  vector[teams] z_attack;
  vector[teams] z_defence;
}
transformed parameters {
  vector[teams] attack = sigma_attack * (z_attack - mean(z_attack));
  vector[teams] defence = sigma_defence * (z_defence - mean(z_defence));
}
model {
  intercept ~ std_normal();
  advantage ~ std_normal();
  sigma_attack ~ std_normal();
  sigma_defence ~ std_normal();
  z_attack ~ std_normal();
  z_defence ~ std_normal();
  home_goals ~ poisson_log(intercept + advantage + attack[home] - defence[away]);
  away_goals ~ poisson_log(intercept + attack[away] - defence[home]);
}
