// Linear regression with a prior on R2 that is divided among coefficients: Zhang et al. (2022), "R2-D2".
data {
  int<lower=1> N;
  int<lower=2> D;
  matrix[N, D] x;
  vector[N] y;
}
parameters {
  real alpha;
  vector[D] z;
  simplex[D] share;
  real<lower=0, upper=1> R2;
  real<lower=0> sigma;
}
transformed parameters {
  vector[D] beta = sigma * sqrt(R2 / (1 - R2) * share) .* z;
}
model {
  alpha ~ normal(0, 5);
  z ~ std_normal();
  share ~ dirichlet(rep_vector(0.5, D));
  R2 ~ beta_proportion(0.5, 3);
  sigma ~ student_t(3, 0, 2.5);
  y ~ normal_id_glm(x, alpha, beta, sigma);
}
