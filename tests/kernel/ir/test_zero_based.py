"""Which indices are known to be at least 1, and which are looked at when the program runs."""

import numpy as np
import pytest

import ppl
from ppl.arrays import NUMPY
from ppl.kernel.ir.zero_based import zero_based

PROGRAM = """
data {{ int N; int K; array[N] int k; vector[N] y; }}
parameters {{ vector[K] a; }}
generated quantities {{
  vector[N] z = y;
  {statement}
}}
"""


def text(statement: str) -> str:
    source = ppl.compile_model(PROGRAM.format(statement=statement)).python_source
    return source.split("\ndef generated(", 1)[1].split("\n\n\ndef ", 1)[0]


@pytest.mark.parametrize(
    "statement",
    [
        "for (n in 1:N) z[n] = y[n] + a[1];",
        "for (n in 1:N) if (y[n] > 0) z[n] = a[1];",
        "for (n in 1:N) for (j in 2:N) z[n] += y[j] * y[n];",
    ],
)
def test_what_a_loop_counts_is_not_looked_at(statement: str) -> None:
    assert "zero_based" not in text(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "for (n in 1:N) z[n] = a[k[n]];",
        "for (n in 0:N) z[n] = y[n];",
        "for (n in K:N) z[n] = y[n];",
        "for (n in 1:N) z[n] = y[n - 1];",
    ],
)
def test_other_indices_are(statement: str) -> None:
    assert "zero_based" in text(statement)


@pytest.mark.parametrize("first", [0, -1])
def test_an_index_below_one_is_refused_in_a_loop_without_order(first: int) -> None:
    given = {"N": 3, "K": first, "k": [1, 1, 1], "y": np.ones(3)}
    model = ppl.compile_model(
        PROGRAM.format(statement="for (n in K:N) z[n] = 2 * y[n];").replace("[K]", "[2]")
    )
    with pytest.raises(ppl.errors.PPLError, match=rf"Index {first} of `y` is out of range"):
        model.condition(given).param_constrain(np.zeros(2), include_tp=True, include_gq=True)


def test_an_argument_that_has_the_name_of_a_loop_variable_is_looked_at() -> None:
    program = """
    functions { real entry(vector a, int n) { return a[n]; } }
    data { int N; int k; vector[N] y; }
    parameters { real x; }
    model { real s = 0; for (n in 1:N) { if (y[n] > x) break; s += y[n]; } target += s * entry(y, k); }
    """
    with pytest.raises(ppl.errors.PPLError, match="Index 0 of `a`, from `n`, is out of range"):
        ppl.compile_model(program).condition({"N": 2, "k": 0, "y": [0.5, 0.25]})


def test_counting_from_zero() -> None:
    assert zero_based(NUMPY, 3) == 2
    np.testing.assert_array_equal(zero_based(NUMPY, np.array([2, 1])), [1, 0])
    assert zero_based(NUMPY, np.zeros(0, dtype=int)).size == 0
    for bad in (0, np.int64(-2), np.array([3, 0])):
        with pytest.raises(IndexError, match="indices start at 1"):
            zero_based(NUMPY, bad)
