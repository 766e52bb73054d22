"""Containers that meet must have equal sizes: one of size 1 is not repeated, as NumPy would do.

Sizes that data tell are compared when a program gets its data, others when its statements run.
"""

import numpy as np
import pytest

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.sizes import Checks
from ppl.source import SourceText, Span
from ppl.types import REAL

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


UNKNOWN = """
functions {{
  vector same(vector v) {{ return v; }}
  real used(data vector w, array[] int g, vector p) {{ int N = 2; {0} return {1}; }}
}}
data {{ int M; vector[M] w; array[3] int g; }}
transformed data {{ int N = 2; }}
parameters {{ vector[3] p; }}
"""
MODEL = "model {{ p ~ std_normal(); {0} target += {1}; }}"
FUNCTION = "model {{ target += used(w, g, p); }}"
DRAWN = "model {{ p ~ std_normal(); }} generated quantities {{ {0} real r = {1}; }}"
Z = "array[N] vector[3] z;"
UNKNOWN_SIZES = [
    (DRAWN, f"{Z} for (n in 1:N) z[n] = w;", "sum(z[1])"),
    (DRAWN, f"{Z} for (n in 1:N) z[n] = w * p[1];", "sum(z[1])"),
    (MODEL, f"{Z} for (n in 1:N) z[n] = same(w);", "sum(z[1])"),
    (FUNCTION, f"{Z} for (n in 1:N) z[n] = w;", "sum(z[1])"),
    (MODEL, "matrix[N, 3] z; for (n in 1:N) z[n] = same(w)';", "sum(z)"),
    (MODEL, "matrix[3, N] z; if (p[1] < 9) for (n in 1:N) z[, n] = w;", "sum(z)"),
    (MODEL, "array[N, 3] real z; for (n in 1:N) z[n] = to_array_1d(same(w));", "z[1, 2]"),
    (FUNCTION, "vector[3] z = p; z[1:3] = w;", "sum(z)"),
    (
        MODEL,
        "array[N] real z; for (i in 1:N) { for (j in 1:N) z[j] = i; vector[3] u = z[i] * same(w); }",
        "z[1]",
    ),
    (MODEL, "tuple(vector[3], real) z = (w, 1);", "sum(z.1)"),
    (DRAWN, "tuple(vector[3], real) z; z.1 = w; z.2 = p[1];", "sum(z.1)"),
    (DRAWN, "array[N] tuple(vector[3], real) z; for (n in 1:N) z[n] = (w, p[1]);", "sum(z[1].1)"),
    (MODEL, "vector[3] z = p + same(w);", "sum(z)"),
    (FUNCTION, "real z = 0; for (n in 1:N) z += sum(w .* p);", "z"),
    (MODEL, "real z = multi_normal_lpdf(p | same(w), identity_matrix(3));", "z"),
    (MODEL, "real z = ordered_logistic_lpmf(g | same(w), [0, 1]');", "z"),
    (MODEL, "real z = poisson_log_glm_lpmf(g | rep_matrix(same(w), 2), 0, p[1:2]);", "z"),
]


@pytest.mark.rotate
@pytest.mark.parametrize("case", UNKNOWN_SIZES, ids=lambda case: case[1])
@pytest.mark.parametrize("size", [1, 4, 3])
def test_sizes_that_are_not_declared_are_compared_too(case, size):
    where, statement, value = case
    text = UNKNOWN.format(*(case[1:] if where is FUNCTION else ("", "0"))) + where.format(statement, value)
    program = ppl.compile_model(text)
    us, rng = np.array([[0.2, -0.4, 0.6], [0.1, 0.3, 0.2]]), np.random.default_rng(1)

    def ways(p):
        if where is DRAWN:
            yield lambda: p.param_constrain(us[0], include_gq=True, rng=rng)
            yield lambda: p.param_constrain_draws(us, rng)
        else:
            yield lambda: p.log_density(us[0])
            yield lambda: p.log_density_gradient(us[0])[1]
            yield lambda: p.log_density_gradients(us)[1]

    if size == 3:
        posterior = program.condition({"M": size, "w": np.ones(size), "g": [1, 2, 3]})
        assert all(np.isfinite(np.sum(way())) for way in ways(posterior))
        return
    for k in range(3 if where is not DRAWN else 2):
        with pytest.raises(ppl.PPLError, match=r"[Ss]ize"):
            [*ways(program.condition({"M": size, "w": np.ones(size), "g": [1, 2, 3]}))][k]()


def test_jax_compares_sizes_too():
    pytest.importorskip("jax")
    from ppl.jax_backend.target import compiled_target

    text = UNKNOWN.format("", "0") + MODEL.format(f"{Z} for (n in 1:N) z[n] = p + same(w);", "sum(z[1])")
    program = ppl.compile_model(text)
    posteriors = [program.condition({"M": m, "w": np.ones(m), "g": [1, 2, 3]}) for m in (3, 1)]
    assert np.isfinite(compiled_target(posteriors[0]).log_density_gradient(np.zeros(3))[0])
    with pytest.raises(ppl.PPLError, match=r"Sizes do not match: \[3\] and \[1\]"):
        compiled_target(posteriors[1]).log_density_gradient(np.zeros(3))


def test_the_sizes_of_all_variables_are_not_copied_for_each_statement():
    class Sizes(dict):
        def keys(self):
            raise AssertionError("all sizes are read")

    at = Span(SourceText("x = y;"), 1, 1, 1, 7)
    s = ir.Assign("x", ir.Var("y", REAL), at)
    for each in (s, ir.If(ir.Var("y", REAL), (s,), (), at)):
        assert Checks(frozenset(), Sizes(y=())).inside(each) == (each, ())
