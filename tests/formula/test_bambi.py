"""Posteriors of programs written from formulas beside those of bambi, on ten simulated data sets.

bambi.json has means and sds by bambi 0.17.2 and PyMC 5.28.5 (3,000 to 5,000 draws of NUTS), given the
priors that the programs state, and predictors minus the centres there.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import ppl

pytest.importorskip("formulae")

THEIRS = json.loads(Path(__file__).with_name("bambi.json").read_text())
LARGEST_SHIFT, LARGEST_LOG_RATIO = 0.15, 0.15
"""Of a mean, in sds, and of an sd."""


def gaussian(rng, n=240):
    x, z, sex = rng.normal(12, 3, n), rng.normal(-1, 0.7, n), rng.choice(["F", "M"], n)
    region = rng.choice(["east", "north", "south"], n)
    mu = 3 + 0.4 * x - 1.2 * z + 0.8 * (sex == "M") + 0.5 * (region == "south")
    return {"x": x, "z": z, "sex": sex, "region": region, "y": mu + rng.normal(0, 1.7, n)}


def student(rng, n=300):
    x, sex = rng.normal(0, 1.3, n), rng.choice(["F", "M"], n)
    mu = 50 + 6 * x + 3 * (sex == "M") - 4 * x * (sex == "M")
    return {"x": x, "sex": sex, "y": mu + 7 * rng.standard_t(4, n)}


def bernoulli(rng, n=600):
    x, sex, g = rng.normal(55, 10, n), rng.choice(["f", "m"], n), rng.integers(0, 15, n)
    eta = -0.4 + 0.05 * (x - 55) + 0.7 * (sex == "m") + rng.normal(0, 0.9, 15)[g]
    return {"x": x, "sex": sex, "g": [f"c{k:02d}" for k in g], "y": rng.binomial(1, 1 / (1 + np.exp(-eta)))}


def binomial(rng, n=80):
    x, treat, trials = rng.normal(0, 1, n), rng.choice(["no", "yes"], n), rng.integers(5, 40, n)
    p = 1 / (1 + np.exp(1 - 0.6 * x - 0.5 * (treat == "yes")))
    return {"x": x, "treat": treat, "trials": trials, "y": rng.binomial(trials, p)}


def poisson(rng, n=200):
    x, z, e = rng.normal(2, 1, n), rng.uniform(-1, 1, n), rng.uniform(0.5, 9, n)
    return {"x": x, "z": z, "e": e, "y": rng.poisson(e * np.exp(-0.8 + 0.35 * x - 0.4 * z))}


def negative_binomial(rng, n=300):
    x, treat = rng.normal(0, 1, n), rng.choice(["a", "b"], n)
    mean = np.exp(1.4 + 0.3 * x + 0.5 * (treat == "b") - 0.4 * x * (treat == "b"))
    return {"x": x, "treat": treat, "y": rng.negative_binomial(2.2, 2.2 / (2.2 + mean))}


def gamma(rng, n=250):
    x, region = rng.normal(0, 1, n), rng.choice(["p", "q", "r", "s"], n)
    mean = np.exp(2 + 0.25 * x + 0.3 * (region == "q") - 0.5 * (region == "s"))
    return {"x": x, "region": region, "y": rng.gamma(3.0, mean / 3.0)}


def beta(rng, n=200):
    x, sex = rng.normal(0, 1, n), rng.choice(["F", "M"], n)
    mean = 1 / (1 + np.exp(-(0.3 - 0.5 * x + 0.6 * (sex == "M"))))
    return {"x": x, "sex": sex, "y": rng.beta(mean * 9, (1 - mean) * 9)}


def cumulative(rng, n=350):
    x, sex = rng.normal(0, 1, n), rng.choice(["F", "M"], n)
    latent = 0.9 * x - 0.6 * (sex == "M") + rng.logistic(0, 1, n)
    return {"x": x, "sex": sex, "y": 1 + np.digitize(latent, [-1.5, 0.2, 1.9])}


def slopes(rng, n=420):
    x, g = rng.normal(0, 1, n), rng.integers(0, 14, n)
    a, b = rng.normal(0, 1.5, 14), rng.normal(0, 0.6, 14)
    y = 10 + a[g] + (1.1 + b[g]) * x + rng.normal(0, 1.2, n)
    return {"x": x, "g": [f"g{k:02d}" for k in g], "y": y}


SETS = {
    "gaussian": (gaussian, "y ~ x + z + sex + region", "gaussian"),
    "student": (student, "y ~ x * sex", "student"),
    "bernoulli": (bernoulli, "y ~ x + sex + (1 | g)", "bernoulli"),
    "binomial": (binomial, "p(y, trials) ~ x + treat", "binomial"),
    "poisson": (poisson, "y ~ x + z + offset(log(e))", "poisson"),
    "negative_binomial": (negative_binomial, "y ~ x * treat", "negative_binomial"),
    "gamma": (gamma, "y ~ x + region", "gamma"),
    "beta": (beta, "y ~ x + sex", "beta"),
    "cumulative": (cumulative, "y ~ x + sex", "ordinal"),
    "slopes": (slopes, "y ~ x + (1 + x | g)", "gaussian"),
}


@pytest.mark.whole
@pytest.mark.parametrize("name", SETS)
def test_posteriors_are_those_of_bambi(name):
    simulate, formula, family = SETS[name]
    data = simulate(np.random.default_rng(4101 + [*SETS].index(name)))
    frame = pytest.importorskip("pandas").DataFrame(data)
    fit = ppl.compile_model(ppl.from_formula(formula, frame, family)).condition(frame).variational(seed=1)
    rows = {row.name: row for row in fit.summary()}
    assert rows.keys() == THEIRS[name].keys()
    for column, (mean, sd) in THEIRS[name].items():
        assert abs(rows[column].mean - mean) < LARGEST_SHIFT * sd, column
        assert abs(np.log(rows[column].sd / sd)) < LARGEST_LOG_RATIO, column
