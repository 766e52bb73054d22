"""Many draws at once give what each gives alone.

The cases of the pack are in conformance/test_points.py, small loops in ir/test_vectorise_loops.py.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from conformance.pack import Case, programs
from laws.batches import assert_as_alone, errors_of_batches

import ppl
from ppl import memory
from ppl.arrays import NUMPY
from ppl.density import many_points
from ppl.density.log_density import COST
from ppl.density.many_points import BATCH, MEMORY, PointDensities, Scalar, in_batches, one_by_one
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import POINTS_GRADIENT
from ppl.run.table import tabulate
from ppl.stdlib import batching

DRAWS = 7


@pytest.mark.rotate
@pytest.mark.parametrize("case", programs(), ids=lambda case: case.id)
def test_programs(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = ppl.compile_model(case.program).condition(case.data)
    us = np.random.default_rng(1).normal(0.0, 0.5, (DRAWS, posterior.param_unc_num()))
    us[2] *= 8.0  # far out, where some programs break down
    assert_as_alone(posterior, us)
    assert_as_alone(posterior, us[:5], propto=True, jacobian=False)
    alone = looked_at_alone(monkeypatch)
    values, gradients = posterior.log_density_gradients(us)
    finite = np.isfinite(values) & np.isfinite(gradients).all(axis=1)
    assert len(alone) == np.sum(~finite & (values != -np.inf))


def test_a_program_that_rejects_the_origin_is_as_wide_elsewhere() -> None:
    """By it the points of a batch are counted."""
    body = "matrix[50, 50] K = gp_exp_quad_cov(x, 1, exp(a)); target += -sum(K);"
    program = "data {{ array[50] real x; }} parameters {{ real a; }} model {{ {} {} }}"
    data = {"x": np.linspace(0, 1, 50)}
    widths = [
        ppl.compile_model(program.format(first, body)).condition(data).width
        for first in ("", "if (abs(a) < 1e-12) reject(a);")
    ]
    assert widths == [2500, 2500]


@pytest.mark.parametrize(
    ("model", "shared"),
    [
        ("for (n in 1:N) y[n] ~ normal(a * x[n], 1);", True),
        ("for (n in 1:N) target += y[n] > a ? x[n] : a;", False),
    ],
)
def test_data_are_prepared_once_where_many_points_need_no_other(model: str, shared: bool) -> None:
    """Both forms then read the same arrays."""
    program = f"data {{ int N; vector[N] x, y; }} parameters {{ real a; }} model {{ {model} }}"
    joint = ppl.compile_model(program).condition({"N": 3, "x": [1, 2, 3], "y": [1, 0, 2]}).log_joint()
    assert (joint.d_of_many is joint.d) == shared


def looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Grows by the points that are evaluated by themselves from here on."""
    seen: list[np.ndarray] = []

    def watched(us: np.ndarray, alone: Scalar) -> PointDensities:
        seen.extend(us)
        return one_by_one(us, alone)

    monkeypatch.setattr("ppl.density.many_points.one_by_one", watched)
    return seen


def assert_together(monkeypatch: pytest.MonkeyPatch, posterior: ppl.Posterior, us: np.ndarray) -> None:
    """The same, and no row is evaluated by itself."""
    alone = looked_at_alone(monkeypatch)
    assert_as_alone(posterior, us)
    assert not alone


def test_of_many_points_without_a_number_one_is_looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "parameters { real x; } model { target += log1m(exp(x)) - x^2; }"  # nan beyond 0
    posterior = ppl.compile_model(program).condition({})
    us = np.linspace(-1.0, 1.0, 40)[:, None]
    alone = looked_at_alone(monkeypatch)
    values, gradients = posterior.log_density_gradients(us)
    assert len(alone) == 1 and (np.isnan(values) == (us[:, 0] > 0)).all()
    assert np.isfinite(gradients[us[:, 0] < 0]).all()


