"""Containers that meet must have equal sizes: one of size 1 is not repeated, as NumPy would do."""

import numpy as np
import pytest

import ppl

PROGRAM = """
functions {{ int twice(int n) {{ return 2 * n; }} }}
data {{ int N; int M; vector[N] x; vector[M] z; array[N] vector[2] u; array[M] vector[2] w; matrix[N, M] A;
  array[M] int<lower=1> g; }}
transformed data {{ {0} }}
parameters {{ real a; vector[N] b; }}
model {{ a ~ normal(0, 1); b ~ normal(0, 1); {1} }}
generated quantities {{ {2} }}
"""


def conditioned(n, m, model="", of_data="", generated=""):
    data = {"N": n, "M": m, "x": np.ones(n), "z": np.ones(m), "u": np.ones((n, 2)), "w": np.ones((m, 2))}
    program = ppl.compile_model(PROGRAM.format(of_data, model, generated))
    return program.condition({**data, "A": np.ones((n, m)), "g": np.ones(m, int)})


MEETINGS = {
    "operator": {"model": "target += sum(z + a * x);"},
    "function": {"model": "target += sum(hypot(a * x, z));"},
    "compound assignment": {"model": "vector[N] c = b; c += z; target += sum(c);"},
    "distribution": {"model": "z ~ normal(b, 1);"},
    "arrays of vectors": {"model": "w ~ multi_normal(u, identity_matrix(2));"},
    "slice": {"model": "z ~ normal(b[1:N], 1);"},
    "matrix product": {"model": "z ~ normal(A * rep_vector(a, M) + x, 1);"},
    "product and vector": {"model": "target += sum((A * z) .* (x * a)) + sum(A' * x + a) + sum(A' * x - x);"},
    "assigned slice": {"model": "vector[N] c = x; c[1:N] = a * z; target += sum(c);"},
    "transformed data": {"of_data": "vector[N] c = x; c[1:N] = z;"},
    "generated quantities": {"generated": "vector[M] c = z .* b;"},
    "loop": {"model": "for (i in 1:2) z ~ normal(b, 1);"},
    "branch": {"model": "if (N + M > 3) z ~ normal(b, 1);"},
    "profile": {"model": 'profile("z") { z ~ normal(b, 1); }'},
}


@pytest.mark.parametrize("where", MEETINGS)
@pytest.mark.parametrize("sizes", [(1, 3), (3, 1)])
def test_containers_of_different_sizes_are_refused(where, sizes):
    with pytest.raises(ppl.PPLError, match=r"[Ss]ize"):
        conditioned(*sizes, **MEETINGS[where])
    conditioned(3, 3, **MEETINGS[where])


def test_the_statement_and_the_sizes_are_named():
    with pytest.raises(ppl.PPLError) as refused:
        conditioned(1, 3, "z ~ normal(b, 1);")
    assert "z ~ normal(b, 1)" in str(refused.value)
    advice = "They are declared by `M` and `N`: check the data and the declarations."
    assert f"Sizes do not match: [3] and [1]. {advice}" in str(refused.value)


@pytest.mark.parametrize(
    "model",
    [
        "z ~ normal(a, 1);",
        "z ~ normal(b[g], 1);",
        "if (N == M) z ~ normal(b, 1);",
        "for (i in 1:0) z ~ normal(b, 1);",
        "for (i in 1:M) z[i] ~ normal(b, 1);",
        "for (i in 1:3) { if (N != M) break; z ~ normal(b, 1); }",
        "x[(N + 1):N] ~ normal(z[5:2], 1);",
        "z[2:M] ~ normal(z[1:(M - 1)], 1);",
        "{ vector[M] c = z; z ~ normal(c, 1); } { vector[N] c = x; b ~ normal(c, 1); }",
        "target += N == M ? sum(z + b) : 0;",
        "target += sum(to_matrix(z * x') - A');",
        "if (target() > 1e9) z ~ normal(b, 1);",
        "if ((N > 0 ? twice(M) : 0) < 0) z ~ normal(b, 1);",
    ],
)
def test_what_never_meets_or_fits_is_accepted(model):
    posterior = conditioned(1, 3, model)
    assert np.isfinite(posterior.log_density(np.full(2, 0.5)))


def test_conditions_on_random_numbers_are_left_alone():
    conditioned(1, 3, generated="if (bernoulli_rng(0.5) == 1) { vector[M] c = z + b; }")


def test_sizes_that_are_one_expression_have_no_check():
    program = ppl.compile_model(PROGRAM.format("", "z[2:M] ~ normal(A[1, 1:(M - 1)]' * a + z[2:M], 1);", ""))
    assert "do not match" not in program.python_source
