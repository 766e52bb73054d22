"""Recurrences inside loops that become arrays: one scan, with the axes of these loops before its steps."""

import numpy as np
import pytest
from laws.batches import assert_as_alone
from laws.passes import assert_same, lowered, model_of, posterior, reference

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS, POINTS_ARRAYS

PROGRAM = """
functions {{
  real fall(vector q, int k, real b) {{ if (b > 0.1) return b * q[k]; return q[k] - b; }}
  real panel(vector y, real a, real c) {{
    int T = size(y);
    vector[T] x = rep_vector(c, T);
    vector[T] m = rep_vector(a, T);
    for (t in 2:T) x[t] = a * x[t - 1] + y[t];
    for (t in 2:T) m[t] = 0.5 * m[t - 1] + x[t - 1];
    return dot_self(x) + sum(m);
  }}
  real learned(array[] int k, vector y, real a, real b) {{
    vector[3] q = rep_vector(0.1, 3);
    real lp = 0;
    for (t in 1:size(k)) {{ lp += categorical_logit_lpmf(k[t] | b * q); q[k[t]] += a * (y[t] - q[k[t]]); }}
    return lp;
  }}
}}
data {{ int S, T; array[S] int n; array[S, T] int k; matrix[S, T] y; }}
parameters {{ real a; real<lower=0> b; vector[S] c; }}
model {{
  target += -square(a) - b - dot_self(c);
  {}
}}
"""
_RNG = np.random.default_rng(2)
DATA = {
    "S": 4,
    "T": 5,
    "n": [5, 3, 0, 4],
    "k": _RNG.integers(1, 4, (4, 5)).tolist(),
    "y": _RNG.normal(size=(4, 5)).round(2).tolist(),
}
U = np.array([0.4, -0.3, 0.2, -0.5, 0.8, -0.1])