PARTING = {
    "a tuple that a function returns early, in a branch": """
        functions { tuple(vector, real) f(vector v, real a) { real b = 0; for (i in 1:3) { if (b < a) break; b
        = a; } if (a > 0.5) return (v, b); return (v, a + 0.3); } } parameters { real x; vector[2] v; } model
        { vector[2] u = v; real r = v[1]; if (x > 0.3) (u, r) = f(u, r); target += -dot_self(u) - r ^ 2; }
    """,
    "locals of a segment in a branch": """
        data { array[2] int s; vector[3] y; } parameters { real x; vector[3] v; } model { for (i in 1:2) { if
        (x > 0) { vector[s[i]] z = y[1:s[i]] * v[i]; target += -dot_self(z); } } target += -dot_self(v); }
    """,
    "terms of loops in a branch": """
        data { int N; vector[N] y; } parameters { real x; real w; } model { if (x > w) { for (i in 1:N) { for
        (j in 2:N) { target += y[i]; target += x * y[j]; target += log_sum_exp(y); x ~ normal(y[i], 1); } y ~
        normal(0, 1); } } else for (i in 1:N) target += gamma_lpdf(y[1] ^ 2 | 1, exp(w)); }
    """,
    "terms of draws and rows in a branch": """
        data { int N; vector[N] y; } parameters { real x; vector[3] v; } model { for (n in 1:N) { if (v[n] >
        x) { target += y[n]; for (j in 1:2) { target += x * v[j]; target += y[n]; v[j] ~ normal(y[n], 1); } }
        } }
    """,
    "a recurrence whose branch all steps share": """
        data { int N; vector[N] y; } parameters { real x; vector[3] v; } model { vector[3] a = v; for (i in
        1:N) { real b = sum(v); if (max(y) < b) a[3] *= 0.5 * tanh(b); else a[1:3] = a; } target += -a ^ 2; }
    """,
    "a call for each draw, in a loop in a branch that none takes": """
        parameters { real x; vector[3] v; } model { if (x > 9) for (i in 1:2) { vector[3] a = sort_asc(v); a ~
        normal(x, 1); } target += -dot_self(v) - x^2; }
    """,
    "a choice of containers in a branch that none takes": """
        functions { real f(real a, vector b) { vector[2] w = b; if (a > 9) { w = a > 10 ? b : 2 * w; w +=
        (a > 11 ? b : w) * a; } return -dot_self(w); } } parameters { real x; vector[2] v; } model { target
        += f(x, v) - x ^ 2; }
    """,
    "branch": "parameters { real x; } model { if (x > 0.3) x ~ normal(0, 1); else target += -abs(x); }",
    "ternary": "parameters { real x; } model { target += x > 0 ? -x : 2 * x; }",
    "reject": "parameters { real x; } model { if (x > 0.5) reject(x); x ~ normal(0, 1); }",
    "declared": """
        parameters { real x; } transformed parameters { real<lower=0> y = 1 - x; } model { y ~ gamma(2,
        1); }
    """,
    "index": """
        data { array[2] real c; } parameters { real x; } model { x ~ normal(c[x > 0 ? 1 : 2], 1); }
    """,
    "while": """
        parameters { real x; } model { real y = x; while (y < 1) y += 0.7; target += -y * x ^ 2; }
    """,
    "count": """
        parameters { real x; } model { int n = x > 0 ? 2 : 4; vector[n] y = rep_vector(x, n); target +=
        -dot_self(y); }
    """,
    "support": "parameters { real x; } model { x ~ gamma(2, 1); }",
    "rejected entry": """
        functions { real f(real a) { if (a > 1) reject("above"); return a < 0 ? a : -a; } } data { int N;
        vector[N] y; } parameters { real x; } model { for (n in 1:N) target += f(y[n] + x); }
    """,
    "index in a loop": """
        data { int N; vector[N] y; } parameters { real x; vector[2] mu; } model { for (n in 1:N) y[n] ~
        normal(mu[(y[n] > x) + 1], 1); }
    """,
    "index of data in a loop": """
        data { int N; vector[N] y; array[2] real c; } parameters { real x; } model { for (n in 1:N) target
        += -x * c[(y[n] > x) + 1]; }
    """,
    "set at an index": """
        parameters { real x; } model { int k = x > 0 ? 1 : 2; vector[2] v = rep_vector(x, 2); v[k] = x ^
        2; target += -dot_self(v); }
    """,
    "set in a loop": """
        data { int N; vector[N] y; } parameters { real x; } model { vector[2] v = [x, 2 * x]'; for (n in
        1:N) { int k = y[n] > x ? 1 : 2; v[k] += y[n]; } target += -dot_self(v); }
    """,
    "nested": """
        data { int N; vector[N] y; } parameters { real x; } model { for (n in 1:N) { if (y[n] > x) { real
        a = y[n] * x; if (a > 0.1) target += -a ^ 2; else { target += -x; } } else if (x > 0) target += -x
        ^ 2; } }
    """,
    "break": """
        parameters { real x; } model { real s = 0; int i = 0; while (1) { i += 1; s += x ^ i; if (i > 3 &&
        s > x) break; if (i > 8) break; if (s < 0) continue; s += 0.1; } target += -s ^ 2; }
    """,
    "early vector": """
        functions { vector f(real a, vector v) { if (a > 0) return v * a; return -v; } } parameters { real
        x; vector[2] v; } model { target += -dot_self(f(x, v)) - dot_self(v); }
    """,
    "bounds": """
        parameters { real x; } model { int n = x > 0 ? 2 : 3; for (i in 1:n) target += -x ^ 2 / i; }
    """,
    "tuple in branch": """
        parameters { real x; tuple(real, real) t; } model { tuple(real, real) q = t; if (x > 0) q.1 = x;
        target += -q.1 ^ 2 - q.2 ^ 2 - x ^ 2; }
    """,
    "reject in function": """
        functions { real f(real a) { if (a > 1) reject(a); return -a ^ 2; } } parameters { real x; } model
        { target += f(x); }
    """,
    "target in branch": """
        parameters { real x; } model { x ~ normal(0, 1); if (x > 0) { target += target() * 0.5; } }
    """,
    "lp in branch": """
        functions { void g_lp(real a) { a ~ normal(0, 1); } } parameters { real x; } model { if (x > 0)
        g_lp(x); else x ~ normal(0, 2); }
    """,
    "switch in ode": """
        functions { vector f(real t, vector y, real a) { real b = t < 0.5 ? a : 2 * a; if (y[1] > 1.5) b =
        0; return [-b * y[1]]'; } } parameters { real<lower=0> a; } model { array[2] vector[1] y =
        ode_rk45(f, [2.0]', 0, {0.4, 1.0}, a); y[2] ~ normal(1, 1); y[1] ~ normal(1, 1); }
    """,
    "integral with switch": """
        functions { real f(real t, real tc, array[] real th, data array[] real xr, data array[] int xi) {
        if (t > th[1]) return exp(-t); return exp(-2 * t); } } parameters { real<lower=0> a; } model {
        target += log(integrate_1d(f, 0, 3, {a}, {0.0}, {1}, 1e-4)); a ~ normal(0, 1); }
    """,
    "scan with branch": """
        data { int N; vector[N] y; } parameters { real x; } model { real h = x; for (n in 1:N) { if (h >
        0) h = 0.5 * h + y[n]; else h = x - h; target += -h ^ 2; } }
    """,
    "min max arg": """
        parameters { vector[3] x; } model { target += -x[sort_indices_asc(x)[1]] ^ 2 - dot_self(x); }
    """,
    "and or": """
        data { int N; vector[N] y; } parameters { real x; vector[N] v; } model { for (n in 1:N) if (y[n] >
        x && v[n] > 0 || x > 1) target += -x ^ 2; v ~ normal(0, 1); }
    """,
    "array of vectors if": """
        parameters { array[2] vector[3] x; real a; } model { array[2] vector[3] z = x; if (a > 0) {
        z[1][2] = a; z[2] = z[1] * a; } target += -dot_self(z[1]) - dot_self(z[2]) - a ^ 2; }
    """,
    "sum count": """
        data { int N; vector[N] y; } parameters { real x; } model { int c = 0; for (n in 1:N) if (y[n] >
        x) c += 1; target += -c * x ^ 2; target += -x ^ 2; }
    """,
    "user in loop branch": """
        functions { real f(real a, real b) { return a > b ? a : sin(b); } } data { int N; vector[N] y; }
        parameters { real x; } model { for (n in 1:N) if (y[n] > x) target += -f(y[n] * x, x) ^ 2; else
        target += -x^2; }
    """,
    "hmm early": """
        functions { real g(vector v) { for (i in 1:3) if (v[i] > 0) return v[i]; return -1; } } parameters
        { vector[3] v; } model { target += g(v) - dot_self(v); }
    """,
    "recurrences in branches": """
        data { int N; vector[N] y; } parameters { real x; vector[3] v; } model { real g = v[1]; if (x > 0) {
        vector[2] a = v[1:2]; real h = x; for (i in 1:2) { for (j in 1:2) a[j] = 0.3; target +=
        log_sum_exp(a) * x; } for (n in 1:N) { h = 0.5 * h + y[n] * v[n]; g = sin(g) + h; target += -h ^ 2;
        } } target += -g ^ 2 - dot_self(v); }
    """,
    "count after break": """
        parameters { real x; } model { real t = x; int i = 0; while (i < 10) { i += 1; if (i == 2) continue;
        if (t > 3) break; t += 0.7; } target += -t ^ 2 / i; }
    """,
    "count after continue": """
        data { int N; vector[N] y; } parameters { real x; } model { int k = 0; real t = x; for (n in 1:N) {
        t = sin(t) + y[n]; if (t > 0) continue; k += 1; } target += -k * x ^ 2 - t ^ 2; }
    """,
    "break in for": """
        data { int N; vector[N] y; } parameters { real x; } model { int k = 0; real t = x; for (n in 1:N) {
        k += 1; if (t > y[n]) continue; if (y[n] < 0) break; t += 0.3 * y[n]; } target += -k * x ^ 2 - t ^ 2;
        }
    """,
    "locals of a loop set in branches": """
        data { int N; vector[N] y; } parameters { real x; real w; } model { for (n in 1:N) { real a; if (x >
        w) a = n; else a = y[n]; target += -a * x ^ 2; } for (n in 2:N) { array[2] int b; for (j in 1:2) { if
        (x > w) b[j] = n; else b[j] = j; } target += -b[1] * x ^ 2; } vector[N] m; for (n in 1:N) { if (x >
        w) m[n] = y[n]; else m[n] = 1; } m ~ normal(x, 1); }
    """,
    "recurrence of a variable outside": """
        data { int N; vector[N] y; } parameters { real x; vector[3] v; } model { real h = x; if (x > v[1]) {
        for (n in 1:N) { h = 0.5 * h + sin(h) * v[n]; target += -h ^ 2; } } target += -h ^ 2; }
    """,
    "branch in a recurrence": """
        data { int N; vector[N] y; } parameters { real x; vector[3] v; } model { array[2] real a = {x, v[1]};
        array[2] real b; for (t in 1:N) { for (k in 1:2) { if (v[2] > 0) b[k] = log_sum_exp(a[1] + v[3],
        a[2]) + y[t] * x; else b[k] = fmax(a[1], a[2] + x) - k * y[t]; } a = b; } target +=
        -square(log_sum_exp(a)); }
    """,
    "rows": """
        data { int N; vector[N] y; } parameters { real x; } model { for (n in 1:N) { if (y[n] > x)
        target += -y[n] * x; else target += -x ^ 2; } }
    """,
    "several entries by indices of a draw": """
        data { int N; vector[N] y; } parameters { real a; vector[N] x; } model { array[N] int order =
        sort_indices_asc(a * x); vector[N] z; z[order] = y; x ~ normal(x[order], 1); target +=
        -dot_product(z, x) - a ^ 2; }
    """,
    "a column of a draw": """
        data { int N; matrix[3, N] m; } parameters { real x; matrix[3, N] q; } model { int k = 1; if (x
        > 0) k = 3; matrix[3, N] a = q; a[, k] = q[, 1]; a[2, ] += m[k]; a[, N] = m[, k] * x; target +=
        -sum(square(a)) - x ^ 2 - sum(square(q)) - dot_product(m[, k], q[, 2]); }
    """,
    "an entry of what a loop set whole": """
        data { int N; vector[N] y; } parameters { real x; vector[N] c; } model {
        vector[N] f; for (n in 1:N) f[n] = c[n] * x; f[1] = f[2] * y[1];
        target += -dot_self(f) - x^2 - dot_self(c); }
    """,
    "an index of a draw across a loop": """
        data { int N; matrix[3, N] m; } parameters { real x; vector[N] c; matrix[3, N] q; } model {
        matrix[3, N] a = rep_matrix(x, 3, N); int r = 1; for (i in 1:N) if (x > i - 2) r = i; for (k in
        1:N) a[r, k] = m[r, k] * q[r, k] + q[k, r]; target += -dot_product(a[2], c) - dot_self(c) -
        sum(square(a)) - sum(square(q)); }
    """,
}


