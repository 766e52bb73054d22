"""Which scratch variables an iteration sets before it reads them, row by row; what moves means the same."""

import numpy as np
import pytest
from laws.passes import lowered, only, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.passes.privatise import privatise
from ppl.optimise.passes.table import PASSES

DATA = {"I": 4, "T": 5, "K": 2, "f": [1, 3, 5, 2], "l": [4, 5, 5, 2], "y": [0.3, -1.0, 0.2, 2.0, 0.7]}
PROGRAM = """
data {{ int I; int T; int K; array[I] int f; array[I] int l; vector[T] y; }}
parameters {{ real x; }}
model {{
  {declared}
  for (i in 1:I) {{ {body} }}
}}
"""
LIST, ROWS = "array[T] real w;", "array[T] vector[K] w;"
MOVES = [
    # From some row on, each from the one before, up to the last.
    (LIST, "w[f[i]] = x; for (t in (f[i] + 1):T) w[t] = x * w[t - 1] + i; target += w[T];"),
    (LIST, "w[1] = x; for (t in 2:T) w[t] = w[t - 1] + y[t]; target += w[T] + w[1];"),
    (LIST, "for (t in f[i]:l[i]) w[t] = x; for (t in f[i]:l[i]) target += w[t] * t;"),
    (LIST, "int a = f[i]; w[a] = x; for (t in (a + 1):T) w[t] = w[t - 1] / 2; target += w[T];"),
    (LIST, "if (f[i] < T) { w[f[i]] = x; for (t in (f[i] + 1):T) w[t] = 2 * w[t - 1]; target += w[T]; }"),
    (LIST, "w[1] = x; for (t in 2:T) { if (y[t] > 0) w[t] = w[t - 1]; else w[t] = 1; } target += w[T];"),
    # Whole rows, at once or entry by entry.
    (ROWS, "w[f[i]] = rep_vector(x, K); for (t in (f[i] + 1):T) w[t] = w[t - 1] * x; target += w[T];"),
    (
        ROWS,
        "for (k in 1:K) w[f[i], k] = x + k; for (t in (f[i] + 1):T) "
        "for (k in 1:K) w[t, k] = w[t - 1, 1] * x + w[t - 1, k]; target += w[T, 2];",
    ),
    # Every entry, after what it is made of.
    ("array[T] real w;", "for (t in 1:T) { real a = x * y[t]; w[t] = a + i; } target += sum(w);"),
    ("vector[2] w;", "for (k in 1:2) { w[k] = i * x; target += w[1]; } target += w[2];"),
]
UNCHANGED = [
    # The first row, or those before it, are of another iteration.
    (LIST, "w[f[i]] = x; for (t in (f[i] + 1):T) w[t] = w[t - 1]; target += w[1];"),
    (LIST, "w[f[i]] = x; for (t in (f[i] + 2):T) w[t] = w[t - 1]; target += w[T];"),
    (LIST, "for (t in f[i]:T) w[t] = w[t - 1];"),
    (LIST, "for (t in f[i]:l[i]) w[t] = x; target += w[l[i]];"),  # perhaps none is set
    (LIST, "for (t in f[i]:T) w[t] = x; target += w[T];"),
    (LIST, "w[f[i]] = x; for (t in (f[i] + 1):l[i]) w[t] = w[t - 1]; target += w[T];"),
    # Some rows may be left out, or the loop left.
    (LIST, "w[1] = x; for (t in 2:T) { if (y[t] > 0) w[t] = w[t - 1]; } target += w[T];"),
    (LIST, "w[1] = x; for (t in 2:T) { if (y[t] > 0) continue; w[t] = x; } target += w[T];"),
    (LIST, "w[1] = x; for (t in 2:T) { w[t] = x; if (y[t] > 0) break; } target += w[T];"),
    (LIST, "if (f[i] > 1) w[f[i]] = x; for (t in (f[i] + 1):T) w[t] = w[t - 1]; target += w[T];"),
    (LIST, "if (f[i] > 1) target += x; else w[1] = x; target += w[1];"),
    (LIST, "for (t in 1:T) { w[t] = x; if (y[t] > 1) break; } target += sum(w);"),
    (LIST, "for (t in 1:T) { if (y[t] > 1) continue; w[t] = x; } target += sum(w);"),
    # An entry is read before it is set, or another one set.
    (LIST, "for (t in 1:T) { target += w[t]; w[t] = x; }"),
    (LIST, "for (t in 1:T) { real a = w[t]; w[t] = x + a; }"),
    (LIST, "for (t in 1:T) { w[T - t + 1] = x; w[1] = 0; } target += sum(w[2:T]);"),
    # What the rows are told by changes.
    (LIST, "int a = f[i]; w[a] = x; a = 1; target += w[a];"),
    (LIST, "int a = 1; w[a] = x; for (t in 1:2) { target += w[a]; a += 1; }"),
    (LIST, "int a = 1; w[a] = x; for (t in (a + 1):T) { w[t] = x; a = 0; } target += w[a + 1] + w[T];"),
    # Not every entry of the row, or not the same row.
    (ROWS, "for (k in 1:1) w[f[i], k] = x; target += w[f[i], 2];"),
    (ROWS, "for (k in 2:K) w[f[i], k] = x; target += w[f[i], 1];"),
    (ROWS, "for (k in 1:K) { if (k > 1) w[f[i], k] = x; } target += w[f[i], 1];"),
    (ROWS, "for (k in 1:K) w[k, k] = x; target += w[1, 2];"),
    (ROWS, "for (k in 1:K) { if (y[k] > 0) break; w[f[i], k] = x; } target += w[f[i], K];"),
    (ROWS, "w[f[i], 1] = x; target += w[f[i], 2];"),
    # Read whole.
    (LIST, "w[f[i]] = x; for (t in (f[i] + 1):T) w[t] = w[t - 1]; target += sum(w);"),
    (LIST, "w[1] = x; for (t in 2:T) w[t] = sum(w[1:(t - 1)]);"),
]


def is_private(declared, body):
    """Whether the declaration went into the loop."""
    program = privatise(lowered(PROGRAM.format(declared=declared, body=body)))
    [loop] = [s for s in walk(program.model) if isinstance(s, ir.For) and s.variable == "i"]
    return any(isinstance(s, ir.Declare) and s.name == "w" for s in walk(loop.body))


@pytest.mark.parametrize(("declared", "body"), MOVES)
def test_each_iteration_has_its_own(declared, body):
    assert is_private(declared, body)
    text, u = PROGRAM.format(declared=declared, body=body), np.array([0.7])
    same, whole = posterior(text, DATA), reference(text, DATA)
    np.testing.assert_allclose(same.log_density(u), whole.log_density(u), rtol=1e-13)
    np.testing.assert_allclose(same.log_density_gradient(u)[1], whole.log_density_gradient(u)[1], rtol=1e-12)
    assert posterior(text, DATA, only(PASSES["privatise"])).log_density(u) == whole.log_density(u)


@pytest.mark.parametrize(("declared", "body"), UNCHANGED)
def test_what_may_be_of_another_iteration_is_shared(declared, body):
    assert not is_private(declared, body)


def test_a_loop_that_is_left_keeps_what_an_earlier_iteration_set():
    body = "for (k in 1:3) { w[k] = i * k; if (i == 2 && k == 2) break; } target += sum(w) * x;"
    text = PROGRAM.format(declared="array[3] real w;", body=body)
    assert posterior(text, {**DATA, "I": 2, "f": [1, 3], "l": [4, 5]}).log_density(np.array([1.0])) == (
        1 + 2 + 3
    ) + (2 + 4 + 3)
