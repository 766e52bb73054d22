"""Jumps and returns from loops as flags, where what is returned has no size that must be known."""

import numpy as np
import pytest
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import fresh_names, walk
from ppl.optimise.passes.jumps import with_exit_flags

PROGRAM = """
functions {{ {} }}
data {{ int N; vector[N] x; }}
parameters {{ real z; }}
model {{ for (n in 1:N) {} }}
"""
DATA = {"N": 4, "x": [0.3, -0.7, 1.1, 2.4]}

FUNCTIONS = {
    "a number": (
        "real f(real a) { for (i in 1:3) if (a > i) return a * i; return -a; }",
        "target += f(x[n] * z);",
        False,
    ),
    "a number from two loops": (
        """real f(real a) { real s = 0; for (i in 1:3) for (j in i:3) { s += a; if (s > j) return s * i; }
          return s; }""",
        "target += f(x[n] * z);",
        False,
    ),
    "a container": (
        "vector f(vector a) { for (i in 1:3) if (a[1] > i) return a * i; return a; }",
        "target += sum(f([x[n], z]'));",
        True,
    ),
    "nothing": (
        "void f_lp(real a) { for (i in 1:3) { if (a > i) return; target += -a; } target += -1; }",
        "f_lp(x[n] * z);",
        True,
    ),
}


@pytest.mark.parametrize(("f", "call", "remains"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_return_in_a_loop(f: str, call: str, remains: bool) -> None:
    text = PROGRAM.format(f, call)
    body = with_exit_flags(lowered(text).functions[0].body, fresh_names())
    loops = (n for n in walk(body) if isinstance(n, ir.For))
    assert any(isinstance(n, ir.Return) for loop in loops for n in walk(loop.body)) is remains
    assert_same(posterior(text, DATA), reference(text, DATA), np.array([1.3]))