def test_entries_of_nothing_come_along_one_axis() -> None:
    assert batching.in_one_axis(NUMPY, np.zeros((2, 3, 0)), 2).shape == (6, 0)


def test_a_batch_of_what_has_no_entries_is_as_long_as_may_be() -> None:
    found = in_batches(np.zeros((9, 0)), 0, lambda us: (np.ones(len(us)),), lambda u: (np.ones(1),))
    assert found[0].shape == (9,)


@pytest.mark.rotate
@pytest.mark.parametrize("text", PARTING.values(), ids=PARTING)
def test_draws_that_go_different_ways(text: str) -> None:
    data = {"c": [1.0, 2.0], "N": 3, "y": [0.1, -0.4, 0.8], "m": np.arange(9.0).reshape(3, 3), "s": [2, 3]}
    posterior = ppl.compile_model(text).condition(data)
    us = np.random.default_rng(2).normal(size=(11, posterior.param_unc_num()))
    us[:, 0] = np.linspace(-1.4, 1.6, 11)
    with errors_of_batches() as errors:
        assert_as_alone(posterior, us)
    assert not errors


INDEXED = """
data {{ int N; matrix[N, 3] m; vector[N] y; }}
parameters {{ vector[3] b; matrix[N, 3] V; }}
model {{ {} }}
"""
RANKS = "array[3] int o = sort_indices_asc(b); "
INDICES = (
    RANKS + "for (n in 1:N) target += V[n, o[1]] * y[n];",
    RANKS + "for (n in 1:N) target += dot_product(V[n, o], b) + sum(V[o, n]);",
    RANKS + "target += sum(V[1:2, o] * b);",
    RANKS + "matrix[N, 3] W = V; W[, o] = m; target += sum(W * b);",
    RANKS + "for (n in 1:N) { vector[3] w; for (k in 1:3) w[k] = y[n] * b[k]; target += w[o[n]]; }",
    RANKS + "matrix[N, 3] W = V; for (n in 1:N) W[n, o[n]] = y[n] * b[n]; target += sum(W * b);",
    "int k = b[1] > 0 ? 1 : 2; for (n in 1:N) target += m[n, k] * V[4 - n, k];",
)


