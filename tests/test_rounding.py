"""Parameters that round to their bounds: where, and what a fit with mass there says of itself."""

import warnings

import numpy as np
import pytest

import ppl
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.verdict_rules import rounded_to_bounds

EVERY = """
data { real a; }
parameters {
  real m;
  real<lower=0> s;
  real<lower=a> t;
  real<upper=a> v;
  real<lower=0, upper=1> p;
  vector<lower=-a, upper=a>[2] w;
  array[2] matrix<lower=-1, upper=1>[2, 3] c;
  real<lower=m> l;
  simplex[3] k;
}
model { target += m + s + t + v + p + sum(w) + sum(c[1]) + l + k[1]; }
"""
SPACING = np.log(np.finfo(float).eps / 2)
AT_ENDS = "parameters { real<lower=0, upper=1> x; } model { x ~ beta(%s, %s); }"
BY_LOGIT = """
parameters { real<lower=0, upper=1> x; }
model { logit(x) ~ normal(%s, 1); target += -log(x * (1 - x)); }
"""
PRECISION = "parameters { real<lower=0> x; } model { x ~ gamma(0.001, 0.001); }"


def fitted(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ppl.compile_model(program).condition({}).variational(seed=4)


def test_the_limits_are_where_values_cease_to_change():
    posterior = ppl.compile_model(EVERY).condition({"a": 1e6})
    limits = dict(zip(posterior.param_unc_names(), posterior.rounding_limits.T, strict=True))
    assert limits["m"].tolist() == limits["k.1"].tolist() == [-np.inf, np.inf]
    near = SPACING + np.log(1e6)
    assert limits["s"] == pytest.approx([-746, 710], abs=2)
    assert limits["t"] == pytest.approx([near, 710], abs=2)
    assert limits["v"] == pytest.approx([near, 710], abs=2)
    assert limits["p"] == pytest.approx([-711, -SPACING], abs=2)
    for name in ("w.1", "w.2", "c.1.1.1", "c.2.2.3"):
        assert limits[name] == pytest.approx([SPACING, -SPACING], abs=2)
    for u, beyond in zip(posterior.rounding_limits, (-1.0, 1.0), strict=True):
        at = np.where(np.isfinite(u), u, 0.0)
        further = np.where(np.isfinite(u), u + beyond, 0.0)
        names = [posterior.param_names().index(name) for name in ("s", "t", "v", "p", "w.1", "c.2.2.3")]
        same = posterior.param_constrain(at) == posterior.param_constrain(further)
        assert same[names].all()


@pytest.mark.parametrize("program", [AT_ENDS % (0.01, 0.01), BY_LOGIT % 37, PRECISION])
def test_mass_where_a_parameter_is_its_bound_is_told(program):
    """Of beta(0.01, 0.01) a third lies where x rounds to 1, and next to nothing where it does to 0."""
    fit = fitted(program)
    assert fit.level is not Level.GOOD
    assert "doubles round x to it" in fit.judgement
    assert [*rounded_to_bounds(fit.verdict, str)]


@pytest.mark.parametrize("program", [AT_ENDS % (0.5, 0.5), AT_ENDS % (0.01, 20), BY_LOGIT % 20])
def test_mass_that_doubles_hold_is_no_matter(program):
    fit = fitted(program)
    assert not [*rounded_to_bounds(fit.verdict, str)]


REJECTS = """
functions { real near(real m) { if (abs(m) > 9) reject("far"); return m; } }
parameters { real<lower=0, upper=100> k; real<lower=near(k)> x; }
model { target += -x - k; }
"""


def test_no_limits_are_known_where_bounds_cannot_be_computed():
    posterior = ppl.compile_model(REJECTS).condition({})
    assert np.isinf(posterior.rounding_limits).all()
