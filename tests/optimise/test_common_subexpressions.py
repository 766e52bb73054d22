"""What stands twice is computed once, unless it may have changed or may never be evaluated."""

import pytest
from laws.passes import assert_same, lowered, posterior, reference

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import VALUES

HEADER = """
functions {{ real noisy(real a) {{ return a * exp(a); }}
  real add_lp(real a) {{ target += a; return a; }} }}
data {{ int N; vector[N] x; array[N] int g; }}
parameters {{ real a; real b; vector[N] c; }}
model {{ {body} }}
"""
DATA = {"N": 3, "x": [0.3, -1.2, 0.5], "g": [2, 1, 2]}
U = [0.4, -0.7, 0.1, 0.9, -0.2]

BODIES = {
    "in two statements": ("x ~ normal(a, exp(b)); c ~ normal(a, exp(b));", 1),
    "in one": ("target += exp(b) * tanh(exp(b));", 1),
    "the largest": ("target += exp(a + b * x); target += exp(a + b * x) * 2;", 1),
    "a part that stands more often": ("target += sin(exp(b)) + cos(sin(exp(b))); target += exp(b);", 2),
    "in a branch": ("if (a > 0) target += exp(b) * exp(b); else target += exp(b) - exp(b) ^ 2;", 2),
    "in a profile": ('profile("p") { target += exp(b) * tanh(exp(b)); }', 1),
    "in a loop that stays": (
        "real q = a; while (q < 2) { real r = q * b; q += 1 + exp(r) * tanh(exp(r)); }",
        1,
    ),
    "an index of entries that take a branch, which are read and set": (
        "vector[N] q = a * x; for (n in 1:N) if (q[n] > 0) q[n] += b; target += sum(q);",
        1,
    ),
    "entries that a loop picks": ("for (n in 1:N) target += exp(c[g[n]]) * x[n] - c[g[n]] ^ 2;", 1),
    "once in each branch": ("if (a > 0) target += exp(b); else target += -exp(b);", 0),
    "where it may not be evaluated": ("target += a > 0 ? exp(b) : tanh(exp(b));", 0),
    "of a variable that changes": ("real q = a; target += exp(q); q = b; target += exp(q);", 0),
    "of entries that change": ("vector[3] q = c; target += exp(q[1]); q[1] = a; target += exp(q[1]);", 0),
    "of the target so far": ("target += exp(target() / 9 - 1); target += exp(target() / 9 - 1);", 0),
    "of what adds to the target": ("target += exp(add_lp(a)); target += exp(add_lp(a));", 0),
    "of functions of the program": ("target += noisy(a); target += noisy(a);", 0),
}


@pytest.mark.parametrize(("body", "shared"), BODIES.values(), ids=BODIES)
def test_an_expression_is_shared(body: str, shared: int) -> None:
    text = HEADER.format(body=body)
    program = VALUES.of(lowered(text))
    made = [n for n in walk(program.model) if isinstance(n, ir.Assign) and n.name.startswith("shared")]
    assert len(made) == shared
    assert_same(posterior(text, DATA), reference(text, DATA), U)


def test_what_a_function_computes_twice_is_shared_in_it() -> None:
    text = HEADER.format(body="target += twice(a, b);").replace(
        "functions {", "functions { real twice(real a, real b) { return exp(a * b) * cos(exp(a * b)); }"
    )
    (f,) = (f for f in VALUES.of(lowered(text)).functions if f.name.startswith("twice"))
    assert [n.name for n in walk(f.body) if isinstance(n, ir.Assign)] == ["shared_1__"]
    assert_same(posterior(text, DATA), reference(text, DATA), U)
