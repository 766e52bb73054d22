"""A local array whose entries are set one by one is a literal of variables for these."""

import numpy as np
import pytest
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import fresh_names, walk
from ppl.optimise.forms import LOOPS
from ppl.optimise.passes.entries import with_literals

PROGRAM = """
data {{ int N; vector[N] y; array[2] int k; }}
parameters {{ real a; vector[N] b; }}
model {{ {} }}
"""
DATA = {"N": 3, "y": [0.3, -0.7, 1.1], "k": [2, 1]}
U = np.array([0.4, -0.3, 0.8, 0.1])

LITERALS = {
    "an array": "array[2] real x; x[2] = a; x[1] = 3 * b[1]; target += -x[1] * x[2] ^ 2;",
    "a vector": "vector[3] x; x[1] = a; x[2] = 1; x[3] = b[2]; target += -dot_product(x, b);",
    "a matrix": """matrix[2, 2] x; x[1, 1] = a; x[1, 2] = b[1]; x[2, 1] = b[2]; x[2, 2] = 2;
        target += -sum(x * x) ^ 2;""",
    "an array of arrays": """array[2, 1] real x; x[1][1] = a; x[2, 1] = b[3];
        target += -x[1][1] * x[2][1] ^ 2;""",
    "read while it is filled": """vector[3] x; x[1] = a; x[2] = x[1] * b[1]; x[2] += x[1];
        x[3] = x[2] - x[1]; target += -dot_self(x);""",
    "in a loop": """for (n in 1:N) { vector[2] x; x[1] = y[n]; x[2] = a * b[n];
        target += -dot_self(x); }""",
    "of a recurrence": """vector[2] s = [0, 0]'; for (n in 1:N) { vector[2] x; x[1] = a * s[2] + y[n];
        x[2] = s[1] - b[n]; s = x; target += -dot_self(s); }""",
    "in a branch": "if (a > 0) { vector[2] x; x[1] = a; x[2] = b[1]; target += -dot_self(x); }",
    "of ints": "array[2] int i; i[1] = k[2]; i[2] = k[1]; target += -b[i[1]] ^ 2 * b[i[2]];",
}
ENTRY_BY_ENTRY = {
    "an entry of data among others": """vector[2] x; x[1] = a; x[k[2]] = 2; target += -x[1] * a; x[2] = a;
        target += -dot_self(x);""",
    "an entry never": "vector[3] x; x[1] = a; x[3] = b[2]; target += -x[1] * x[3] ^ 2;",
    "an entry by data": "vector[2] x; x[k[1]] = a; x[k[2]] = b[2]; target += -x[1] ^ 2 - x[2];",
    "read whole before": "vector[2] x; x[1] = a; x = x + 1; x[1] = a; x[2] = b[1]; target += -x[1] ^ 3;",
    "in a branch alone": """vector[2] x; x[1] = a; if (a > 0) x[2] = b[1]; else x[2] = 1;
        target += -dot_self(x);""",
    "of a size of the data": "vector[N] x; x[1] = a; x[2] = b[1]; x[3] = b[2]; target += -dot_self(x);",
    "by rows": "matrix[2, 3] x; x[1] = b'; x[2] = a * b'; target += -sum(x * x');",
}


def updates(code: str) -> int:
    return sum(isinstance(n, ir.Update) for n in walk(LOOPS.of(lowered(code))))


@pytest.mark.parametrize("model", LITERALS.values(), ids=LITERALS)
def test_entries_that_are_all_set_make_a_literal(model: str) -> None:
    code = PROGRAM.format(model)
    assert updates(code) == 0
    assert_same(posterior(code, DATA), reference(code, DATA), U)


@pytest.mark.parametrize("model", ENTRY_BY_ENTRY.values(), ids=ENTRY_BY_ENTRY)
def test_others_are_set_entry_by_entry(model: str) -> None:
    code = PROGRAM.format(model)
    assert updates(code) > 0
    assert_same(posterior(code, DATA), reference(code, DATA), U)


def test_a_block_may_have_thousands_of_them() -> None:
    """Each was a recursion deeper, and a program of 1,500 refused as nested too deeply."""
    block = lowered(PROGRAM.format(LITERALS["a vector"])).model
    changed = with_literals(block * 1500, fresh_names())
    assert not any(isinstance(n, ir.Update) for n in changed)
    assert len(changed) == 1500 * len(block)
