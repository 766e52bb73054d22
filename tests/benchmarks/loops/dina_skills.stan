// Cognitive diagnosis by DINA: five skills, thirty-two profiles, twenty items (Junker and Sijtsma 2001; after the Stan case
// study of Lee 2016).
data {
  int<lower=1> I; // items
  int<lower=1> J; // respondents
  int<lower=1> K; // skills
  int<lower=1> C; // profiles
  matrix[J, I] y;
  matrix[C, K] alpha;
  matrix[I, K] Q;
}
transformed data {
  matrix[I, C] xi;
  for (c in 1:C) {
    for (i in 1:I) {
      xi[i, c] = 1;
      for (k in 1:K) {
        xi[i, c] = xi[i, c] * pow(alpha[c, k], Q[i, k]);
      }
    }
  }
}
parameters {
  simplex[C] nu;
  vector<lower=0, upper=1>[I] slip;
  vector<lower=0, upper=1>[I] guess;
}
transformed parameters {
  vector[C] log_nu = log(nu);
}
model {
  array[C] real ps;
  array[I] real log_items;
  slip ~ beta(5, 25);
  guess ~ beta(5, 25);
  for (j in 1:J) {
    for (c in 1:C) {
      for (i in 1:I) {
        real pi = (1 - slip[i]) ^ xi[i, c] * guess[i] ^ (1 - xi[i, c]);
        log_items[i] = y[j, i] * log(pi) + (1 - y[j, i]) * log1m(pi);
      }
      ps[c] = log_nu[c] + sum(log_items);
    }
    target += log_sum_exp(ps);
  }
}
