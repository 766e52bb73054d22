"""Which functions of the program are written out where a loop calls them."""

from dataclasses import replace

import numpy as np
import pytest
from laws.batches import assert_as_alone, errors_of_batches
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS
from ppl.optimise.passes import inline

PROGRAM = """
functions {{ {} }}
data {{ int N; vector[N] x; }}
parameters {{ real z; }}
model {{ for (n in 1:N) target += -square(f(x[n] * z, 3)); }}
"""
DATA = {"N": 4, "x": [0.3, -0.7, 1.1, 2.4]}

WRITTEN_OUT = {
    "a return on each side": "real f(real a, int k) { if (a > 0) return a; else return k * a; }",
    "a return on one side of a branch": """real f(real a, int k) {
        if (a > 0) { if (a > k * 0.1) return a; } return k * a; }""",
    "returns on the inner sides": """real f(real a, int k) {
        if (a > 0) { if (a > 1) return a; else return 2 * a; } return k * a; }""",
    "a return in a loop": "real f(real a, int k) { for (i in 1:k) if (a > i) return a; return k * a; }",
    "returns on every side": """real f(real a, int k) {
        if (a > 0) { if (a > 1) return a; else return 2 * a; } else { real b = a; return k * b; } }""",
}
DOWN = "real f(real a, int k) { if (k == 0) return a; return 0.5 * f(tanh(a), k - 1); }"


def calls(text: str) -> int:
    return sum(isinstance(n, ir.CallUser) for n in walk(ARRAYS.of(lowered(text)).model))


@pytest.mark.parametrize("f", WRITTEN_OUT.values(), ids=WRITTEN_OUT)
def test_a_function_is_written_out(f: str) -> None:
    text = PROGRAM.format(f)
    assert calls(text) == 0
    assert_same(posterior(text, DATA), reference(text, DATA), np.array([0.7]))
    with errors_of_batches() as errors:
        assert_as_alone(posterior(text, DATA), np.linspace(-2, 2, 6)[:, None])
    assert not errors


@pytest.mark.parametrize(("name", "most"), [("deepest", 4), ("most_calls", 4)])
def test_limits_of_functions_that_call_themselves(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Down from 3 are four calls."""
    text = PROGRAM.format(DOWN)
    for limit in (most, most - 1):
        monkeypatch.setattr(inline, "INLINING", replace(inline.INLINING, **{name: limit}))
        assert calls(text) == (0 if limit == most else 1)


def test_a_long_function_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    text = PROGRAM.format(WRITTEN_OUT["a return on each side"])
    nodes = sum(1 for _ in walk(lowered(text).functions[0].body))
    for longest in (nodes, nodes - 1):
        monkeypatch.setattr(inline, "INLINING", replace(inline.INLINING, longest=longest))
        assert calls(text) == (0 if longest == nodes else 1)
