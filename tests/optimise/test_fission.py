"""What of a step need not wait for the state leaves the step; what must wait stays."""

import numpy as np
import pytest
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import assigned_names, walk, without
from ppl.optimise.forms import ARRAYS

PROGRAM = """
data {{ int T; int K; vector[T] y; vector[K] w; }}
parameters {{ real a; vector[2] b; }}
model {{ real h = a; {} target += -square(h); }}
"""
DATA = {"T": 4, "K": 3, "y": [0.3, -0.7, 1.1, 0.4], "w": [0.5, -0.2, 0.9]}
U = np.array([0.4, -0.3, 0.8])

SCANS = {
    "a local that an inner loop moves before the state": """for (t in 1:T) { real v = y[t];
        for (k in 1:K) { v = v + 0.1 * k; h = tanh(0.5 * h + v); } }""",
    "a local that is set again after an inner loop": """for (t in 1:T) { real v = y[t];
        for (k in 1:K) h = tanh(0.5 * h + v);
        v = 3 * v; h = tanh(h - v); }""",
    "a local that the state decides": """for (t in 1:T) { real v = 1;
        if (h > 0.2) v = 2;
        h = tanh(0.5 * h + exp(v) * y[t]); }""",
    "a local that an inner loop sets from the state": """for (t in 1:T) { real v = 1;
        for (k in 1:K) v = tanh(v * h + w[k]);
        h = tanh(0.5 * h + exp(v) * y[t]); }""",
    "a loop that the state ends": """for (t in 1:T) { real v = 1;
        for (k in 1:(h > 0.2 ? 1 : K)) v = v + w[k];
        h = tanh(0.5 * h + exp(v) * y[t]); }""",
    "a local of an inner loop": """for (t in 1:T) for (k in 1:K) {
        real v = exp(w[k] * b[1]) + y[t]; v = 2 * v; h = tanh(0.5 * h + v); }""",
    "a vector of an inner loop": """for (t in 1:T) for (k in 1:K) {
        vector[2] v = b * w[k]; h = tanh(0.5 * h + sum(v) * y[t]); }""",
    "an inner loop from the second entry": """for (t in 1:T)
        for (k in 2:K) h = tanh(0.5 * h + exp(b[1] * w[k - 1]) + y[t]);""",
    "the same of another value": """for (t in 1:T) { real v = y[t];
        h = tanh(0.5 * h + exp(v)); v = v - 1; h = tanh(0.5 * h + exp(v)); }""",
}


@pytest.mark.rotate
@pytest.mark.parametrize("model", SCANS.values(), ids=SCANS)
def test_a_scan_gives_what_the_loop_gives(model: str) -> None:
    text = PROGRAM.format(model)
    assert "t" not in assigned_names(ARRAYS.of(lowered(text)).model), "the loop over t remains"
    assert_same(posterior(text, DATA), reference(text, DATA), U)


OUTSIDE = """for (t in 1:T) for (k in 1:K)
    h = tanh(h * exp(a) + exp(b[1] * w[k]) + exp(b[2] + y[t]) + exp(b[1] * w[k] - y[t]) + exp(a));"""


def test_each_expression_is_computed_as_often_as_it_differs() -> None:
    """In the step is what the state decides; `exp(a)` stands there twice and is one value."""
    p = ARRAYS.of(lowered(PROGRAM.format(OUTSIDE)))
    (scan,) = (n for n in walk(p.model) if isinstance(n, ir.Scan))
    inside, outside = (calls(body, "exp") for body in (scan.step, without(p.model, is_scan)))
    assert (inside, sorted(map(len, outside))) == ([], [0, 1, 1, 2])
    assert not any(isinstance(n, ir.For) for n in walk(without(p.model, is_scan))), (
        "entries are copied in a loop"
    )


def is_scan(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Scan)


def calls(body: tuple[ir.Stmt, ...], name: str) -> list[tuple[str, ...]]:
    """The axes of every call of a function."""
    return [n.axes for n in walk(body) if isinstance(n, ir.Apply) and n.callee.name == name]
