"""Small programs as people write them, whose cost once grew by more than their rows, or may."""

from collections.abc import Mapping
from typing import Any

import numpy as np

DATA = """
data {
  int<lower=1> N;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> g;
  array[N] int<lower=0, upper=1> miss;
  vector[N] x;
  vector[N] y;
  array[N] int<lower=1, upper=4> k;
"""
PARAMETERS = "parameters { vector[J] a; real b; real<lower=0> s; "
PRIORS = " a ~ normal(0, 1); b ~ normal(0, 1); s ~ normal(0, 1); "

ROWS = 8
_RNG = np.random.default_rng(4)
VALUES = {
    "N": ROWS,
    "J": 4,
    "g": (np.arange(ROWS) % 4 + 1).tolist(),
    "miss": (np.arange(ROWS) % 5 == 0).astype(int).tolist(),
    "x": _RNG.normal(size=ROWS).round(2).tolist(),
    "y": _RNG.normal(size=ROWS).round(2).tolist(),
    "k": (np.arange(ROWS) % 4 + 1).tolist(),
}


def text(
    model: str,
    functions: str = "",
    transformed_data: str = "",
    parameters: str = "",
    transformed: str = "",
    generated: str = "",
) -> str:
    """A program around statements of its model block."""
    return (
        (f"functions {{ {functions} }}\n" if functions else "")
        + DATA
        + f"}}\ntransformed data {{ {transformed_data} }}\n{PARAMETERS}{parameters} }}\n"
        + f"transformed parameters {{ {transformed} }}\nmodel {{ {PRIORS}\n{model}\n}}\n"
        + f"generated quantities {{ {generated} }}\n"
    )


ENDS = " target += normal_lpdf(y | mu, s);"

