"""Loops that fill a variable by sums over ranges of its earlier entries are linear recurrences."""

import numpy as np
import pytest
from laws.cost.counting import cost_of
from laws.passes import assert_law, lowered, model_of, posterior, reference
from laws.verifier.compilation import verified_form

from ppl.errors import InferenceError
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import LOOPS

HEADER = """
functions {
  vector renewal(vector r, vector w, real first) {
    int N = size(r);
    vector[N] o;
    o[1] = first;
    for (t in 2:N) o[t] = r[t] * dot_product(o[1:(t - 1)], reverse(w[1:(t - 1)]));
    return o;
  }
}
data { int<lower=1> N; int<lower=1> S; vector[N] w; matrix[N, N] W; vector[N] y; array[N] int<lower=1> back; }
transformed data { vector[N] reversed = reverse(w); }
parameters { vector[N] z; real<lower=0> s; vector[N] v; }
model {
  z ~ std_normal();
  s ~ exponential(1);
  v ~ std_normal();
  vector[N] x;
  x[1] = s;
  %s
  y ~ normal(x, 1);
}
"""
LINEAR = {
    "all before": "for (t in 2:N) x[t] = dot_product(x[1:(t - 1)], w[1:(t - 1)]);",
    "backwards": "for (t in 2:N) x[t] = exp(z[t]) * dot_product(x[1:(t - 1)], reverse(w[1:(t - 1)]));",
    "the variable backwards": "for (t in 2:N) x[t] = dot_product(w[1:(t - 1)], reverse(x[1:(t - 1)])) / s;",
    "a window, and the tail of a list": """for (t in 2:N) { int k = min(t - 1, S);
        x[t] = z[t] + exp(z[t] * 0.1) * dot_product(x[(t - k):(t - 1)], tail(reversed, k)); }""",
    "a local": """for (t in 2:N) { real c = sum(x[1:(t - 1)] .* w[1:(t - 1)]); real d = 2 * c - 1;
        x[t] = z[t] * -d; }""",
    "weights that are parameters": "for (t in 2:N) x[t] = tail(v, t - 1)' * x[1:(t - 1)];",
    "a row times a column": "for (t in 2:N) x[t] = x[1:(t - 1)]' * v[2:t] - s;",
    "sums": "for (t in 3:N) x[t] = sum(x[(t - 2):(t - 1)]) * 0.4 + z[t]; x[2] = s;",
    "a range that data tell": "for (t in 2:N) x[t] = 0.5 * sum(x[max(1, t - back[t]):(t - 1)]) + z[t];",
    "nothing at first": "for (t in 1:N) x[t] = z[t] + 0.5 * sum(x[1:(t - 1)]);",
    "entries left as they are": """x = z;
        for (t in 2:(N - 2)) x[t] = dot_product(x[1:(t - 1)], v[1:(t - 1)]);""",
    "something else in the loop": """vector[N] e; for (t in 2:N) { real a = z[t] * 2;
        x[t] = a + 0.5 * sum(x[1:(t - 1)]); e[t] = a; target += e[t] * s; }""",
    "no entries, behind the last": "x = z; for (t in (N + 2):(N + 1)) x[t] = sum(x[1:(t - 1)]);",
    "a function": "x = renewal(exp(z), w, s);",
    "a loop over lags": """for (t in 2:N) { real c = z[t]; for (k in 1:(t - 1)) c += w[k] * x[t - k];
        x[t] = 0.5 * c; }""",
    "a loop over lags, others before the first": """for (t in 1:N) { real c = 0;
        for (k in 1:S) c += v[k] * (t - k >= 1 ? x[t - k] : s); x[t] = exp(0.1 * z[t]) * c; }""",
    "a loop from the third lag": """for (t in 1:N) { real c = z[t];
        for (k in 3:N) c += t > k ? x[t - k] * v[k] * z[t] : w[k] * s; x[t] = c; }""",
    "a loop over lags, the other way": """for (t in 1:N) { real c = z[t];
        for (k in 1:S) c += (k >= t ? s : x[t - k]) * w[k]; x[t] = c; }""",
    "a loop over entries": """for (t in 1:N) { real c = z[t]; for (k in 1:(t - 1)) c += w[t - k] * x[k];
        x[t] = 0.5 * c + s; }""",
}
OTHER = {
    "a loop over squares": """for (t in 2:N) { real c = z[t]; for (k in 1:(t - 1)) c += w[k] * x[t - k] ^ 2;
        x[t] = 0.1 * c; }""",
    "a loop whose sum is changed": """for (t in 2:N) { real c = z[t];
        for (k in 1:(t - 1)) c += w[k] * x[t - k]; c *= 0.1; x[t] = c; }""",
    "a loop of other conditions": """for (t in 2:N) { real c = z[t];
        for (k in 1:(t - 1)) c += y[k] > 0 ? x[t - k] : s; x[t] = 0.2 * c; }""",
    "a loop with two entries": """for (t in 3:N) { real c = z[t];
        for (k in 1:(t - 2)) c += x[t - k] * x[t - k - 1] * w[k]; x[t] = 0.1 * c; } x[2] = s;""",
    "a loop that is entered beyond the first": """x = v; for (t in 2:(N - 1)) { real c = z[t];
        for (k in 1:S) c += w[k] * (t + k <= N ? x[t + k] : s); x[t] = 0.2 * c; }""",
    "several": """x[2] = 1; for (t in 3:N)
        x[t] = 0.3 * sum(x[1:(t - 2)]) - z[t] * dot_product(x[2:(t - 1)], v[2:(t - 1)]) + s;""",
    "weights that change": "for (t in 2:N) x[t] = dot_product(x[1:(t - 1)], W[t, 1:(t - 1)]);",
    "a product of two": "for (t in 2:N) x[t] = z[t] + 0.1 * dot_self(x[1:(t - 1)]);",
    "a function of a sum": "for (t in 2:N) x[t] = tanh(sum(x[1:(t - 1)])) + z[t];",
    "a factor with the variable": "for (t in 2:N) x[t] = (1 - x[t - 1]) * sum(x[1:(t - 1)]) * 0.1 + z[t];",
    "weights with the variable": "for (t in 2:N) x[t] = z[t] + dot_product(x[1:(t - 1)], x[1:(t - 1)]);",
    "entries not filled yet": "x = v; for (t in 2:(N - 1)) x[t] = 0.1 * sum(x[1:(t + 1)]) + z[t];",
    "in a branch": "x = v; for (t in 2:N) if (back[t] > 1) x[t] = 0.3 * sum(x[1:(t - 1)]);",
    "read elsewhere": """for (t in 2:N) { x[t] = z[t] + 0.5 * sum(x[1:(t - 1)]);
        target += 0.1 * x[t - 1]; }""",
    "another state": """real m = 0;
        for (t in 2:N) { m = 0.5 * m + z[t]; x[t] = m + 0.2 * sum(x[1:(t - 1)]); }""",
    "an entry that was there": """x = v; for (t in 2:N) { real old = x[t];
        x[t] = 0.3 * sum(x[1:(t - 1)]) + z[t]; target += old * s; }""",
    "a local that is used later": """for (t in 2:N) { real c = sum(x[1:(t - 1)]);
        x[t] = 0.3 * c + z[t]; target += 0.1 * c; }""",
    "a range that something else reads": """vector[N] e; for (t in 2:N) { x[t] = z[t];
        e[t] = sum(x[1:(t - 1)]); target += e[t]; }""",
    "ints": """array[N] int f; f[1] = 1; for (t in 2:N) f[t] = sum(f[1:(t - 1)]);
        x = z * f[N];""",
    "backwards in time": "x[N] = s; for (i in 1:(N - 1)) x[N - i] = z[i] + 0.3 * sum(x[(N - i + 1):N]);",
}


