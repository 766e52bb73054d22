"""A tuple is as many variables as it has items, unless something reads or sets it as a whole."""

import numpy as np
import pytest
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import LOOPS
from ppl.types import Tuple, core

PROGRAM = """
functions {{
  tuple(real, real) pair(real a) {{ if (a > 0) return (a, 1.0); return (1.0, a); }}
  real first(tuple(real, real) t) {{ return t.1; }}
}}
data {{ int N; vector[N] y; array[2] int k; }}
parameters {{ real a; vector[N] b; }}
model {{ {} }}
"""
DATA = {"N": 3, "y": [0.3, -0.7, 1.1], "k": [2, 3]}
U = np.array([0.4, -0.3, 0.8, 0.1])

IN_PARTS = {
    "a tuple": "tuple(real, real) t = (a, 2.0); t.1 += t.2; target += -t.1 ^ 2;",
    "swapped": "tuple(real, real) t = (a, 2.0); t = (t.2, t.1); target += -t.1 * t.2 ^ 2;",
    "one from another": """tuple(real, real) t = (a, 2.0); tuple(real, real) s = t; s.1 = 3;
        target += -t.1 * s.1;""",
    "with a container": "tuple(vector[N], real) t = (b, a); t.1[2] = t.2; target += -dot_self(t.1);",
    "entries": """array[N] tuple(real, real) t; for (n in 1:N) t[n] = (y[n], b[n]);
        for (n in 1:N) target += -t[n].1 * t[n].2;""",
    "swapped entries": """array[N] tuple(real, real) t; for (n in 1:N) t[n] = (y[n], b[n]);
        for (n in 1:N) t[n] = (t[n].2 - 1, t[n].1); target += -t[2].1 ^ 2 - t[3].2;""",
    "entries of items": """array[N] tuple(vector[2], real) t;
        for (n in 1:N) { t[n].1 = b[1:2]; t[n].1[2] = a; }
        t[2].2 = 3 * a; target += -dot_self(t[1].1) - t[2].2 ^ 2;""",
    "entries of what a function gives": """array[N] tuple(real, real) t;
        for (n in 1:N) t[n] = pair(b[n]); for (n in 1:N) target += -t[n].1 * t[n].2;""",
}
WHOLE = {
    "an argument": "tuple(real, real) t = (a, 2.0); target += -first(t);",
    "what a function gives": "tuple(real, real) t = pair(a); target += -t.1 * t.2;",
    "several entries": """array[N] tuple(real, real) t; for (n in 1:N) t[n] = (y[n], b[n]);
        t[k] = {(a, 1.0), (2.0, a)}; target += -t[2].1 * t[3].2;""",
    "a range of entries": """array[N] tuple(real, real) t; for (n in 1:N) t[n] = (y[n], b[n]);
        t[1:2] = {(a, 1.0), (2.0, a)}; target += -t[2].1 * t[1].1;""",
    "all entries": """array[2] tuple(real, real) t; t = {(a, 1.0), (2.0, a)}; target += -t[2].1 * t[1].1;""",
}


def tuples(text: str) -> list[str]:
    """The variables that are tuples, or arrays of them."""
    body = LOOPS.of(lowered(text)).model
    return [n.name for n in walk(body) if isinstance(n, ir.Var) and isinstance(core(n.type), Tuple)]


@pytest.mark.parametrize("model", IN_PARTS.values(), ids=IN_PARTS)
def test_a_tuple_in_parts(model: str) -> None:
    text = PROGRAM.format(model)
    assert not {"t", "s"} & {*tuples(text)}
    assert_same(posterior(text, DATA), reference(text, DATA), U)


@pytest.mark.parametrize("model", WHOLE.values(), ids=WHOLE)
def test_a_tuple_as_a_whole(model: str) -> None:
    text = PROGRAM.format(model)
    assert "t" in tuples(text)
    assert_same(posterior(text, DATA), reference(text, DATA), U)
