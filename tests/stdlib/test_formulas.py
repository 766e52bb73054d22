"""The formula on the page of a distribution is its log density."""

import re

import numpy as np
import pytest

import ppl
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.reference import reference

BY_NAME = {d.name: d for d in DISTRIBUTIONS}
WHOLE = ("int", "count", "trials", "lower_int", "upper_int")
"""Supports of arguments that are declared int."""
POINTS = {
    "N": (5, 4, 7),
    "a": (4, 6, 9),
    "b": (5, 4, 8),
    "lower": (0, 1, 1),
    "upper": (4, 3, 9),
    "mu": (0.4, 0.5, 0.7),
    "theta": (0.3, 0.6, 0.9),
    "tau": (0.3, 0.6, 0.8),
    "y_min": (0.2, 0.3, 0.1),
}
"""Three values of an argument by its name."""
OTHERS = (0.7, 1.6, 2.9)
"""Those of all others, a little more for each that comes later."""
VARIATES = {
    "bernoulli": (0, 1, 1),
    "bernoulli_logit": (0, 1, 1),
    "pareto": (1.3, 2.2, 4.1),
    "pareto_type_2": (1.3, 2.2, 4.1),
    "uniform": (0.9, 1.9, 3.2),
}
DISCRETE, CONTINUOUS = (1, 2, 3), (0.31, 0.83, 0.57)
"""Values of the variate of the other families, in the support of each."""


def values(d, k):
    """The arguments of the k-th point by name."""
    (variate, _), *params = d.args
    found = {name: POINTS.get(name, np.add(OTHERS, 0.15 * n))[k] for n, (name, _) in enumerate(params)}
    if d.name == "uniform":
        found = {"alpha": 0.1 * (k + 1), "beta": 4.0 + k}
    return {variate: VARIATES.get(d.name, DISCRETE if d.discrete else CONTINUOUS)[k], **found}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_is_the_log_density(name):
    d = BY_NAME[name]
    (variate, _), *params = d.args
    kinds = {
        arg: "int" if support in WHOLE or (arg == variate and d.discrete) else "real"
        for arg, support in d.args
    }
    given = [arg for arg, _ in params]
    program = f"""
        data {{ {" ".join(f"{kind} {arg};" for arg, kind in kinds.items())} }}
        parameters {{ real u; }}
        model {{ u ~ std_normal(); }}
        generated quantities {{
          real formula = {FORMULAS[name]};
          real density = {name}_{"lpmf" if d.discrete else "lpdf"}({variate} | {", ".join(given)});
        }}"""
    model = ppl.compile_model(free(program))
    for k in range(3):
        point = {free(arg): value for arg, value in values(d, k).items()}
        _, formula, density = model.condition(point).param_constrain(np.zeros(1), include_gq=True)
        assert np.isfinite(density), f"add a variate in the support of {name} to VARIATES"
        assert formula == pytest.approx(density, rel=1e-9, abs=1e-9), point


def free(text):
    """`lower` and `upper` are arguments of a distribution, but words of the language."""
    return re.sub(r"\b(lower|upper)\b", r"\1_", text)


WITHOUT = {"wiener": "its density is a series"}


def test_every_family_of_single_numbers_has_one():
    lone = {d.name for d in DISTRIBUTIONS if all(kind in ("reals", "ints") for kind in kinds_of(d))}
    assert lone - set(FORMULAS) == WITHOUT.keys(), "add the formula to ppl/stdlib/distributions/formulas.py"


def kinds_of(d):
    return re.findall(r"[\w\[\]]+", d.signatures[0] if d.signatures else "none")


def test_the_page_shows_it():
    assert "-square((y - mu) / sigma) / 2 - log(sigma) - log(2 * pi()) / 2" in reference()["normal"]
