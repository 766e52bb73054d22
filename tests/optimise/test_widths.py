"""Iterations with ranges and variables of different sizes run in groups of one size."""

import numpy as np
import pytest
from laws.batches import assert_as_alone
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS
from ppl.stdlib import batching

PROGRAM = """
data {{ int N; int M; array[N] int k, m; vector[M] w; }}
parameters {{ real a; vector[N] b; }}
model {{ for (n in 1:N) {{ {} }} }}
"""
DATA = {"N": 5, "M": 4, "k": [2, 1, 2, 3, 1], "m": [3, 3, 3, 1, 2], "w": [0.3, -0.7, 1.1, 0.4]}
U = np.array([0.4, -0.3, 0.8, 0.1, -1.1, 0.6])

GROUPS = {
    "a range": ("target += log_sum_exp(w[1:k[n]] * b[n]);", 1),
    "two ranges": ("target += log_sum_exp(w[1:k[n]] * b[n] + w[2:(k[n] + 1)] * a);", 2),
    "a declared size": ("vector[k[n]] c; for (j in 1:k[n]) c[j] = w[j] * b[n]; target += log_sum_exp(c);", 1),
    "two declared sizes": (
        """vector[k[n]] c = w[1:k[n]] * a; vector[m[n]] d = w[1:m[n]] * b[n];
        target += log_sum_exp(c) * log_sum_exp(d);""",
        2,
    ),
    "two declared sizes, filled in loops": (
        """vector[k[n]] c; vector[m[n]] d; for (j in 1:k[n]) c[j] = w[j] * b[n];
        for (j in 1:m[n]) d[j] = w[j] * a;
        target += log_sum_exp(c) * log_sum_exp(d);""",
        2,
    ),
    "a declared size, filled from a start of its own": (
        """vector[M - k[n] + 1] c; for (j in k[n]:M) c[j - k[n] + 1] = w[j] * b[n] + j;
        target += log_sum_exp(c);""",
        1,
    ),
    "a size in a branch": ("if (m[n] > 2) target += log_sum_exp(w[1:k[n]] * b[n]); else target += b[n];", 1),
    "a range that is summed": ("target += sum(w[1:k[n]]) * b[n] ^ 2;", 0),
    "one size": ("target += log_sum_exp(w[1:M] * b[n]);", 0),
}
OPEN = {
    "to the end": "target += log_sum_exp(w[k[n]:] * b[n]);",
    "from the start": "target += log_sum_exp(w[:k[n]] * b[n]);",
    "of a local": "vector[M] c = w * a; target += log_sum_exp(c[k[n]:] * b[n]);",
}
OF_ENTRIES = {
    "the loop's own variable": "vector[9] c = rep_vector(a, 9); for (j in 1:N) c[j - m[j] + 3] += b[j];",
    "entries that the loop sets": """array[N] int p = k; vector[M + 1] c;
    for (j in 1:M) { p[n] = j == 1 ? 1 : 2; c[j - p[n] + 2] = w[j] * b[n]; c[3] = a; }""",
    "entries of an array of the iteration": """array[N] int p = k; p[n] = m[n]; vector[M - m[n] + 1] c;
    for (j in p[n]:M) c[j - p[n] + 1] = w[j] * b[n];""",
}
"""Places in `c` by entries of int arrays."""


def grouped_by(text: str) -> int:
    """By how many sizes the iterations are grouped."""
    calls = [n for n in walk(ARRAYS.of(lowered(text)).model) if isinstance(n, ir.Apply)]
    return max((len(n.args) // 2 for n in calls if n.callee.impl is batching.groups_by_width), default=0)


@pytest.mark.rotate
@pytest.mark.parametrize(("body", "sizes"), GROUPS.values(), ids=GROUPS)
def test_iterations_go_in_groups(body: str, sizes: int) -> None:
    text = PROGRAM.format(body)
    assert grouped_by(text) == sizes
    assert_same(posterior(text, DATA), reference(text, DATA), U)
    assert_as_alone(posterior(text, DATA), np.random.default_rng(1).normal(0.0, 0.5, (6, 6)))


@pytest.mark.parametrize("body", OPEN.values(), ids=OPEN)
def test_open_ranges_mean_the_same(body: str) -> None:
    text = PROGRAM.format(body)
    assert_same(posterior(text, DATA), reference(text, DATA), U)


def test_places_from_a_start_of_its_own_are_filled_at_once() -> None:
    body, _ = GROUPS["a declared size, filled from a start of its own"]
    loops = [n for n in walk(ARRAYS.of(lowered(PROGRAM.format(body))).model) if isinstance(n, ir.For)]
    assert len(loops) == 1  # over the groups


@pytest.mark.parametrize("body", OF_ENTRIES.values(), ids=OF_ENTRIES)
def test_places_by_entries_of_int_arrays_mean_the_same(body: str) -> None:
    text = PROGRAM.format(body + " for (i in 1:size(c)) if (!is_nan(c[i])) target += square(c[i]) * i;")
    assert_same(posterior(text, DATA), reference(text, DATA), U)
    assert_as_alone(posterior(text, DATA), np.random.default_rng(1).normal(0.0, 0.5, (6, 6)))
