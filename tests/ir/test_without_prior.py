"""Which statement is the zero-mean Gaussian prior of a parameter."""

import pytest
from laws.passes import lowered

from ppl.ir.passes.without_prior import NoSuchPrior, without_prior

PROGRAM = """
data {{ int K; }}
parameters {{ vector[K] a; vector[K] b; }}
model {{ a ~ normal(0, 2); {} }}
"""


@pytest.mark.parametrize("prior", ["b ~ normal(0, 3);", "b ~ normal(0, a[1]);", "b ~ std_normal();"])
def test_the_prior_of_the_parameter_alone_goes(prior: str) -> None:
    program = lowered(PROGRAM.format(prior))
    assert without_prior(program, "b").program.model == program.model[:1]


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
        without_prior(lowered(PROGRAM.format(others)), "b")
