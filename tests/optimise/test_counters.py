"""Counters that data alone decide run in a loop of their own, once; the rest of their loop becomes arrays."""

import numpy as np
import pytest
from laws.passes import assert_same, lowered, posterior, reference

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import assigned_names
from ppl.optimise.forms import VALUES
from ppl.optimise.passes.loop_body import outer_writes
from ppl.optimise.passes.table import PASSES

PROGRAM = """
data {{ int N; int K; int M; array[N] int miss; array[N] int s; array[N] int g;
  matrix[N, K] w; vector[N] y; }}
parameters {{ vector[M] z; real b; }}
model {{ z ~ normal(0, 1); b ~ normal(0, 1); {} }}
"""
DATA = {
    "N": 5,
    "K": 2,
    "M": 12,
    "miss": [1, 0, 1, 1, 0],
    "s": [2, 0, 3, 1, 2],
    "g": [1, 2, 1, 1, 2],
    "w": [[1, -1], [0.5, 2], [-1, -2], [3, 1], [-0.1, 0.2]],
    "y": [0.3, -1.0, 0.2, 2.0, 0.7],
}
DIVIDED = {
    "missing data": """vector[N] yy; int k = 0;
        for (n in 1:N) { if (miss[n] == 1) { k += 1; yy[n] = z[k]; } else yy[n] = y[n]; }
        yy ~ normal(b, 1);""",
    "a position that moves by sizes of the data": """int at = 1;
        for (n in 1:N) { target += b * sum(z[at:(at + s[n] - 1)]) * n; at = at + s[n]; }""",
    "before and after the step": """int k = 1;
        for (n in 1:N) { target += z[k] * y[n]; k += 1 + miss[n]; target += b * z[k] ^ 2; }
        target += k * z[k];""",
    "with locals": """int k = 0;
        for (n in 2:N) { int m = miss[n] + s[n]; if (m > 1) k = k + m; target += z[k + 1] * y[n] * m; }""",
    "a rectangle": """int k = 0;
        for (n in 1:N) for (j in 1:K) { if (w[n, j] > 0) { k += 1; target += z[k] * w[n, j] * b; } }""",
    "ragged": """int k = 0;
        for (n in 1:N) for (j in 1:s[n]) { k += 1; target += z[k] * y[n] * b; }""",
    "counts of groups": """array[2] int count = rep_array(0, 2);
        for (n in 1:N) { count[g[n]] += 1; target += z[count[g[n]]] * y[n] + b; }""",
    "`continue`": """int k = 0;
        for (n in 1:N) { if (miss[n] == 0) continue; k += 1; target += z[k] * y[n] * b; }""",
    "in a loop over entries": """int k = 0;
        for (n in 1:N) { k += miss[n]; for (j in 1:K) target += z[k] * w[n, j] * b; }""",
}


@pytest.mark.parametrize("model", DIVIDED.values(), ids=DIVIDED)
def test_counters_are_computed_once(model: str) -> None:
    text = PROGRAM.format(model)
    u = np.random.default_rng(1).normal(size=13)
    assert_same(posterior(text, DATA), reference(text, DATA), u)
    done = VALUES.of(lowered(text))
    assert not assigned_names(done.model) & {"k", "at", "count"}
    assert assigned_names(done.prepared) & {"k", "at", "count"}


UNCHANGED = {
    "a parameter decides": "int k = 1; for (n in 1:N) { if (z[n] > 0) k += 1; target += z[k] * y[n]; }",
    "an effect": "int k = 0; for (n in 1:N) { k += miss[n]; if (k > 100) reject(k); target += z[k] * y[n]; }",
    "a `while` loop": """int k = 1; for (n in 1:N) { int i = 0; while (i < s[n]) { k += 1; i += 1; }
        target += z[k] * y[n]; }
        target += k * b;""",
    "left early": "int k = 1; for (n in 1:N) { k += miss[n]; if (k > 3) break; target += z[k] * y[n]; }",
}


@pytest.mark.parametrize("model", UNCHANGED.values(), ids=UNCHANGED)
def test_what_stays_a_loop_means_the_same(model: str) -> None:
    text = PROGRAM.format(model)
    u = np.random.default_rng(1).normal(size=13)
    assert_same(posterior(text, DATA), reference(text, DATA), u)


def test_a_counter_that_is_read_between_its_loops() -> None:
    """It has another value there than in the end, so that it cannot be data."""
    text = PROGRAM.format("""int k = 0;
        for (n in 1:N) { k += miss[n]; target += z[k + 1]; }
        target += b * k;
        for (n in 1:N) { k += s[n]; target += z[k] * y[n]; }""")
    u = np.random.default_rng(1).normal(size=13)
    assert_same(posterior(text, DATA), reference(text, DATA), u)


def test_variables_that_loops_set_from_data_are_data() -> None:
    """Also where the loop is one that no pass takes apart."""
    text = PROGRAM.format("""vector[N] x; x[1] = y[1];
        for (n in 2:N) { x[n] = x[n - 1] / 2; if (y[n] > 0) x[n] += y[n]; }
        target += b * sum(x .* y);""")
    u = np.random.default_rng(1).normal(size=13)
    assert_same(posterior(text, DATA), reference(text, DATA), u)
    model = ppl.compile_model(text)
    assert "x[" not in model.python_source.split("def log_joint")[1].split("\ndef ")[0]


def test_no_iteration() -> None:
    text = PROGRAM.format(DIVIDED["missing data"])
    data = DATA | {"N": 0, "M": 0, "miss": [], "s": [], "g": [], "y": [], "w": np.zeros((0, 2))}
    assert_same(posterior(text, data), reference(text, data), np.array([0.4]))


def test_induction_variables_of_functions() -> None:
    program = lowered("""
        functions { real f(vector x) { real s = 0; int k = 0;
          for (n in 1:size(x)) { k += 1; s += x[k] * 2; } return s; } }
        parameters { vector[3] z; } model { target += f(z); }""")
    (before,) = program.functions
    (after,) = PASSES["induction-variables"].run(program).functions
    loops = [next(s for s in f.body if isinstance(s, ir.For)) for f in (before, after)]
    assert [outer_writes(loop).keys() for loop in loops] == [{"s", "k"}, {"s"}]
