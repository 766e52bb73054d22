// radon.stan with alpha and beta integrated out, which are Gaussian given the rest, and drawn from that law: the same
// posterior, of which NUTS gives nearly independent draws.
data {
  int<lower=0> N;
  int<lower=0> J;
  array[N] int<lower=1, upper=J> county;
  vector[N] x;
  vector[N] y;
}
transformed data {
  vector[J] n = rep_vector(0, J);
  vector[J] s_x = rep_vector(0, J);
  vector[J] s_xx = rep_vector(0, J);
  vector[J] s_y = rep_vector(0, J);
  vector[J] s_xy = rep_vector(0, J);
  real s_yy = dot_self(y);
  for (i in 1:N) {
    n[county[i]] += 1;
    s_x[county[i]] += x[i];
    s_xx[county[i]] += square(x[i]);
    s_y[county[i]] += y[i];
    s_xy[county[i]] += x[i] * y[i];
  }
}
parameters {
  real mu_alpha;
  real mu_beta;
  real<lower=0> sigma_alpha;
  real<lower=0> sigma_beta;
  real<lower=0> sigma;
}
transformed parameters {
  // given the parameters, (alpha, beta) of a county has this precision, and mean = precision \ shift
  vector[J] p_aa = inv_square(sigma_alpha) + n * inv_square(sigma);
  vector[J] p_bb = inv_square(sigma_beta) + s_xx * inv_square(sigma);
  vector[J] p_ab = s_x * inv_square(sigma);
  vector[J] shift_a = mu_alpha * inv_square(sigma_alpha) + s_y * inv_square(sigma);
  vector[J] shift_b = mu_beta * inv_square(sigma_beta) + s_xy * inv_square(sigma);
  vector[J] det = p_aa .* p_bb - square(p_ab);
  vector[J] mean_a = (p_bb .* shift_a - p_ab .* shift_b) ./ det;
  vector[J] mean_b = (p_aa .* shift_b - p_ab .* shift_a) ./ det;
}
model {
  mu_alpha ~ normal(0, 10);
  mu_beta ~ normal(0, 10);
  sigma_alpha ~ std_normal();
  sigma_beta ~ std_normal();
  sigma ~ std_normal();
  target += -N * log(sigma) - 0.5 * s_yy * inv_square(sigma);
  target += -J * (log(sigma_alpha) + log(sigma_beta)
                  + 0.5 * square(mu_alpha / sigma_alpha) + 0.5 * square(mu_beta / sigma_beta));
  target += -0.5 * sum(log(det)) + 0.5 * (dot_product(shift_a, mean_a) + dot_product(shift_b, mean_b));
}
generated quantities {
  vector[J] alpha;
  vector[J] beta;
  for (j in 1:J) {
    beta[j] = normal_rng(mean_b[j], sqrt(p_aa[j] / det[j]));
    alpha[j] = normal_rng((shift_a[j] - p_ab[j] * beta[j]) / p_aa[j], inv_sqrt(p_aa[j]));
  }
}
