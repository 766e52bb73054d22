"""Functions that solvers work on are evaluated at many points at once, or at one after the other."""

import numpy as np
import pytest
from laws.passes import lowered

import ppl
from ppl.optimise.passes.solver_functions import solver_functions

INTEGRAL = """
functions { real f(real t, real tc, array[] real th, data array[] real xr, data array[] int xi) { BODY } }
parameters { real<lower=0> a; }
model { target += integrate_1d(f, 0, 1, {a}, {0.5}, {1}, 1e-4); }
"""
EQUATIONS = """
functions {
  vector f(real t, vector y, real a) { BODY }
  vector g(real t, vector y, real a) { if (t > a) return [a]'; return [a]'; }
}
parameters { real<lower=0> a; }
model { target += ode_rk45(f, [2.0]', 0, {1.0}, a)[1] + ode_rk45(g, [0.0]', 0, {1.0}, a)[1]; }
"""
PROGRAMS = {
    "a number from different places": (
        INTEGRAL.replace("BODY", "if (t > th[1]) return th[1]; return t;"),
        {"f": "at once"},
        lambda a: a * (1 - a / 2),
    ),
    "a number from a loop": (
        INTEGRAL.replace("BODY", "for (i in 1:9) if (i * 0.5 > th[1]) return i * t; return t;"),
        {"f": "at once"},
        lambda a: np.ceil(2 * a) / 2,
    ),
    "a vector from one place": (
        EQUATIONS.replace("BODY", "return [-a * y[1]]';"),
        {"f": "at once", "g": "each"},
        lambda a: 2 * np.exp(-a) + a,
    ),
    "vectors from different places": (
        EQUATIONS.replace("BODY", "if (t > a) return [-a * y[1]]'; return [-a * y[1]]';"),
        {"f": "each", "g": "each"},
        lambda a: 2 * np.exp(-a) + a,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_is_lifted_over_the_points_or_called_at_each(name: str) -> None:
    text, how, exact = PROGRAMS[name]
    at_points = solver_functions(lowered(text)).at_points
    found = {each.name.rstrip("_"): each.lifted_name for each in at_points}
    assert {f: "each" if lifted == f"{f}___each__" else "at once" for f, lifted in found.items()} == how
    a = np.array([0.2, 0.4, 0.7, 0.9])
    values = ppl.compile_model(text).condition({}).log_densities(np.log(a)[:, None], jacobian=False)
    np.testing.assert_allclose(values, exact(a), rtol=1e-4)
