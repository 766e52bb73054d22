"""The mean and the variance on the page of a distribution are those of its density."""

import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

import ppl
from ppl.arrays import NUMPY
from ppl.cli.site.moments import MOMENTS
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.table import DISTRIBUTIONS

BY_NAME = {d.name: d for d in DISTRIBUTIONS}
VALUES = {
    "N": 7,
    "a": 9,
    "b": 6,
    "alpha": 5.5,
    "beta": 6.5,
    "eta": 0.4,
    "kappa": 3.2,
    "lower": 2,
    "mu": 0.4,
    "nu": 9.5,
    "sigma": 0.8,
    "tau": 0.3,
    "theta": 0.3,
    "upper": 9,
    "y_min": 0.7,
}
"""Of the arguments, by their names; both moments of every family are finite there."""
OTHER = 1.3
WHOLE = np.arange(0, 3000)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # outside the support
@pytest.mark.filterwarnings("error::scipy.integrate.IntegrationWarning")  # of a moment that is infinite
@pytest.mark.parametrize("name", MOMENTS)
def test_mean_and_variance_are_those_of_the_density(name):
    d = BY_NAME[name]
    args = {arg: VALUES.get(arg, OTHER) for arg, _ in d.args[1:]}

    def density(y):
        return np.exp(d.log_density(NUMPY, y, *map(np.asarray, args.values())))

    def expected(f):
        if d.discrete:
            return np.sum(f(WHOLE) * density(WHOLE))
        breaks = [-np.inf, 0.0, 0.4, 0.7, 1.0, 5.5, 6.5, np.inf]
        return sum(quad(lambda y: f(y) * density(y), *ends)[0] for ends in pairwise(breaks))

    mean = expected(lambda y: y)
    variance = expected(lambda y: (y - mean) ** 2)
    assert expected(np.ones_like) == pytest.approx(1, rel=1e-6)
    assert computed(MOMENTS[name], args) == pytest.approx([mean, variance], rel=1e-5)


def computed(moments, args):
    """Both formulas, as the language computes them."""
    program = f"""
        data {{ {" ".join(f"real {arg};" for arg in args)} }}
        generated quantities {{ vector[2] found = [{moments.mean}, {moments.variance}]'; }}"""
    free = re.compile(r"\b(lower|upper)\b")  # words of the language
    posterior = ppl.compile_model(free.sub(r"\1_", program)).condition(
        {free.sub(r"\1_", arg): value for arg, value in args.items()}
    )
    return posterior.param_constrain(np.zeros(0), include_gq=True)


WITHOUT = {"cauchy": "it has none", "von_mises": "they depend on where the circle is cut"}
"""Why a family has no mean and variance in the table, as where they have no closed form in the language."""


def test_every_other_family_with_a_formula_has_moments():
    missing = FORMULAS.keys() - MOMENTS.keys()
    assert missing == WITHOUT.keys(), "add mean and variance to cli/site/moments.py"


def test_every_condition_bounds_an_argument():
    for name, (_, _, *conditions, _) in MOMENTS.items():
        for condition in filter(None, conditions):
            arg, sign, bound = condition.split()
            assert arg in dict(BY_NAME[name].args) and sign in "<>", f"{name}: {condition}"
            assert (VALUES.get(arg, OTHER) < float(bound)) == (sign == "<"), f"add {arg} to VALUES"
