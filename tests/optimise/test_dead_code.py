"""Other names of variables and index sets that nothing reads go; what is computed or checked stays."""

import pytest
from laws.passes import lowered

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS

PROGRAM = """
data {{ int N; vector[N] x; }}
parameters {{ real a; vector[3] v; }}
transformed parameters {{ real shown = a; }}
model {{ {body} target += -a ^ 2; }}
"""
GOES = {
    "another name": "real q = a;",
    "another name of another name": "real q = a; real r = q;",
    "index sets": "for (n in 1:N) for (m in 1:N) { real q = a; }",
}
UNCHANGED = {
    "an index that may be wrong": "real q = x[7];",
    "a size that may be wrong": "vector[2] q = v;",
    "a computation": "real q = exp(a);",
    "a second value": "real q = 1; q = a;",
}


def assigned(body: str, block: str = "model") -> set[str]:
    program = ARRAYS.of(lowered(PROGRAM.format(body=body)))
    return {n.name for n in walk(getattr(program, block)) if isinstance(n, ir.Assign)}


@pytest.mark.parametrize("body", GOES.values(), ids=GOES)
def test_what_is_but_a_name_goes(body: str) -> None:
    assert not assigned(body)


@pytest.mark.parametrize("body", UNCHANGED.values(), ids=UNCHANGED)
def test_what_is_computed_or_checked_stays(body: str) -> None:
    assert assigned(body) == {"q"}


def test_outputs_stay() -> None:
    assert assigned("", "transformed_parameters") == {"shown"}
