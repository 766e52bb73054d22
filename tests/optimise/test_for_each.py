"""Loops over elements: their order, what changes while they run, and that they become arrays."""

import numpy as np
import pytest
from laws.passes import assert_law, lowered, reference

from ppl.optimise.forms import LOOPS
from ppl.optimise.passes.vectorise_loops import vectorised

PROGRAM = """
parameters {{ vector[2] v; matrix[2, 3] m; array[2] vector[2] p; }}
model {{ real s = 0; array[2] vector[2] x = p; {body} target += s; }}
"""
V, M, P = [2.0, 3.0], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0.5, 1.0], [1.5, 2.5]]
U = np.concatenate([V, np.ravel(M, order="F"), np.ravel(P)])
BODIES = {
    "a vector": ("for (e in v) s = 10 * s + e;", 23),
    "a matrix, row by row": ("for (e in m) s = 10 * s + e;", 123456),
    "a row of it left": ("for (e in m) { if (e == 2 || e == 5) break; s = 10 * s + e; }", 14),
    "the rest of an iteration": ("for (e in m) { if (e == 2) continue; s = 10 * s + e; }", 13456),
    "an expression, once": ("for (e in v + 1) s = 10 * s + e;", 34),
    "rows of an array": ("for (e in p) s += e[2];", 3.5),
    "nothing": ("for (e in v[1:0]) s += e;", 0),
    # What an iteration sees of a variable that it changes is the entry as it began.
    "an entry of its own, set": ("for (e in x) { x[1, 1] = 5; x[2] += e; } s = x[2, 1];", 4.0),
    "a later entry, set": ("for (e in x) { x[2] = [7, 8]'; s = 10 * s + e[1]; }", 12.0),
    "sums": ("for (e in v) target += -e ^ 2;", -13),
}


@pytest.mark.rotate
@pytest.mark.parametrize("name", BODIES)
def test_elements_come_in_stans_order(name: str) -> None:
    body, value = BODIES[name]
    text = PROGRAM.format(body=body)
    assert reference(text, {}).log_density(U) == pytest.approx(value, abs=1e-9)
    assert_law(text, {}, U)


def test_a_loop_over_elements_becomes_arrays() -> None:
    program = lowered(PROGRAM.format(body="for (e in v) e ~ normal(0, 1); for (e in m) e ~ normal(0, 1);"))
    notes = vectorised(LOOPS.of(program))[1]
    assert [note.reason for note in notes] == ["", ""]