RECURRENCES = {
    "learning of values": """for (s in 1:S) { vector[3] q = rep_vector(0.5, 3); for (t in 1:T) {
        target += categorical_logit_lpmf(k[s, t] | b * q);
        q[k[s, t]] += inv_logit(c[s]) * (y[s, t] - q[k[s, t]]); } }""",
    "over as many steps as each has": """for (s in 1:S) { vector[3] q = rep_vector(0.5, 3);
        for (t in 1:n[s]) { real error = y[s, t] - q[k[s, t]];
          target += categorical_logit_lpmf(k[s, t] | b * q);
          q[k[s, t]] += inv_logit(c[s]) * error; } }""",
    "from where each begins": """for (s in 1:S) { real h = a;
        for (t in (6 - n[s]):T) { h = tanh(c[s] * h + y[s, t]); target += -square(h); } }""",
    "over segments of a list": """array[S, 2] int ends; int at = 0;
        for (s in 1:S) { ends[s] = {at + 1, at + n[s]}; at += n[s]; }
        vector[at] x = rep_vector(a, at); for (s in 1:S) { real h = c[s];
        for (m in ends[s, 1]:ends[s, 2]) { h = tanh(b * h + y[s, m - ends[s, 1] + 1]); x[m] = h; } }
        target += -sum(square(x));""",
    "values that end in a term": """for (s in 1:S) { real h = a; real total = 0;
        for (t in 1:n[s]) { h = tanh(b * h + y[s, t]); total += h; } target += -square(h - total); }""",
    "by a function": "for (s in 1:S) target += learned(k[s], y[s]', inv_logit(c[s]), b);",
    "by a function, of as many steps": """for (s in 1:S)
        target += learned(k[s, 1:n[s]], y[s, 1:n[s]]', inv_logit(c[s]), b);""",
    "two recurrences of a function": "for (s in 1:S) target += -panel(y[s]', c[s], b);",
    "a list that is filled": """for (s in 1:S) { vector[T] x; x[1] = c[s];
        for (t in 2:T) x[t] = a * x[t - 1] + y[s, t]; target += -dot_self(x) * b; }""",
    "two lags": """for (s in 1:S) { vector[T] x = y[s]';
        for (t in 3:T) x[t] = a * tanh(x[t - 1]) - 0.3 * x[t - 2] + y[s, t]; target += -dot_self(x) * b; }""",
    "a start that all share": """for (s in 1:S) { real h = a;
        for (t in 1:T) { target += -square(h); h = b * h + 0.1; } }""",
    "a branch on data": """for (s in 1:S) { vector[2] q = [a, b]';
        for (t in 1:T) { if (k[s, t] > 1) { target += -square(q[k[s, t] - 1]);
          q[k[s, t] - 1] *= c[s]; } else q[2] = q[1] + y[s, t]; } }""",
    "a branch on the state": """for (s in 1:S) { real h = c[s];
        for (t in 1:T) { if (h > 0.2) h = h * a; else h = h + b * y[s, t]; target += -square(h); } }""",
    "an inner loop in each step": """for (s in 1:S) { vector[3] q = rep_vector(a, 3);
        for (t in 1:T) { for (j in 1:3) q[j] = b * q[j] + c[s] * y[s, t] * j; target += -dot_self(q); } }""",
    "two loops around": """for (s in 1:S) for (j in 1:2) { real h = c[s] * j;
        for (t in 1:T) { h = tanh(b * h + y[s, t]); target += -square(h); } }""",
    "of every other, in a branch": """for (s in 1:S) if (n[s] > 3) { real h = a;
        for (t in 1:T) { h = tanh(c[s] * h + y[s, t]); target += -square(h); } }""",
    "a sum of some and a scale of all": """for (s in 1:S) { real total = 0; real w = b * c[s];
        if (n[s] > 3) { real h = a; for (t in 1:n[s]) { h = tanh(w * h + y[s, t]); total += h; } }
        target += -square(total - w); }""",
    "two states, of which all share one": """for (s in 1:S) { real h = c[s]; real w = 1;
        for (t in 1:T) { h = tanh(w * h + y[s, t]); w = 0.5 * w + 0.1; target += -square(h) * w; }
        target += -square(a * w); }""",
    "entries from outside": """matrix[S, T] x; for (s in 1:S) { real h = a;
        for (t in 1:T) { h = tanh(c[s] * h + y[s, t]); x[s, t] = h * b; } } target += -sum(square(x));""",
    "entries of a matrix": """matrix[S, T] x; for (s in 1:S) { x[s, 1] = c[s];
        for (t in 2:T) x[s, t] = a * x[s, t - 1] + y[s, t]; } target += -sum(square(x)) * b;""",
    "columns of a matrix, and what reads them": """matrix[T, S] x; for (s in 1:S) { x[1, s] = c[s];
        for (t in 2:T) x[t, s] = tanh(a * x[t - 1, s] + y[s, t]);
        for (t in 2:T) target += -square(x[t, s] - b * x[t - 1, s]); }""",
    "backwards": """matrix[S, T] x; for (s in 1:S) { x[s, T] = 1; for (r in 1:(T - 1)) { int t = T - r;
        x[s, t] = 1 - inv_logit(c[s]) * inv_logit(y[s, t] * x[s, t + 1]); }
        target += log(x[s, 1]) * b + log(x[s, T]) * a; }""",
    "two matrices of which each reads both": """matrix[T, S] I; matrix[T, S] Q; for (s in 1:S) {
        I[1, s] = inv_logit(c[s]) / 2; Q[1, s] = 1 - I[1, s];
        for (t in 2:T) { real new = b * Q[t - 1, s] * I[t - 1, s] / 5; Q[t, s] = Q[t - 1, s] - new;
          I[t, s] = I[t - 1, s] + new - 0.1 * I[t - 1, s]; } }
        for (s in 1:S) for (t in 1:T) target += -square(y[s, t] - I[t, s]) * a;""",
    "entries that are set again": """matrix[S, T] x; for (s in 1:S) { x[s, 1] = c[s];
        for (t in 2:T) x[s, t] = a * x[s, t - 1] + y[s, t]; x[s, T] = b; for (t in 1:T) x[s, t] *= 2; }
        target += -sum(square(x));""",
    "lists of vectors": """array[S, T] vector[2] x; for (s in 1:S) { x[s, 1] = [c[s], a]';
        for (t in 2:T) { x[s, t] = tanh(b * x[s, t - 1]); x[s, t][2] += y[s, t]; }
        for (t in 1:T) target += -dot_self(x[s, t]); }""",
    "values of all in one list": """array[S] vector[3] q = rep_array(rep_vector(a, 3), S); for (s in 1:S) {
        for (t in 1:n[s]) { q[s][k[s, t]] += b * (y[s, t] - q[s, k[s, t]]); target += -square(q[s][1]); } }
        for (s in 1:S) target += c[s] * sum(q[s]);""",
    "values of all in rows": """matrix[S, 2] q; array[S] real h; for (s in 1:S) { q[s] = [a, b]; h[s] = 0;
        for (t in 1:T) { q[s, 1] = tanh(q[s, 1] * c[s] + y[s, t]); q[s, 2] = 0.5 * q[s, 1]; h[s] += q[s, 2];
          target += -square(q[s, 2]); } } target += -sum(q) * sum(h);""",
    "a matrix of values": """for (s in 1:S) { matrix[2, 3] q = rep_matrix(a, 2, 3); int at = 1;
        for (t in 1:T) { int now = k[s, t] > 1 ? 1 : 2; q[now, k[s, t]] += b * (y[s, t] - q[now, k[s, t]]);
          target += -square(q[now, 2]); } }""",
    "a call that is not written out": """for (s in 1:S) { vector[3] q = rep_vector(a, 3);
        for (t in 1:T) { q[k[s, t]] = fall(q, k[s, t], c[s]); target += -square(sum(q)); } }""",
}
LOOPS_STAY = {
    "a sum in an entry of each": """vector[S] eta; for (s in 1:S) { eta[s] = a;
        for (t in 1:T) eta[s] += y[s, t] * c[s]; for (t in 1:n[s]) eta[s] -= b * y[s, t]; }
        target += -sum(square(eta));""",
    "a sum in an entry that several have": """vector[6] eta = rep_vector(a, 6); for (s in 1:S) {
        eta[n[s] + 1] *= b; for (t in 1:T) eta[n[s] + 1] += y[s, t] * c[s]; } target += -sum(square(eta));""",
    "a sum in an entry that the next begins with": """vector[S] eta = rep_vector(a, S); for (s in 2:S) {
        eta[s] = eta[s - 1] * b; for (t in 1:T) eta[s] += y[s, t] * c[s]; } target += -sum(square(eta));""",
    "entries from where a sum of data is": """vector[sum(n)] x = rep_vector(a, sum(n)); int before = 0;
        for (s in 1:S) { for (t in 1:min(n[s], 2)) x[before + t] = c[s] * t; before += n[s]; }
        target += -sum(square(x)) * b;""",
    "a state of all": """real h = a; for (s in 1:S) { for (t in 1:T) { h = tanh(b * h + y[s, t]);
        target += -square(h) * c[s]; } }""",
    "a column of the one before": """matrix[S, T] x = rep_matrix(a, S, T); for (s in 2:S) {
        for (t in 2:T) x[s, t] = tanh(c[s] * x[s - 1, t - 1] + y[s, t]); } target += -sum(square(x)) * b;""",
    "an entry that the next loop reads of the one before": """matrix[S, T] x = rep_matrix(a, S, T);
        for (s in 2:S) { for (t in 2:T) x[s, t] = tanh(c[s] * x[s, t - 1] + y[s, t]);
          for (t in 2:T) target += -square(x[s, t] - b * x[s - 1, t]); }""",
    "an entry of a list that several share": """vector[3] q = rep_vector(a, 3); for (s in 1:S) {
        for (t in 1:T) { q[n[s] % 3 + 1] = tanh(b * q[n[s] % 3 + 1] + y[s, t]); target += -q[1]; } }""",
    "an entry of the one before": """vector[S] last = rep_vector(0, S); for (s in 2:S) { real h = last[s - 1];
        for (t in 1:T) { h = tanh(b * h + y[s, t]); last[s] = h; } target += -square(h) * c[s]; }""",
}


