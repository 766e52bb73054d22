// Multistate capture-recapture: three sites and death, seen or not (Kery and Schaub 2012, chapter 9), the state
// marginalised by the forward algorithm, in loops over individuals, occasions and states.
data {
  int<lower=0> nind;
  int<lower=2> n_occasions;
  array[nind, n_occasions] int<lower=1, upper=4> y; // 1 to 3: seen at that site, 4: not seen
  array[nind] int<lower=1, upper=n_occasions> first;
}
parameters {
  vector<lower=0, upper=1>[3] phi;
  array[3] vector[2] lpsi; // multinomial logits, the third 0
  vector<lower=0, upper=1>[3] p;
}
transformed parameters {
  array[3] vector[3] psi;
  array[4] vector[4] ps; // of the state next time
  array[4] vector[4] po; // of what is seen
  for (k in 1:3) {
    psi[k] = softmax(append_row(lpsi[k], 0));
    for (j in 1:3) {
      ps[k][j] = phi[k] * psi[k][j];
      po[k][j] = j == k ? p[k] : 0;
    }
    ps[k][4] = 1 - phi[k];
    po[k][4] = 1 - p[k];
  }
  ps[4] = [0, 0, 0, 1]';
  po[4] = [0, 0, 0, 1]';
}
model {
  array[4] real acc;
  array[n_occasions] vector[4] gamma;
  for (k in 1:3) {
    lpsi[k] ~ normal(0, 1.5);
  }
  for (i in 1:nind) {
    if (first[i] < n_occasions) {
      for (k in 1:4) {
        gamma[first[i], k] = k == y[i, first[i]];
      }
      for (t in (first[i] + 1):n_occasions) {
        for (k in 1:4) {
          for (j in 1:4) {
            acc[j] = gamma[t - 1, j] * ps[j][k] * po[k][y[i, t]];
          }
          gamma[t, k] = sum(acc);
        }
      }
      target += log(sum(gamma[n_occasions]));
    }
  }
}
