"""A loop that data end early: the search for its last iteration computes nothing that has an effect."""

import numpy as np
import pytest
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS

PROGRAM = """
functions {{
  real add_lp(real a) {{ target += a; return a; }}
  real half(real a) {{ return a / 2; }}
}}
data {{ int N; vector[N] y; }}
parameters {{ real z; }}
model {{ {} }}
"""
DATA = {"N": 4, "y": [0.3, -0.7, 1.1, 2.4]}

LOOPS = {
    "by data": ("for (n in 1:N) { if (y[n] > 1) break; target += -y[n] * z; }", False),
    "after the terms": ("for (n in 1:N) { target += -y[n] * z; if (y[n] > 1) break; }", False),
    "by a function of data": ("for (n in 1:N) { if (half(y[n]) > 0.5) break; target += -y[n] * z; }", False),
    "by a parameter": ("for (n in 1:N) { if (y[n] * z > 1) break; target += -y[n] * z; }", True),
    "by what the loop adds up": (
        "real s = 0; for (n in 1:N) { s += y[n]; if (s > 0.6) break; target += z; }",
        True,
    ),
    "by a function that adds to the target": (
        "for (n in 1:N) { if (add_lp(y[n]) > 1) break; target += -y[n] * z; }",
        True,
    ),
    "by the target": ("for (n in 1:N) { if (target() > 1) break; target += y[n]; }", True),
    "not at all": ("for (n in 1:N) { if (y[n] > 9) break; target += -y[n] * z; } target += z;", False),
}


@pytest.mark.parametrize(("model", "remains"), LOOPS.values(), ids=LOOPS)
def test_a_loop_that_ends_early(model: str, remains: bool) -> None:
    text = PROGRAM.format(model)
    loops = [n for n in walk(ARRAYS.of(lowered(text)).model) if isinstance(n, ir.For) and n.variable == "n"]
    assert bool(loops) is remains
    assert_same(posterior(text, DATA), reference(text, DATA), np.array([1.3]))
