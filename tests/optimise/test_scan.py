"""What a scan leaves for afterwards: the body runs at once with the states that are known."""

import numpy as np
import pytest
from laws.batches import assert_as_alone
from laws.passes import assert_same, lowered, model_of, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk, without
from ppl.optimise.forms import ARRAYS, DRAWS, POINTS_ARRAYS

PROGRAM = """
functions {{
  vector fall(vector v, real b) {{ if (b > 0.1) return b * v; return v - b; }}
}}
data {{ int T; vector[T] y; }}
parameters {{ real a; real<lower=0> b; }}
model {{ vector[T] x = y; real h = a; {} target += -square(h) - dot_self(x); }}
"""
DATA = {"T": 4, "y": [0.3, -0.7, 1.1, 0.4]}
U = np.array([0.4, -0.3])

SCANS = {
    "an entry that other terms read": """for (t in 2:T) { x[t] = tanh(b * x[t - 1] + y[t]);
        target += -square(x[t]) * b; }""",
    "an entry that is changed": """for (t in 2:T) { x[t] = tanh(b * x[t - 1] + y[t]);
        if (y[t] > 0) x[t] *= 2;
        target += -square(x[t]) * b; }""",
    "an entry of this step alone": """for (t in 1:T) { h = tanh(h + y[t]); x[t] = 2 * h;
        target += -square(x[t]); x[t] = x[t] + h; }""",
    "an entry that every step sets anew": """for (t in 1:T) { h = tanh(h + y[t]); x[2] = h * b; x[3] += h; }
        target += x[3];""",
    "a local of an entry of this step": """for (t in 1:T) { h = tanh(h + y[t]); x[t] = 2 * h;
        real r = x[t]; if (y[t] > 0) r = r + 1; target += -square(r); }""",
    "a start that is a parameter": "for (t in 1:T) { h = h * 0.5 + y[t]; real q = exp(h); target += -q; }",
    "a function that is not written out": "for (t in 1:T) h = 0.5 * tanh(h) + sum(fall([y[t], a]', h));",
}


@pytest.mark.rotate
@pytest.mark.parametrize("model", SCANS.values(), ids=SCANS)
def test_a_scan_gives_what_the_loop_gives(model: str) -> None:
    text = PROGRAM.format(model)
    forms = (ARRAYS.of(lowered(text)), POINTS_ARRAYS.of(lowered(text)))
    assert not [n for p in forms for n in p.model if isinstance(n, ir.For)], "the loop remains"
    assert_same(posterior(text, DATA), reference(text, DATA), U)
    assert_as_alone(model_of(text).condition(DATA), np.random.default_rng(1).normal(0.0, 0.5, (6, 2)))


def test_a_state_is_computed_once() -> None:
    text = PROGRAM.format(SCANS["an entry that other terms read"])
    body = without(ARRAYS.of(lowered(text)).model, lambda s: isinstance(s, ir.Scan))
    assert not [n for n in walk(body) if isinstance(n, ir.Apply) and n.callee.name == "tanh"]


def test_scans_are_made_for_gradients_alone() -> None:
    """They store every state; data and draws need the last."""
    loop = "real h = 0; for (t in 1:T) h = tanh(0.5 * h + y[t]);"
    moved = loop.replace("0.5", "a")
    text = f"""functions {{ real last(vector y, real a) {{ int T = size(y); {loop} return a * h; }} }}
    data {{ int T; vector[T] y; }}
    transformed data {{ real s; {{ {loop} s = h; }} }}
    parameters {{ real a; }}
    model {{ real m; {{ {moved} m = h; }} target += -square(a + m); }}
    generated quantities {{ real q; {{ {moved} q = h + last(a * y, a); }} }}"""
    p, draws = ARRAYS.of(lowered(text)), DRAWS.of(lowered(text))
    assert scans(p.model)
    assert not scans((p.transformed_data, p.generated_quantities))
    assert not scans((draws.generated_quantities, draws.functions))
    assert_same(posterior(text, DATA), reference(text, DATA), U[:1])


def scans(block: object) -> bool:
    return any(isinstance(n, ir.Scan) for n in walk(block))
