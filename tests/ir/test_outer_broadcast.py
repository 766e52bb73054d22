"""Two nested loops on a rectangle: the axes of loops and of values stay apart, whatever their lengths."""

import numpy as np
import pytest
from laws.passes import assert_law, posterior

PROGRAM = """
data {{
  int I, J, K;
  array[I] int g;
  array[I, J] int<lower=0> R;
  array[I, J, K] int<lower=0> X;
  array[K] int<lower=0> y, n;
}}
parameters {{
  real a;
  vector[I] b;
  vector[J] c;
  vector[K] d;
  matrix[I, J] V;
}}
model {{
  {body}
}}
"""
BODIES = (
    "for (i in 2:I) for (j in 1:J) target += normal_lpdf(d | log_sum_exp(c[g[i]], c[j]), 2);",
    "for (i in 2:I) "
    "{ vector[K] l = d; l += a - b[1:K]; for (j in 1:J) g[1] ~ categorical_logit((l[j] + d) - l); }",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log(V[i, j] + d);",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log(V[i, j] + b[i] + d);",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log(b[i] + c[j] + V[i, j]);",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log((b[i] + d) + (c[j] - d));",
    "for (i in 1:I) for (j in 1:J) y ~ binomial_logit(n, c[j] + R[1, J - j + 1] + b[i]);",
    "for (i in 1:I) for (j in 1:J) y ~ neg_binomial_2_log(log_sum_exp(V[2, j], exp(-square(b[i]))), 2);",
    "for (i in 1:I) for (j in 1:J) for (k in 1:K) X[i, j, k] ~ poisson_log(V[i, j] + d[k]);",
    "for (j in 1:J) for (i in 1:I) R[i, j] ~ poisson_log(c[j] + V[i] * c);",
    "for (j in 1:J) for (i in 1:I) target += sum(V[i] * c[j] + to_row_vector(c)) * b[i];",
    "for (i in 1:I) for (j in 1:J) target += dot_product(d * b[i], d + c[j]) + log_sum_exp(d * V[i, j]);",
)


@pytest.mark.parametrize("j", [2, 3, 4])
@pytest.mark.parametrize("body", BODIES)
def test_axes_are_told_apart(body: str, j: int) -> None:
    """Where the inner loop is as long as a vector, longer, and shorter."""
    rng, i, k = np.random.default_rng(1), 4, 3
    if "l[j]" in body and j > k:
        pytest.skip("no such entry")
    data = {
        **{"I": i, "J": j, "K": k, "g": [1, 2, 1, 2]},
        **{"R": rng.poisson(2, (i, j)), "X": rng.poisson(2, (i, j, k)), "y": [2, 0, 3], "n": [4, 3, 5]},
    }
    text = PROGRAM.format(body=body)
    u = rng.normal(0, 0.4, posterior(text, data).param_unc_num())
    assert_law(text, data, u)
