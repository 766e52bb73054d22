"""Mean and variance on the page of a distribution, and expected values, are those of its density."""

import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

import ppl
from ppl.arrays import NUMPY
from ppl.results.fits.by_row import arrays_of, predictive_table
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.table import DISTRIBUTIONS

BY_NAME = {d.name: d for d in DISTRIBUTIONS}
MOMENTS = {name: d.moments for name, d in BY_NAME.items() if name in FORMULAS and d.moments.mean}
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
INSIDE = {"uniform": 6.2}
"""A point inside of a support that depends on arguments."""


def arguments(d):
    return {arg: VALUES.get(arg, OTHER) for arg, _ in d.args[1:]}


@pytest.fixture(scope="module")
def expected_values():
    """The expected value of an outcome of each distribution, in one program of all."""
    data, model = list[str](), list[str]()
    for name in MOMENTS:
        data.append(f"{'int' if BY_NAME[name].discrete else 'real'} y_{name};")
        model.append(f"y_{name} ~ {name}({', '.join(map(str, arguments(BY_NAME[name]).values()))});")
    blocks = f"data {{ {' '.join(data)} }} parameters {{ real m; }} "
    program = blocks + f"model {{ m ~ normal(0, 1); {' '.join(model)} }}"
    posterior = ppl.compile_model(program).condition({f"y_{name}": 1 for name in MOMENTS})
    return arrays_of(*predictive_table(posterior, np.zeros((1, 1)), 1, means=True))


@pytest.mark.rotate
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # outside the support
@pytest.mark.filterwarnings("error::scipy.integrate.IntegrationWarning")  # of a moment that is infinite
@pytest.mark.parametrize("name", MOMENTS)
def test_mean_and_variance_are_those_of_the_density(name, expected_values):
    d = BY_NAME[name]
    args = arguments(d)

    def density(y):
        return np.exp(d.log_density(NUMPY, y, *map(np.asarray, args.values())))

    def expected(f, *within):
        if d.discrete:
            return np.sum(f(WHOLE) * density(WHOLE))
        breaks = sorted([-np.inf, 0.0, 0.4, 0.7, 1.0, 5.5, 6.5, np.inf, *within])
        return sum(quad(lambda y: f(y) * density(y), *ends)[0] for ends in pairwise(breaks))

    mean = expected(lambda y: y)
    variance = expected(lambda y: (y - mean) ** 2)
    assert expected(np.ones_like) == pytest.approx(1, rel=1e-6)
    assert expected_values[f"y_{name}"] == pytest.approx(mean, rel=1e-5)
    of_density, own = [mean, variance], [MOMENTS[name].mean, MOMENTS[name].variance]
    if MOMENTS[name].beyond:
        at = 3 if d.discrete else INSIDE.get(name, 0.75)
        above = np.greater_equal if d.discrete else np.greater
        of_density.append(expected(lambda y: (y - mean) * above(y, at), at) / density(at))
        own.append(MOMENTS[name].beyond)
        args["y"] = at
    assert computed(own, args) == pytest.approx(of_density, rel=1e-5)


def computed(formulas, args):
    """The formulas, as the language computes them."""
    program = f"""
        data {{ {" ".join(f"real {arg};" for arg in args)} }}
        generated quantities {{ vector[{len(formulas)}] found = [{", ".join(formulas)}]'; }}"""
    free = re.compile(r"\b(lower|upper)\b")  # words of the language
    posterior = ppl.compile_model(free.sub(r"\1_", program)).condition(
        {free.sub(r"\1_", arg): value for arg, value in args.items()}
    )
    return posterior.param_constrain(np.zeros(0), include_gq=True)


def test_every_distribution_has_a_mean_or_says_why_not():
    for name, d in BY_NAME.items():
        m = d.moments
        assert sum(map(bool, (m.mean, m.probabilities, m.without))) == 1, name
        assert bool(m.variance) == bool(m.mean) or name in MEAN_ALONE, name


MEAN_ALONE = ("lkj_corr", "multi_gp", "multi_gp_cholesky")


def test_probabilities_of_categories_are_those_of_the_density():
    values = {"theta": "[0.2, 0.5, 0.3]'", "beta": "[1, -0.5, 0.2]'", "eta": "0.4", "c": "[-1, 0.7]'"}
    for name in ("categorical", "categorical_logit", "ordered_logistic", "ordered_probit"):
        args = [arg for arg, _ in BY_NAME[name].args[1:]]
        types = {arg: "real" if arg == "eta" else f"vector[num_elements({values[arg]})]" for arg in args}
        declared = " ".join(f"{types[arg]} {arg} = {values[arg]};" for arg in args)
        masses = ", ".join(f"exp({name}_lpmf({k} | {', '.join(args)}))" for k in (1, 2, 3))
        program = f"""generated quantities {{ vector[6] found; {{ {declared}
            found = append_row({BY_NAME[name].moments.probabilities}, [{masses}]'); }} }}"""
        found = ppl.compile_model(program).condition().param_constrain(np.zeros(0), include_gq=True)
        assert found[:3] == pytest.approx(found[3:], rel=1e-12) and found[:3].sum() == pytest.approx(1)


def test_every_condition_bounds_an_argument():
    for name, m in MOMENTS.items():
        for condition in filter(None, (m.if_mean, m.if_variance)):
            arg, sign, bound = condition.split()
            assert arg in dict(BY_NAME[name].args) and sign in "<>", f"{name}: {condition}"
            assert (VALUES.get(arg, OTHER) < float(bound)) == (sign == "<"), f"add {arg} to VALUES"
