"""Centred hierarchies are found, and what is proposed for them compiles to the same posterior."""

import numpy as np
import pytest

import ppl
from ppl.programs.checked import analyse
from ppl.programs.nodes import Nodes
from ppl.programs.non_centred import centred
from ppl.source import SourceText

PROGRAM = "data {{ int J; vector<lower=0>[3] w; }} parameters {{ {0} }} model {{ {1} }}"
SCALES = "real m; real<lower=0> t; vector<lower=0>[3] s;"


def found(parameters: str, model: str):
    return list(centred(Nodes(*analyse(SourceText(PROGRAM.format(parameters, model))))))


@pytest.mark.parametrize(
    ("declaration", "statement", "non_centred"),
    [
        ("vector[3] x;", "x ~ normal(m, t)", "vector<offset=m, multiplier=t>[3] x;"),
        ("vector[3] x;", "x ~ normal(0.0, t * w)", "vector<multiplier=t * w>[3] x;"),
        ("vector[3] x;", "x ~ student_t(4, 1, s)", "vector<offset=1, multiplier=s>[3] x;"),
        ("array[3] real x;", "x ~ normal(m, exp(t))", "array[3] real<offset=m, multiplier=exp(t)> x;"),
        ("matrix[2, 3] x;", "to_vector(x) ~ normal(0, t)", None),
        ("vector[3] x;", "for (j in 1:3) x[j] ~ normal(m, t)", "vector<offset=m, multiplier=t>[3] x;"),
        ("vector[3] x;", "for (j in 1:3) x[j] ~ normal(m, s[j])", None),
        ("vector[3] x;", "x ~ normal(m, w)", None),
        ("vector[3] x;", "x ~ normal(x[1], t)", None),
        ("vector<lower=0>[3] x;", "x ~ normal(m, t)", None),
        ("array[3] real x;", "x ~ normal(m, s)", None),
        ("real x;", "x ~ normal(m, t)", None),
        ("vector[3] x;", "x ~ normal(m, t); x ~ normal(0, 1)", None),
    ],
)
def test_the_declaration_that_makes_it_non_centred(declaration, statement, non_centred):
    cases = found(SCALES + declaration, statement + ";")
    assert [c.non_centred for c in cases] == ([non_centred] if non_centred else [])
    if non_centred is None:
        return
    (case,) = cases
    assert case.in_order
    plain, other = (
        ppl.compile_model(PROGRAM.format(SCALES + text, statement + ";")).condition({"J": 3, "w": [1, 2, 3]})
        for text in (declaration, non_centred)
    )
    rng = np.random.default_rng(1)
    for _ in range(2):
        values = {"m": rng.normal(), "t": rng.uniform(), "s": rng.uniform(size=3), "x": rng.normal(size=3)}
        densities = [p.log_density(p.param_unconstrain(values), jacobian=False) for p in (plain, other)]
        assert densities[0] == pytest.approx(densities[1], rel=1e-12)


def test_what_is_declared_before_its_scale_is_not_in_order():
    (case,) = found("vector[3] x; real<lower=0> t;", "x ~ normal(0, t);")
    assert not case.in_order
