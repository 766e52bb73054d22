"""Variables filled from end to end are set as a whole, and columns are read as such."""

import os
import subprocess
import sys

import pytest
from laws.passes import lowered

from ppl import compile_model
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS

PREDICTOR = """
functions {
  vector predictor(matrix X, real a, vector b) {
    vector[rows(X)] eta;
    int n = rows(X);
    for (i in 1:n) {
      eta[i] = a;
      for (k in 1:cols(X)) eta[i] += X[i, k] * b[k];
    }
    return eta;
  }
}
data { int N, K; matrix[N, K] X; vector[N] y; }
parameters { real a; vector[K] b; }
model { y ~ normal(predictor(X, a, b), 1); }
"""


def test_a_predictor_has_no_index_sets() -> None:
    """Neither to set all entries to one value nor to add up the columns, whose number `cols` says."""
    nodes = list(walk(ARRAYS.of(lowered(PREDICTOR)).model))
    assert not any(isinstance(n, ir.Gather | ir.Scatter | ir.For) for n in nodes)


def test_a_part_is_not_the_whole() -> None:
    part = PREDICTOR.replace("for (i in 1:n)", "for (i in 1:n - 1)")
    nodes = list(walk(ARRAYS.of(lowered(part)).model))
    assert any(isinstance(n, ir.Scatter) for n in nodes)


@pytest.mark.rotate
def test_the_same_program_is_the_same_text_in_every_process() -> None:
    """The order in which names are made is not that of a hash, of which each process has its own."""
    code = "import sys; from ppl import compile_model; print(compile_model(sys.argv[1]).python_source)"
    texts = {
        subprocess.run(
            [sys.executable, "-c", code, PREDICTOR],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2", "3")
    }
    assert texts == {compile_model(PREDICTOR).python_source.strip()}
