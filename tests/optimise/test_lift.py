"""Which entries of a variable an iteration may read while the loop fills it."""

import numpy as np
import pytest
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS

PROGRAM = """
data {{ int N; matrix[N, N] X; array[N] int g; }}
parameters {{ real z; vector[N] v; }}
model {{ matrix[N, N] A = X; vector[N] b = v; {} target += -dot_self(to_vector(A)) - dot_self(b); }}
"""
RNG = np.random.default_rng(3)
DATA = {"N": 4, "X": RNG.normal(size=(4, 4)), "g": [2, 1, 4, 3]}
U = RNG.normal(0, 0.5, 5)

BODIES = {
    "both sides of a triangle": (
        "for (i in 2:N) for (j in 1:(i - 1)) { A[i, j] = X[i, j] * z; A[j, i] = A[i, j] * v[i]; }",
        False,
    ),
    "a triangle with its diagonal": (
        "for (i in 1:N) for (j in i:N) { A[i, j] = X[i, j] * z + (i == j); A[j, i] = A[i, j]; }",
        False,
    ),
    "the diagonal of a triangle": (
        "for (i in 1:N) for (j in 1:i) { A[i, j] = X[i, j] * z; A[i, i] = A[i, j] + v[i]; }",
        True,
    ),
    "an entry beside both": (
        "for (i in 2:N) for (j in 1:(i - 1)) { A[i, j] = X[i, j] * z; A[j + 1, i - 1] = v[j]; }",
        True,
    ),
    "another row of a triangle": (
        "for (i in 2:N) for (j in 1:(i - 1)) A[i, j] = A[i - 1, j] * z + v[j];",
        True,
    ),
    "the first column of a triangle": (
        "for (i in 2:N) for (j in 1:(i - 1)) A[i, j] = A[j, 1] * z + v[j];",
        True,
    ),
    "entries of the same rectangle": ("for (i in 1:N) for (j in 1:N) A[i, j] = A[j, i] * z + v[j];", True),
    "an entry by data": ("for (i in 1:N) b[i] = b[g[i]] * z;", True),
    "its own entry": ("for (i in 1:N) { b[i] = v[i] * z; b[i] = b[i] + A[i, 1]; }", False),
}


@pytest.mark.parametrize(("body", "in_order"), BODIES.values(), ids=BODIES)
def test_entries_of_what_a_loop_fills(body: str, in_order: bool) -> None:
    text = PROGRAM.format(body)
    kinds = [type(n) for n in walk(ARRAYS.of(lowered(text)).model) if isinstance(n, ir.For | ir.Scan)]
    assert bool(kinds) is in_order
    assert_same(posterior(text, DATA), reference(text, DATA), U)