LENGTHS = {
    "alike": DATA,
    "one long": DATA | {"n": [5, 1, 0, 0]},
    "no steps": DATA | {"T": 0, "n": [0] * 4, "k": [[]] * 4, "y": [[]] * 4},
    "no loops": DATA | {"S": 0, "n": [], "k": [], "y": []},
}


@pytest.mark.rotate
@pytest.mark.parametrize("data", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("model", (RECURRENCES | LOOPS_STAY).values(), ids=RECURRENCES | LOOPS_STAY)
def test_a_scan_in_loops_gives_what_they_give(model: str, data: dict[str, object]) -> None:
    text = PROGRAM.format(model)
    plain = reference(text, data)
    u = U[: 2 + data["S"]]
    try:
        plain.log_density(u)
    except ppl.PPLError as refused:
        with pytest.raises(type(refused)):
            posterior(text, data).log_density(u)
        return
    assert_same(posterior(text, data), plain, u)
    us = np.random.default_rng(1).normal(0.0, 0.5, (6, len(u)))
    assert_as_alone(model_of(text).condition(data), us)


@pytest.mark.parametrize("model", RECURRENCES.values(), ids=RECURRENCES)
def test_the_recurrence_is_a_scan(model: str) -> None:
    p = lowered(PROGRAM.format(model))
    for form in (ARRAYS, POINTS_ARRAYS):
        assert any(isinstance(n, ir.Scan) for n in walk(form.of(p).model)), form


@pytest.mark.rotate
@pytest.mark.parametrize("model", RECURRENCES.values(), ids=RECURRENCES)
def test_jax_computes_the_same(model: str) -> None:
    pytest.importorskip("jax")
    from ppl.jax_backend.target import compiled_target

    posterior = ppl.compile_model(PROGRAM.format(model)).condition(DATA)
    us = np.array([U, 0.5 * U])
    want = [posterior.log_density_gradient(u) for u in us]
    values, gradients = compiled_target(posterior).log_density_gradients(us)
    np.testing.assert_allclose(values, [value for value, _ in want], rtol=1e-10)
    np.testing.assert_allclose(gradients, [gradient for _, gradient in want], rtol=1e-9, atol=1e-9)
