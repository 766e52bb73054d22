"""Declarations without a value go where the variable is set whole and its size cannot be negative."""

import pytest
from laws.passes import lowered

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS

HEADER = """
functions {{ real added(int n, vector v) {{ {filled} return sum(w); }} }}
data {{ int<lower=0> N; int<lower=-2> L; int<upper=9> U; int M; array[N] int g; vector[N] x; }}
parameters {{ real a; vector[3] v; }}
model {{ {body} }}
"""


def filled(size: str) -> str:
    return f"vector[{size}] mu; for (n in 1:{size}) mu[n] = a * n; target += sum(mu);"


SET_WHOLE = {
    "a size of the data": filled("N"),
    "a literal size": filled("3"),
    "no entries": filled("0"),
    "a local size": f"int k = N; {filled('k')}",
    "a local size of a local size": f"int k = 2; {{ int l = k; {filled('l')} }}",
    "the size of a container": f"int k = size(x); {filled('k')}",
    "in a branch": f"if (a > 0) {{ {filled('N')} }}",
    "in the step of a recurrence": """vector[N] y = x; for (n in 2:N) {
        vector[2] mu; for (i in 1:2) mu[i] = y[n - 1] * i; y[n] = a * sum(mu) + 1; } target += y;""",
    "never read": "vector[N] mu;",
    "a number": "real m; m = a; target += m;",
    "a vector": "vector[3] w; target += a; w = a * v; target += sum(w);",
    "in each step of a recurrence": "for (n in 2:N) { real m; m = a * x[n]; target += m * a; }",
}
LEFT = {
    "no bound": filled("M"),
    "a negative lower bound": filled("L"),
    "an upper bound": filled("U"),
    "one of two sizes": """matrix[N, M] mu; for (n in 1:N) for (m in 1:M) mu[n, m] = a * n * m;
        target += sum(mu);""",
    "an entry of data": filled("g[1]"),
    "a difference": f"int k = N - 1; {filled('k')}",
    "a local that may be negative": f"int k = M; {filled('k')}",
    "a negative literal": f"int k = -1; {filled('k')}",
    "a local that changes": f"int k = 2; k -= 3; {filled('k')}",
    "read before": "vector[3] mu; target += mu[1]; for (n in 1:3) mu[n] = a * n; target += sum(mu);",
    "read by what sets it": "vector[3] mu; mu = mu + v; target += sum(mu);",
    "a number that only one branch sets": "real mu; if (a > 0) mu = a; else mu = 1; target += mu;",
    "set in part": "vector[3] mu; mu[1] = a; target += mu[1];",
}


def declared(body: str, block: str = "model", of_function: str = "") -> list[str]:
    """The variables that a block declares without a value, once loops are arrays."""
    program = ARRAYS.of(lowered(HEADER.format(body=body, filled=of_function or "vector[1] w = v[1:1];")))
    return [n.name for n in walk(getattr(program, block)) if isinstance(n, ir.Declare)]


@pytest.mark.parametrize("body", SET_WHOLE.values(), ids=SET_WHOLE)
def test_a_variable_that_is_set_whole_is_not_initialised(body: str) -> None:
    assert declared(body) == []


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_other_declarations_stay(body: str) -> None:
    assert declared(body) == ["mu"]


@pytest.mark.parametrize(("size", "left"), [("size(v)", []), ("n", ["w"])])
def test_in_a_function_only_sizes_of_containers_are_known(size: str, left: list[str]) -> None:
    body = f"vector[{size}] w; for (i in 1:{size}) w[i] = v[i];"
    assert declared("target += added(N, v);", "functions", body) == left