TEXTS: Mapping[str, str] = {
    "an entry set and read by its iteration": text(
        """vector[N] mu; for (n in 1:N) {
             mu[n] = a[g[n]] + x[n] * b; target += normal_lpdf(y[n] | mu[n], s); }"""),
    "an entry read again after the loop": text(
        """vector[N] mu; for (n in 1:N) { mu[n] = a[g[n]] + x[n] * b; y[n] ~ normal(mu[n], s); }
           target += -square(mean(mu));"""),
    "scratch of a branch": text(
        "vector[N] mu; for (n in 1:N) { if (x[n] > 0) mu[n] = b * x[n]; else mu[n] = a[1] * x[n]; }" + ENDS),
    "scratch of a branch, read in the loop": text(
        """vector[N] mu; for (n in 1:N) { if (x[n] > 0) mu[n] = b * x[n]; else mu[n] = a[1] * x[n];
             y[n] ~ normal(mu[n], s); }"""),
    "a row filled by an inner loop": text(
        """matrix[N, 3] m; for (n in 1:N) { for (j in 1:3) m[n, j] = x[n] * b + j * s;
             y[n] ~ normal(sum(m[n]), s); }"""),
    "a row filled by an inner loop, read by another": text(
        """matrix[N, 3] m; for (n in 1:N) for (j in 1:3) m[n, j] = a[g[n]] * x[n] + j * b;
           for (n in 1:N) target += log_sum_exp(m[n]);"""),
    "a vector of classes": text(
        """vector[3] l; for (n in 1:N) { for (j in 1:3) l[j] = normal_lpdf(y[n] | b * j, s);
             target += log_sum_exp(l); }"""),
    "missing data, by a counter": text(
        """int i = 0; vector[N] yy = y;
           for (n in 1:N) if (miss[n] == 1) { i += 1; yy[n] = ym[i]; }
           ym ~ normal(0, 1); target += normal_lpdf(yy | a[g] + b * x, s);""",
        transformed_data="int M = sum(miss);", parameters="vector[M] ym;"),
    "missing data, by a counter, in the loop": text(
        """int i = 0;
           for (n in 1:N) { real m = a[g[n]] + b * x[n];
             if (miss[n] == 1) { i += 1; ym[i] ~ normal(m, s); } else y[n] ~ normal(m, s); }""",
        transformed_data="int M = sum(miss);", parameters="vector[M] ym;"),
    "shards": text(
        "target += sum(map_rect(shard, [b, s]', to_shards(z), xs, is));",
        functions="""vector shard(vector phi, vector theta, data array[] real r, data array[] int i) {
            return [normal_lpdf(r[1] | phi[1] + theta[1], phi[2])]'; }
          array[] vector to_shards(vector v) { array[size(v)] vector[1] o;
            for (i in 1:size(v)) o[i, 1] = v[i]; return o; }""",
        transformed_data="""array[N, 1] real xs; array[N, 1] int is;
            for (n in 1:N) { xs[n, 1] = y[n]; is[n, 1] = n; }""",
        parameters="vector[N] z;"),
    "tuples": text(
        """for (n in 1:N) { tuple(real, real) t = both(x[n], b);
             y[n] ~ normal(t.1 + a[g[n]], s + t.2 ^ 2); }""",
        functions="tuple(real, real) both(real u, real v) { return (u * v, u + v); }"),
    "an array of tuples": text(
        """array[N] tuple(real, real) t; for (n in 1:N) t[n] = (x[n] * b, a[g[n]]);
           for (n in 1:N) y[n] ~ normal(t[n].1 + t[n].2, s);"""),
    "reject in a loop": text(
        """for (n in 1:N) { real m = a[g[n]] + b * x[n]; if (m > 1e6) reject("too large: ", m);
             y[n] ~ normal(m, s); }"""),
    "a recursive function": text(
        "for (n in 1:N) y[n] ~ normal(power(b, k[n]), s);",
        functions="real power(real u, int i) { if (i == 0) return 1; return u * power(u, i - 1); }"),
    "break": text(
        """for (n in 1:N) { real m = 0; for (j in 1:4) { if (j > k[n]) break; m += b * x[n] / j; }
             y[n] ~ normal(m, s); }"""),
    "break by a parameter": text(
        """for (n in 1:N) { real m = b * x[n]; for (j in 1:4) { if (m > 2) break; m += s; }
             y[n] ~ normal(m, s); }"""),
    "continue": text(
        "for (n in 1:N) { if (miss[n] == 1) continue; y[n] ~ normal(a[g[n]] + b * x[n], s); }"),
    "break out of the rows": text(
        "for (n in 1:N) { if (x[n] > 90) break; y[n] ~ normal(a[g[n]] + b * x[n], s); }"),
    "sums so far": text(
        "vector[N] w; for (n in 1:N) w[n] = sum(z[1:n]); y ~ normal(w, s); z ~ normal(0, 0.1);",
        parameters="vector[N] z;"),
    "risk sets": text(
        """for (n in 1:(9 * N)) target += w[n] - log_sum_exp(w[n:(9 * N)]) - log_sum_exp(tail(w, n))
             - log_sum_exp(segment(w, n, 9 * N - n + 1)) + log(prod(q[1:n]));""",
        transformed="vector[9 * N] w = b * to_vector(rep_matrix(x, 9)); vector[9 * N] q = exp(0.01 * w);"),
    "a while for each row": text(
        "for (n in 1:N) target += steps_lpdf(y[n] | b * x[n], s);",
        functions="""real steps_lpdf(real u, real m, real r) { int i = 1; real o = 0;
            while (i <= 3) { o += normal_lpdf(u | m + i, r); i += 1; } return o; }"""),
    "a function with early returns": text(
        "for (n in 1:N) target += early(y[n], k[n], b, s);",
        functions="""real early(real u, int i, real m, real r) {
            if (i == 1) return normal_lpdf(u | m, r); real o = 1;
            for (j in 1:(i - 1)) o *= inv_logit(m + j); return log(o); }"""),
    "a length that depends on the row": text(
        """for (n in 1:N) { vector[k[n]] l; for (t in 1:k[n]) l[t] = b * t + x[n] * s + log(prod(q[1:t]));
             target += log_sum_exp(l); }""",
        transformed="vector[4] q = inv_logit(b + [1, 2, 3, 4]');"),
    "a recurrence": text(
        "real m = b; for (n in 1:N) { m = 0.5 * m + a[g[n]] * x[n]; y[n] ~ normal(m, s); }"),
    "values that each person learns": text(
        """for (j in 1:3) { vector[4] q = rep_vector(0, 4); for (n in 1:N) {
             k[n] ~ categorical_logit(s * q); q[k[n]] += inv_logit(a[j]) * (x[n] - q[k[n]]); } }"""),
    "values that each person learns, of other lengths": text(
        """for (j in 1:3) { vector[4] q = rep_vector(0, 4); for (n in 1:(N - j)) {
             k[n] ~ categorical_logit(s * q); q[k[n]] += inv_logit(a[j]) * (x[n] - q[k[n]]); } }"""),
    "a panel that is filled in order": text(
        """matrix[3, N] mu; for (j in 1:3) { mu[j, 1] = a[j];
             for (n in 2:N) mu[j, n] = b * mu[j, n - 1] + x[n];
             for (n in 1:N) y[n] ~ normal(mu[j, n], s); }"""),
    "a state of every step": text(
        "vector[N] h; h[1] = b; for (n in 2:N) h[n] = h[n - 1] * 0.5 + s * x[n]; y ~ normal(h, s);"),
    "a renewal equation": text(
        """vector[N] h; h[1] = exp(b); for (n in 2:N) { int w = min(n - 1, 4);
             h[n] = exp(0.1 * x[n]) * dot_product(h[(n - w):(n - 1)], tail(weights, w)); }
           y ~ normal(h, s);""",
        transformed_data="vector[4] weights = [0.1, 0.2, 0.4, 0.3]';"),
    "sums of groups": text(
        "vector[J] t = rep_vector(0, J); for (n in 1:N) t[g[n]] += x[n] * b; target += -dot_self(t - a);"),
    "an entry of transformed parameters": text(
        "target += normal_lpdf(y | mu, s);",
        transformed="vector[N] mu; for (n in 1:N) { mu[n] = a[g[n]]; mu[n] += x[n] * b; }"),
    "quantities by row": text(
        "y ~ normal(a[g] + b * x, s);",
        generated="""vector[N] ll; array[N] real again; { vector[N] mu;
            for (n in 1:N) { mu[n] = a[g[n]] + b * x[n]; ll[n] = normal_lpdf(y[n] | mu[n], s);
              again[n] = normal_rng(mu[n], s); } }"""),
    "a mean in transformed data": text(
        "target += normal_lpdf(c | a[g] + b * x, s);",
        transformed_data="vector[N] c; for (n in 1:N) c[n] = y[n] - mean(y);"),
}  # fmt: skip

EVERYDAY: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    name: (program, VALUES) for name, program in TEXTS.items()
}
"""By name, with their data."""
