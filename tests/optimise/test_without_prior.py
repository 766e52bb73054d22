"""Which statement is the zero-mean Gaussian prior of a parameter."""

import pytest
from laws.passes import lowered

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import ARRAYS
from ppl.optimise.passes.without_prior import NoSuchPrior, without_prior

PROGRAM = """
data {{ int K; }}
parameters {{ vector[K] a; vector[K] b; }}
model {{ a ~ normal(0, 2); {} }}
"""


@pytest.mark.parametrize("prior", ["b ~ normal(0, 3);", "b ~ normal(0, a[1]);", "b ~ std_normal();"])
def test_the_prior_of_the_parameter_alone_goes(prior: str) -> None:
    program = lowered(PROGRAM.format(prior))
    assert without_prior(program, ARRAYS.of(program), "b").model == program.model[:1]


def test_other_statements_are_no_priors() -> None:
    program = lowered(PROGRAM.format("b ~ normal(0, 3); target += -square(a[1]); real c = 2; target += c;"))
    less = without_prior(program, ARRAYS.of(program), "b")
    assert less.model == (program.model[0], *program.model[2:])


def test_a_prior_in_a_loop_over_the_entries_goes() -> None:
    program = lowered(PROGRAM.format("for (k in 1:K) { a[k] ~ normal(1, 2); b[k] ~ normal(0, 3); }"))
    less = without_prior(program, ARRAYS.of(program), "b")
    assert [s for s in walk(less.model) if isinstance(s, ir.Increment)] == [
        s for s in walk(program.model) if isinstance(s, ir.Increment)
    ][:2]


@pytest.mark.parametrize(
    "others",
    [
        "",
        "b ~ normal(1, 3);",
        "b ~ normal(a, 3);",
        "b ~ cauchy(0, 3);",
        "b ~ normal(0, 3); b ~ std_normal();",
    ],
)
def test_a_parameter_without_just_one_such_prior_is_refused(others: str) -> None:
    with pytest.raises(NoSuchPrior):
        program = lowered(PROGRAM.format(others))
        without_prior(program, ARRAYS.of(program), "b")