@pytest.mark.parametrize("body", INDICES)
def test_an_index_of_each_draw_beside_those_of_loops(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"N": 3, "y": [0.1, -0.4, 0.8], "m": np.arange(9.0).reshape(3, 3)}
    posterior = ppl.compile_model(INDEXED.format(body)).condition(data)
    us = np.random.default_rng(5).normal(size=(7, posterior.param_unc_num()))
    assert_as_alone(posterior, us)
    alone = looked_at_alone(monkeypatch)
    posterior.log_density_gradients(us)
    assert not alone


TOGETHER = {
    "containers": """
        parameters { matrix[2, 3] a; array[2] vector[3] b; real<lower=0> s; } model { matrix[3, 3] m =
        rep_matrix(s, 3, 3); array[4] real r = rep_array(s, 4); m[1, 2] = a[2, 3]; m[3] = b[2]'; m[1:2,
        3] = b[1][2:3]; target += -sum(m ^ 2) - sum(r) - dot_self(a * b[1]); for (v in b) target +=
        -v[1] ^ 2; for (e in a) target += sin(e); b ~ multi_normal(a[1]', diag_matrix(rep_vector(s,
        3))); target += -log_sum_exp(append_row(b[1], b[2])) + r[size(r)] * num_elements(a); }
    """,
    "tuples": """
        parameters { real x; tuple(real, vector[2]) t; array[2] tuple(real, real) p; } model {
        tuple(real, vector[2]) q = t; q.2[1] = x; target += -x ^ 2 - dot_self(q.2) - t.1 ^ 2 * q.1 ^ 2 -
        dot_self(t.2); for (i in 1:2) p[i].1 ~ normal(p[i].2, 1); p[1].2 + p[2].2 ~ normal(0, 1); }
    """,
    "functions": """
        functions { real f(vector x, int n) { return n == 0 ? 0 : x[n] ^ 2 + f(x, n - 1); } void
        add_lp(real s) { target += -s; target += target() / 2; } } parameters { vector[4] x; } model {
        target += -f(x, 4); add_lp(x[1] ^ 2); }
    """,
    "bounds": """
        data { int N; vector[N] y; } parameters { real a; vector<lower=a>[2] b; real<lower=a> c;
        vector<lower=b, upper=c + 30>[2] e; vector<offset=a, multiplier=c - a>[N] f; array[2] simplex[3]
        s; array[2] cov_matrix[2] m; cholesky_factor_corr[3] L; corr_matrix[3] C; ordered[3] o; array[2]
        positive_ordered[2] po; unit_vector[3] w; sum_to_zero_vector[3] z; row_stochastic_matrix[2, 3]
        rs; array[2] cholesky_factor_cov[3, 2] F; } model { y ~ normal(f, 1); b ~ normal(0, 1); c ~
        normal(a, 2); e ~ normal(0, 1); target += -sum(o) - sum(z .* o) - w[1] - sum(L) + log(s[2][1]) -
        m[1][1, 2] - trace(C * m[2][1, 1]) - rs[1, 2] - F[2][3, 1] ^ 2 - po[1][2]; }
    """,
    "jacobian": """
        parameters { vector[2] x; real y; } transformed parameters { vector[2] e =
        lower_bound_jacobian(x, exp(y)); vector[3] s = simplex_jacobian(x); } model { e ~ gamma(2, 1); y
        ~ normal(0, 1); s ~ dirichlet(rep_vector(2.0, 3)); }
    """,
    "matrices": """
        data { int N; vector[N] y; } parameters { vector[N] x; real<lower=0> s; } model { matrix[N, N] K
        = gp_exp_quad_cov(to_array_1d(y), s, 1.0) + diag_matrix(rep_vector(0.1, N)); x ~
        multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(K)); s ~ gamma(2, 2); target +=
        -quad_form(K, x) - sort_asc(x)[1] ^ 2 - square(max(x)) - square(head(reverse(x), 2)[1]); }
    """,
    "rows": """
        data { int N; vector[N] y; matrix[N, 2] X; array[N] int k; array[N] int c; } parameters {
        vector[2] b; real a; vector[N] v; real<lower=0> s; matrix[2, 3] B; vector[3] w; ordered[2] cut;
        } model { y ~ normal_id_glm(X, a, b, s); y ~ normal_id_glm(X, v, b, v .^ 2); k ~
        bernoulli_logit_glm(X, v, b); k ~ poisson_log_glm(X, a, b); k ~ neg_binomial_2_log_glm(X, a, b,
        s); k ~ binomial_logit_glm(2, X, a, b); c ~ categorical_logit_glm(X, w, B); c ~
        ordered_logistic_glm(X, b, cut); y ~ normal_id_glm(X[1], a, b, s); k[1] ~ bernoulli_logit_glm(X,
        a, b); 1 ~ ordered_logistic_glm(X[2], b, cut); c ~ categorical_logit_glm(X[1], w, B); for (n in
        1:N) y[n] ~ normal(X[n] * b, s); }
    """,
    "processes": """
        data { int N; vector[N] y; } transformed data { array[N] real x = to_array_1d(y); array[N]
        vector[2] z; for (n in 1:N) z[n] = [y[n], n]'; } parameters { real<lower=0> s; real<lower=0> l;
        array[2] real<lower=0> r; } model { target += -sum(gp_exp_quad_cov(x, s, l)) -
        sum(gp_matern32_cov(z, s, r)) - sum(gp_exponential_cov(z, z, s, l)) - sum(gp_periodic_cov(x, s,
        l, r[1])) - sum(gp_dot_prod_cov(x, s)) - sum(gp_matern52_cov(x, x, s, l)); s ~ gamma(2, 1); }
    """,
    "entries": """
        functions { real up(real a, real b, vector w) { real y = a; while (y < b) { y += abs(a) + w[1] ^ 2 +
        0.3; if (y > 2) return -y; } return y * w[2]; } int bin(real a) { if (a > 0) return 2; return 1; } }
        data { int N; vector[N] y; array[N] int k; } parameters { real x; vector[2] w; vector[N] z; array[N]
        vector[2] v; } model { for (n in 1:N) target += up(y[n] + k[n], x, w) - up(z[n], 1, v[n]) ^ 2 +
        up(x, y[n], w); for (n in 1:N) { int i = bin(y[n]); z[n] ~ normal(w[i], 1); } }
    """,
    "entries beside a tuple": """
        functions { real turned(tuple(real, vector) p, real b) { real y = p.1; int k = 0; while (k < 2) { y =
        sin(y + b) * p.2[1]; k += 1; } return y * p.2[2]; } } data { int N; vector[N] y; } parameters {
        tuple(real, vector[2]) p; } model { for (n in 1:N) target += turned(p, y[n]) ^ 2; }
    """,
    "shards": """
        functions { vector part(vector phi, vector theta, data array[] real r, data array[] int i) { return
        phi[1] * theta + r[1] * i[1]; } } data { int N; } transformed data { array[2, 1] real r = {{1}, {-2}};
        array[2, 1] int i = {{3}, {4}}; } parameters { vector[1] phi; array[2] vector[2] theta; } model {
        target += -dot_self(map_rect(part, phi, theta, r, i)); }
    """,
    "nothing": "parameters { real x; } model { }",
}


