"""Two nested loops on a rectangle: the axes of loops and of values stay apart, whatever their lengths."""

import numpy as np
import pytest
from laws.passes import Variant, assert_law_of, lowered, shared

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.model import Model
from ppl.optimise.forms import VALUES
from ppl.types import axes_of

PROGRAM = """
functions {{
  real twice(real x, int n) {{ if (n == 0) return x; return 2 * twice(x, n - 1); }}
}}
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
K = 3
BODIES = (
    "for (i in 2:I) for (j in 1:J) target += normal_lpdf(d | log_sum_exp(c[g[i]], c[j]), 2);",
    "for (i in 2:I) "
    "{ vector[K] l = d; l += a - b[1:K]; for (j in 1:J) g[1] ~ categorical_logit((l[j] + d) - l); }",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log(V[i, j] + d);",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log(V[i, j] + b[i] + d);",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log(b[i] + c[j] + V[i, j]);",
    "for (i in 1:I) for (j in 1:J) X[i, j] ~ poisson_log((b[i] + d) + (c[j] - d));",
    "for (i in 2:I) for (j in 1:I) V[j] ~ student_t(2, sum(V[i]), log1p_exp(b[i] * c * b[j]));",
    "for (i in 1:I) for (j in 1:J) y ~ binomial_logit(n, c[j] + R[1, J - j + 1] + b[i]);",
    "for (i in 1:I) for (j in 1:J) y ~ neg_binomial_2_log(log_sum_exp(V[2, j], exp(-square(b[i]))), 2);",
    "for (i in 1:I) for (j in 1:J) for (k in 1:K) X[i, j, k] ~ poisson_log(V[i, j] + d[k]);",
    "for (j in 1:J) for (i in 1:I) R[i, j] ~ poisson_log(c[j] + V[i] * c);",
    "for (j in 1:J) for (i in 1:I) target += sum(V[i] * c[j] + to_row_vector(c)) * b[i];",
    "for (i in 1:I) for (j in 1:J) target += dot_product(d * b[i], d + c[j]) + log_sum_exp(d * V[i, j]);",
    "for (i in 1:I) { real w = exp(b[i]); for (j in 1:J) { target += w; target += c[j]; target += a; } }",
    "for (j in 1:J) { real t = 0; for (i in 2:I) { t += b[i]; t -= c[j] * b[i - 1]; t += c[j]; "
    "} target += -square(t); }",
    "for (i in 1:I) for (j in 1:J) if (R[i, j] > 1) target += c[j] * b[i]; else if (g[i] == 1) "
    "target += -square(V[i, j]);",
    "for (i in 1:I) for (j in 1:J) target += R[i, j] > 1 ? normal_lpdf(c[j] | b[i], 1) : g[i] * a;",
    "for (i in 1:I) for (j in 1:J) target += b[i] > c[j] ? normal_lpdf(c[j] | b[i], 1) : g[i] * a;",
    "for (i in 1:I) for (j in 1:J) { real w = a; if (b[i] > c[j]) w += c[j] * V[i, j]; target "
    "+= -square(w); }",
    "matrix[J, I] M; for (i in 1:I) for (j in 1:J) M[j, i] = b[i] * c[j]; target += -sum(square(M * V));",
    "matrix[J, I] M; for (i in 1:I) for (j in 1:J) M[j, i] = b[i]; target += -sum(square(M * V));",
    "matrix[I, J] M = V; for (i in 2:I) for (j in 1:J) M[i, j] += V[i - 1, j] * c[j]; target "
    "+= -sum(square(M));",
    "for (i in 1:I) { vector[J] l; for (j in 1:J) l[j] = b[i] + c[j]; target += log_sum_exp(l); }",
    "for (i in 1:I) { vector[J] l; for (j in 1:J) l[j] = b[i]; target += log_sum_exp(l + c); }",
    "for (i in 1:I) for (j in 1:J) for (k in 1:R[i, j]) target += b[i] * c[j] / k;",
    "for (i in 1:I) for (j in 1:J) for (k in 1:K) if (X[i, j, k] > R[i, j]) target += b[i] * c[j] * d[k];",
    "vector[I] s = rep_vector(0, I); for (i in 1:I) for (j in 1:J) s[g[i]] += b[i] * c[j]; "
    "target += -square(s);",
    "array[I] int n0 = rep_array(0, I); for (i in 1:I) for (j in 1:J) n0[i] += R[i, j]; target "
    "+= b .* to_vector(n0);",
    "for (i in 1:I) for (j in 1:J) { if (R[i, j] == 0) continue; target += b[i] * c[j]; }",
    "for (i in 1:I) for (j in 1:J) { vector[2] p = [b[i], c[j]]'; target += log_sum_exp(p) + p[g[i]]; }",
    "for (i in 1:I) for (j in 1:J) for (k in 1:2) { vector[3] p = softmax([b[i], c[j], a * "
    "k]'); target += log(p[k]); }",
    "for (i in 1:I) for (j in i:J) target += V[i, j] * c[j]; for (i in 1:I) for (j in 1:i) "
    "target += b[j] * b[i];",
    "for (i in 1:I) for (j in 1:J) { real r = 1; int m = R[i, j]; while (m > 0) { r *= b[i]; m "
    "-= 1; } target += r; }",
    "for (i in 1:I) for (j in 1:J) target += normal_lpdf(segment(d, 1, 2) | c[j], exp(b[i])) * "
    "twice(c[j], 2);",
)


def test_a_nest_over_all_pairs_has_an_axis_for_each_loop() -> None:
    """No pair is numbered, and what depends on one of the loops varies over that one alone."""
    body = (
        "for (i in 1:I) { real w = exp(b[i]); for (j in 1:J) for (k in 1:K) target += w "
        "* c[j] * X[i, j, k] * d[k]; }"
    )
    nodes = list(walk(VALUES.of(lowered(PROGRAM.format(body=body))).model))
    assert not any(isinstance(n, ir.Gather | ir.Scatter) for n in nodes)
    axes = {n.name: axes_of(n.type) for n in nodes if isinstance(n, ir.Var)}
    assert [axes[name] for name in "cd"] == [("J",), ("K",)]
    assert [axes_of(n.value.type) for n in nodes if isinstance(n, ir.Assign)] == [("I",)]


@pytest.mark.rotate
@pytest.mark.parametrize("body", BODIES)
def test_axes_are_told_apart(body: str) -> None:
    """Where the inner loop is as long as a vector, longer, and shorter."""
    whole = shared(PROGRAM.format(body=body))
    for j in (2, 3, 4):
        if not ("l[j]" in body and j > K):  # no such entry
            hold(whole, j)


def hold(whole: Variant, j: int) -> None:
    rng, i, k = np.random.default_rng(1), 4, K
    data = {
        **{"I": i, "J": j, "K": k, "g": [1, 2, 1, 2]},
        **{"R": rng.poisson(2, (i, j)), "X": rng.poisson(2, (i, j, k)), "y": [2, 0, 3], "n": [4, 3, 5]},
    }
    u = rng.normal(0, 0.4, Model(whole).condition(data).param_unc_num())
    assert_law_of(whole, data, u)