def data(N: int = 7) -> dict:
    rng = np.random.default_rng(4)
    w, y = rng.uniform(0.1, 0.5, N), rng.normal(size=N)
    return {"N": N, "S": 3, "w": w, "W": np.outer(w, w), "y": y, "back": 1 + np.arange(N) % 3}


def point(N: int = 7) -> np.ndarray:
    return np.random.default_rng(5).normal(0, 0.5, 2 * N + 1)


def recurrences(text: str) -> int:
    program = verified_form(LOOPS, lowered(text))
    nodes = walk((program.model, tuple(f.body for f in program.functions)))
    return sum(isinstance(n, ir.Apply) and n.callee.name == "with_recurrence" for n in nodes)


@pytest.mark.rotate
@pytest.mark.parametrize("name", LINEAR)
def test_a_recurrence_is_that_of_the_loop(name: str) -> None:
    text = HEADER % LINEAR[name]
    assert recurrences(text) == recurrences(HEADER % "x = z;") + 1
    assert_law(text, data(), point())


@pytest.mark.rotate
@pytest.mark.parametrize("name", OTHER)
def test_other_loops_stay(name: str) -> None:
    text = HEADER % OTHER[name]
    assert recurrences(text) == recurrences(HEADER % "x = z;")
    u = point()
    found, plain = (p.log_density_gradient(u) for p in (posterior(text, data()), reference(text, data())))
    np.testing.assert_allclose(found[0], plain[0], rtol=1e-10)
    np.testing.assert_allclose(found[1], plain[1], rtol=1e-8)


def test_a_function_has_its_own() -> None:
    assert recurrences(HEADER % "x = z;") == 1


def test_without_entries_the_loop_does_nothing() -> None:
    text = HEADER % LINEAR["backwards"]
    assert_law(text, data(1), point(1))


def test_a_range_that_begins_before_the_first_entry_is_refused() -> None:
    text = HEADER % "for (t in 2:N) x[t] = z[t] + 0.1 * sum(x[(t - 2):(t - 1)]);"
    with pytest.raises(InferenceError, match=r"The range 0:1 lies outside 1:7"):
        posterior(text, data()).log_density(point())


def test_lists_of_different_lengths_are_refused() -> None:
    text = HEADER % "for (t in 2:N) x[t] = dot_product(x[1:(t - 1)], w[1:t]);"
    with pytest.raises(InferenceError, match=r"Sizes do not match: \[1\] and \[2\]"):
        posterior(text, data()).log_density(point())


@pytest.mark.rotate
def test_a_gradient_takes_no_entry_of_the_tape_for_each_step() -> None:
    text = HEADER % LINEAR["a window, and the tail of a list"]
    loop, solved = (model_of(text, left).condition(data(80)) for left in (("linear-recurrences",), ()))
    u = 0.1 * point(80)
    loop.log_density_gradient(u), solved.log_density_gradient(u)
    lines = [cost_of(lambda p=p: p.log_density_gradient(u)).lines for p in (loop, solved)]
    assert lines[1] < lines[0] / 4