@pytest.mark.parametrize("text", TOGETHER.values(), ids=TOGETHER)
def test_draws_that_go_together(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"X": [[1.0, 0.2], [0.3, -1.0], [0.0, 0.7]], "k": [1, 0, 1], "c": [2, 1, 3]}
    posterior = ppl.compile_model(text).condition({"N": 3, "y": [0.1, -0.4, 0.8], **rows})
    us = np.random.default_rng(3).normal(0.0, 1.0, (6, posterior.param_unc_num()))
    assert_as_alone(posterior, us)
    alone = looked_at_alone(monkeypatch)
    posterior.log_density_gradients(us)
    assert not alone


def test_one_draw_may_break_down_by_itself() -> None:
    text = "parameters { vector[2] x; } model { target += log_determinant_spd(diag_matrix(x)) - sum(x); }"
    posterior = ppl.compile_model(text).condition({})
    us = np.array([[1.0, 2.0], [-1.0, 1.0], [3.0, np.nan], [2.0, 2.0], [0.5, 0.5]])
    values, gradients = posterior.log_density_gradients(us)
    assert np.isfinite(values).tolist() == [True, False, False, True, True]
    np.testing.assert_allclose(gradients[0], [0.0, -0.5])
    assert_as_alone(posterior, us)


def test_a_wide_program_goes_one_draw_at_a_time() -> None:
    alone: list[np.ndarray] = []

    def one(u: np.ndarray) -> tuple[float]:
        alone.append(u)
        return (u[0],)

    us = np.arange(10.0)[:, None]
    (values,) = in_batches(us, 1 << 20, lambda us: pytest.fail("too wide"), one)
    assert len(alone) == 10
    np.testing.assert_array_equal(values, us[:, 0])


def fails(error: Exception):
    def raises(*_: object) -> tuple[np.ndarray]:
        raise error

    return raises


def test_what_fails_for_many_is_tried_one_by_one() -> None:
    """An error of the program is raised by the first point."""
    many, us = fails(ppl.InferenceError("no")), np.arange(6.0)[:, None]
    np.testing.assert_array_equal(in_batches(us, 1, many, lambda u: (u[0],))[0], us[:, 0])
    with pytest.raises(ppl.InferenceError, match="no"):
        in_batches(us, 1, many, many)


@pytest.mark.parametrize("error", [MemoryError("no"), ppl.InferenceError("no", MEMORY)])
def test_what_is_short_of_memory_is_tried_by_halves(error: Exception) -> None:
    seen: list[int] = []

    def many(us: np.ndarray) -> tuple[np.ndarray]:
        seen.append(len(us))
        if len(us) > 2:
            raise error
        return (us[:, 0],)

    us = np.arange(8.0)[:, None]
    np.testing.assert_array_equal(in_batches(us, 1, many, lambda u: pytest.fail("not alone"))[0], us[:, 0])
    assert seen == [8, 4, 2, 2, 4, 2, 2]


ROWS = """
data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> s; }
model {
  y ~ normal(a + b * x, s);
}
"""


@pytest.fixture
def of_rows(monkeypatch):
    """A posterior of 1000 rows, and how many points each batch has."""
    seen, whole = [], many_points.log_joint_gradients
    monkeypatch.setattr(
        "ppl.density.many_points.log_joint_gradients",
        lambda *given, **more: seen.append(len(given[2])) or whole(*given, **more),
    )
    data = {"N": 1000, "x": np.linspace(-1, 1, 1000), "y": np.linspace(0, 1, 1000)}
    return ppl.compile_model(ROWS).condition(data), seen


def test_batches_are_cut_to_the_memory_there_is(of_rows, monkeypatch) -> None:
    (posterior, seen), us = of_rows, np.random.default_rng(1).uniform(-1, 1, (300, 3))
    whole = posterior.log_density_gradients(us)
    assert max(seen) == 100 and not posterior.log_joint().bytes_of_points
    monkeypatch.setattr("ppl.density.log_joint.ARRAY_SIZES", replace(memory.ARRAY_SIZES, unchecked=1))
    monkeypatch.setattr(memory, "limits", lambda: iter([4 << 20]))
    seen.clear()
    for some, found in zip(whole, posterior.log_density_gradients(us), strict=True):
        np.testing.assert_allclose(found, some, rtol=1e-12)
    of_a_run, size = posterior.log_joint().bytes_of_points[True]
    assert seen[:3] == [2, 2, 32], "measured at few points"
    assert 3 * 8 * 1000 < size < 30 * 8 * 1000
    assert max(seen[3:]) <= ((2 << 20) - of_a_run) // size < 100 and sum(seen[3:]) == 300


def test_what_leaves_room_for_a_batch_is_not_measured(of_rows, monkeypatch) -> None:
    (posterior, seen), us = of_rows, np.zeros((300, 3))
    monkeypatch.setattr("ppl.density.log_joint.ARRAY_SIZES", replace(memory.ARRAY_SIZES, unchecked=1))
    posterior.log_density_gradients(us)
    assert seen == [100, 100, 100] and not posterior.log_joint().bytes_of_points


def test_thousands_of_scalars_are_computed_for_hundreds_of_draws_at_once() -> None:
    n = 3000
    program = f"parameters {{ {' '.join(f'real x{k};' for k in range(n))} }} model {{ x0 ~ normal(0, 1); }}"
    posterior = ppl.compile_model(program).condition({})
    assert posterior.draws_at_once > 300
    us = np.random.default_rng(1).standard_normal((300, n))
    table = tabulate(posterior, us, seed=1)
    np.testing.assert_array_equal(table.rows, us)


def test_draws_at_once_are_cut_to_the_memory_there_is(of_rows, monkeypatch) -> None:
    posterior, _ = of_rows
    usual = replace(posterior).draws_at_once
    monkeypatch.setattr("ppl.density.log_density.ARRAY_SIZES", replace(memory.ARRAY_SIZES, unchecked=1))
    monkeypatch.setattr(memory, "limits", lambda: iter([1 << 20]))
    assert 1 <= replace(posterior).draws_at_once < usual / 10


def test_derivatives_without_memory_are_refused_with_a_statement(of_rows, monkeypatch) -> None:
    posterior, _ = of_rows
    monkeypatch.setattr("ppl.density.tapes.values_and_grads", fails(MemoryError("unable to allocate 8 GiB")))
    with pytest.raises(ppl.InferenceError, match=r"<string>:5:[\s\S]*Unable to allocate 8 GiB") as refused:
        posterior.log_density_gradient([0.0, 0.0, 0.0])
    assert refused.value.code == MEMORY


@pytest.mark.parametrize("error", [TypeError("no"), AttributeError("no")])
def test_a_fault_of_the_compiler_is_no_slow_path(error: Exception) -> None:
    with pytest.raises(type(error)):
        in_batches(np.arange(6.0)[:, None], 1, fails(error), lambda u: (u[0],))


def test_points_that_fail_at_once_alone_are_noted() -> None:
    noted: list[str] = []
    us, note, refused = np.arange(6.0)[:, None], partial(noted.append, "fails"), fails(ppl.PPLError("no"))
    in_batches(us, 1, refused, lambda u: (u[0],), note_failure=note)
    with pytest.raises(ppl.PPLError):
        in_batches(us, 1, refused, refused, note_failure=note)
    assert noted == ["fails"]


def test_a_point_that_fails_leaves_the_others_in_a_batch() -> None:
    batches: list[int] = []

    def many(us: np.ndarray) -> tuple[np.ndarray]:
        if 3.0 in us:
            raise ppl.InferenceError("no")
        batches.append(len(us))
        return (us[:, 0],)

    us, never = np.arange(6.0)[:, None], partial(pytest.fail, "noted")
    values = in_batches(us, 1, many, lambda u: (-u[0],), note_failure=never)[0]
    assert values.tolist() == [0, 1, 2, -3, 4, 5] and batches == [1] * 5 + [5]


@pytest.mark.rotate
def test_draws_without_a_solution_are_left_out_at_once(monkeypatch) -> None:
    """y' = k y^2 from 1 has no solution at time 1 for k >= 1: two runs of the code tell for which draws."""
    runs, whole = [], many_points.log_joints
    monkeypatch.setattr(many_points, "log_joints", lambda *given: runs.append(len(given[2])) or whole(*given))
    program = """
    functions { vector away(real t, vector y, real k) { return k * square(y); } }
    parameters { real<lower=0> k; }
    transformed parameters { array[1] vector[1] y = ode_rk45(away, [1.0]', 0, {1.0}, k); }
    model { y[1] ~ normal(2, 1); }
    """
    posterior = ppl.compile_model(program).condition({})
    us = np.log([0.5, 2.0, 0.9, 3.0, 0.1, 4.0])[:, None]
    assert_as_alone(posterior, us)
    values = posterior.log_densities(us)
    assert (values == -np.inf).tolist() == [False, True, False, True, False, True]
    assert runs == [6, 3] * 2


def test_batches_are_as_long_as_the_width_allows() -> None:
    seen: list[int] = []

    def many(us: np.ndarray) -> tuple[np.ndarray]:
        seen.append(len(us))
        return (us[:, 0],)

    us = np.arange(100.0)[:, None]
    (values,) = in_batches(us, BATCH.elements // 30, many, lambda u: (u[0],))
    np.testing.assert_array_equal(values, us[:, 0])
    assert max(seen) <= 30 and len(seen) == 4


def test_no_draws_and_no_parameters() -> None:
    posterior = ppl.compile_model("parameters { real x; } model { x ~ normal(0, 1); }").condition({})
    values, gradients = posterior.log_density_gradients(np.zeros((0, 1)))
    assert values.shape == (0,) and gradients.shape == (0, 1)
    empty = ppl.compile_model("model { target += 2; }").condition({})
    values, gradients = empty.log_density_gradients(np.zeros((5, 0)))
    np.testing.assert_array_equal(values, np.full(5, 2.0))
    assert gradients.shape == (5, 0)
    with pytest.raises(ValueError, match=r"us has shape \(3,\), but must have shape \(n, 1\)"):
        posterior.log_densities(np.zeros(3))


def test_what_an_evaluation_costs_counts_the_runs_that_points_need():
    plain = ppl.compile_model("parameters { vector[3] x; } model { x ~ normal(0, 1); }").condition({})
    alone = ppl.compile_model(
        "parameters { real x; } model { real y = exp(x); print(y); x ~ normal(y, 1); }"
    ).condition({})
    assert plain.cost < 1000 < 2000 < alone.cost


def test_what_is_too_wide_for_a_batch_costs_a_run_each() -> None:
    program = "data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m, 1); }"
    n = BATCH.widest + 1
    posterior = ppl.compile_model(program).condition({"N": n, "y": np.zeros(n)})
    assert posterior.cost == n + COST.run


def test_the_width_is_seen_past_a_function_that_gives_a_tuple() -> None:
    model = ppl.compile_model("""
        data { int N; vector[N] y; }
        parameters { matrix[3, 2] A; real b; }
        model {
          tuple(matrix[3, 2], matrix[2, 2]) parts = qr_thin(A);
          to_vector(A) ~ std_normal();
          sum(parts.1) ~ normal(0, 1);
          y ~ normal(b, 1);
        }
    """)
    assert model.condition({"N": 50, "y": np.zeros(50)}).width == 50


def test_the_width_counts_what_a_density_goes_through() -> None:
    mixture = ppl.compile_model("""
        data { int N; int D; int K; array[N] vector[D] y; }
        parameters { array[K] vector[D] mu; }
        model {
          for (n in 1:N) {
            vector[K] lp;
            for (k in 1:K) lp[k] = normal_lpdf(y[n] | mu[k], 1);
            target += log_sum_exp(lp);
          }
        }
    """)
    assert mixture.condition({"N": 5, "D": 4, "K": 3, "y": np.zeros((5, 4))}).width == 5 * 4 * 3


def test_an_imaginary_part_that_is_no_number_leaves_the_real_part() -> None:
    """In a loop whose iterations share the number."""
    posterior = ppl.compile_model("""
        data { int M; } parameters { real x; } model { complex_vector[M] z; for (i in 1:M) z[i] =
        to_complex(x, log(-1 - x ^ 2)); target += get_real(z); }
    """).condition({"M": 3})
    us = np.linspace(-1, 1, 5)[:, None]
    np.testing.assert_allclose([posterior.log_density(u) for u in us], 3 * us[:, 0])
    np.testing.assert_allclose(posterior.log_densities(us), 3 * us[:, 0])


def test_complex_sums_of_some_entries_keep_their_parts_apart() -> None:
    """Which entries are added differs from draw to draw, or a loop adds to entries in turn."""
    posterior = ppl.compile_model("""
        data { int N; } parameters { real x; } model {
          complex s = to_complex(x, not_a_number()); for (i in 1:N) if (i > x) s += 1;
          complex w = to_complex(x, 1); for (i in 1:N) if (i > x) w += to_complex(x, i);
          complex_vector[2] v = to_complex([x, 2]', [positive_infinity(), 1]');
          for (i in 1:N) v[i % 2 + 1] += to_complex(x, positive_infinity());
          target += get_real(s) + get_imag(w) + sum(get_real(v)); }
    """).condition({"N": 4})
    us = np.linspace(-1, 5, 5)[:, None]
    np.testing.assert_allclose(posterior.log_densities(us), [11.0, 20.0, 24.0, 29.0, 33.0])
    assert_as_alone(posterior, us)


SIZES_OF_PARAMETERS = {
    "an entry": "for (i in 1:N) { row_vector[N] f; for (j in 1:N) f[j] = size(p); target += f; }",
    "an entry at a size": "vector[N] f; f[1] = 3; f[2] = size(p); f[size(p)] = 5; target += f;",
    "a recurrence": "vector[N] f; f[1] = size(p); for (i in 2:N) f[i] = f[i - 1] / 2 + size(p); target += f;",
    "a step": "real a = 1; for (i in 2:N) a = cos(a) * size(p) + size(p); target += a + p[1];",
}


@pytest.mark.parametrize("model", SIZES_OF_PARAMETERS.values(), ids=SIZES_OF_PARAMETERS)
def test_a_size_is_not_the_number_of_draws(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where it is all that a value has of the parameters."""
    text = f"data {{ int N; }} parameters {{ vector[N] p; }} model {{ {model} }}"
    posterior = ppl.compile_model(text).condition({"N": 3})
    assert_together(monkeypatch, posterior, np.random.default_rng(1).normal(size=(4, 3)))


def test_containers_added_in_the_iterations_that_a_draw_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = ppl.compile_model("""
        data { int N; } parameters { vector[N] p; vector[N] q; }
        model {
          vector[N] s = p; matrix[N, 2] m = rep_matrix(1, N, 2); complex_vector[N] z = p;
          for (i in 1:N) if (q[i] > 0) { s += p * i; m += p * [i, q[i]]; z += to_complex(p, q[i]); }
          target += dot_self(s) + sum(m .* m) + dot_self(get_imag(z)) + sum(get_real(z));
        }
    """).condition({"N": 3})
    assert_together(monkeypatch, posterior, np.random.default_rng(1).normal(size=(5, 6)))


def test_a_branch_inside_the_iterations_that_a_draw_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a function that is written out there: what it returns is of those iterations."""
    posterior = ppl.compile_model("""
        functions { real own_lpdf(vector y, real mu) { if (1 > mu) return 1 + mu * sum(y); return 2; } }
        data { int N; vector[N] x; } parameters { real a; vector[N] p; }
        model {
          for (i in 1:N) {
            real b = p[i]; if (b > 0.1) target += own_lpdf(x | a) * i; else b = 3;
            target += b;
          }
        }
    """).condition({"N": 4, "x": np.arange(4.0)})
    assert_together(monkeypatch, posterior, np.random.default_rng(1).normal(0.0, 1.2, (6, 5)))


def test_what_all_draws_share_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is the same for all draws; a local that nobody reads is not, and is not computed."""
    posterior = ppl.compile_model("""
        data { int N; } parameters { vector[N] p; }
        model {
          vector[N] s = rep_vector(1, N);
          for (i in 1:3) for (k in 2:N) { s *= 0.5; vector[N] unread = lower_bound_constrain(p, s[k]); }
          target += s + p;
        }
    """).condition({"N": 3})
    assert not any(isinstance(n, ir.For) for n in walk(posterior.model.program(POINTS_GRADIENT).model))
    assert_together(monkeypatch, posterior, np.random.default_rng(1).normal(size=(4, 3)))


def test_loops_whose_counters_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds of one of them differ from draw to draw, those of the others do not."""
    posterior = ppl.compile_model("""
        data { int N; array[N] int n; } parameters { vector[N] p; }
        model {
          vector[N] f = rep_vector(0, N); int k = 2; for (i in 1:N) if (p[i] > 0) { k = i; break; }
          for (i in 1:n[k]) { f[1] = i; f[i] = p[i] + i; int q = i; if (p[i] > 0.2) q = 2; f[q] += i; }
          for (i in 1:N) target += f[i] * i;
        }
    """).condition({"N": 3, "n": [1, 3, 2]})
    assert_together(monkeypatch, posterior, np.random.default_rng(1).normal(size=(6, 3)))


def test_a_bound_is_one_vector_or_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chosen by each draw, of which there are as many as the vector has entries."""
    posterior = ppl.compile_model("""
        data { int K; vector[K] d; }
        parameters { real mu; vector[K] a; vector<lower=(mu > 0 ? a : d)>[K] x; }
        model { target += -sum(x); mu ~ normal(0, 1); a ~ normal(0, 1); }
    """).condition({"K": 5, "d": [1, 20, 300, 4, 5]})
    us = np.random.default_rng(1).normal(size=(5, 11))
    assert_together(monkeypatch, posterior, us)
    one = [posterior.param_constrain(u) for u in us]
    np.testing.assert_allclose(posterior.param_constrain_draws(us, np.random.default_rng(1)), one, rtol=1e-12)


def test_containers_chosen_by_each_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = ppl.compile_model("""
        data { int N; vector[N] d; } parameters { vector[N] p; }
        model {
          complex_vector[N] z = p[1] > 0 ? to_complex(p, 1) : d * 1.0i;
          target += get_imag(z) + get_real(z .* z);
          matrix[2, N] m = rep_matrix(p', 2); m = p[1] > p[2] ? m + 1 : (p[2] > 0.3 ? m .* m : exp(m));
          target += m;
          for (n in 1:N) { vector[2] v = p[n] > 0 ? [p[n], n]' : [n, p[1]]'; target += v * n; }
        }
    """).condition({"N": 3, "d": [1, 2, 0.3]})
    assert_together(monkeypatch, posterior, np.random.default_rng(1).normal(size=(6, 3)))


RANGES_OF_SOME = (
    "vector[M] g = p + x[i]; for (j in 1:M) if (q < 1) target += sum(g[1:y[j]]);",
    "vector[M] g = p + x[i]; for (j in 1:M) if (q < 1) target += prod(g[1:y[j]]);",
    "vector[M] g = p + x[i]; for (j in 1:M) if (q < 1) target += log_sum_exp(g[1:y[j]]);",
    "for (j in 1:M) target += (q < 1 ? sum(p[i:j]) : q) * x[j];",
    "int n = q < 1 ? y[i] : 1; for (j in 1:M) if (q > 0) target += log_sum_exp(W[n, 1:y[j]]);",
    "matrix[M, M] G = W + x[i]; int n = q < 1 ? y[i] : 1; for (j in 1:M) target += prod(G[n, j:M]);",
)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("body", RANGES_OF_SOME)
def test_ranges_of_a_list_that_only_some_draws_read_are_of_these(m, body):
    program = """data { int M; vector[M] x; array[M] int y; }
        parameters { vector[M] p; matrix[M, M] W; real q; }
        model { for (i in 1 : M) { BODY } }"""
    data = {"M": m, "x": [0.2, 1, 1.1, -0.7][:m], "y": [1, 2, 2, 4][:m]}
    posterior = ppl.compile_model(program.replace("BODY", body)).condition(data)
    assert not any(isinstance(n, ir.For) for n in walk(posterior.model.program(POINTS_GRADIENT).model))
    us = np.random.default_rng(m).normal(size=(13, m + m * m + 1))
    for n in range(1, 14):
        for last in (us[:n, -1], -np.abs(us[:n, -1])):  # some draws, all of them
            with errors_of_batches() as errors:
                assert_as_alone(posterior, np.column_stack([us[:n, :-1], last]))
            assert not errors


SUMS_OF_STATES = (
    "for (j in 1:M) { r = 0.5 * r + p[j]; a += s; s = 0.3 * s + x[j]; }",
    "for (j in 1:M) { r = 0.5 * r + p[j]; v[y[j]] += s; s = 0.3 * s + x[j]; }",
    "for (j in 1:M) { r = 0.5 * r + p[j]; if (s > 0.3) a += x[j]; s = 0.3 * s + x[j]; }",
    "real b = 0; for (j in 1:y[i]) { r = 0.5 * r + p[j]; b += s; s = 0.3 * s + x[j]; } a += b;",
)


@pytest.mark.parametrize("body", SUMS_OF_STATES)
def test_sums_of_states_of_data_in_a_scan_of_parameters(body):
    """The scan has all states for each draw; the sum, which data alone decide, is the same for all draws."""
    program = """data { int M; vector[M] x; array[M] int y; } parameters { vector[M] p; real q; }
        model {
          real r = q; real s = 0.1; real a = 0; vector[M] v = x;
          for (i in 1 : M) { BODY }
          target += r + (a + v[1]) * q;
        }"""
    for m in (1, 3):
        data = {"M": m, "x": [0.2, 1, 1.1][:m], "y": [1, 2, 2][:m]}
        posterior = ppl.compile_model(program.replace("BODY", body)).condition(data)
        with errors_of_batches() as errors:
            assert_as_alone(posterior, np.random.default_rng(m).normal(size=(5, m + 1)))
        assert not errors
