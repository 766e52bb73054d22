"""The programs of loops/ on small data: Stan's densities and gradients, and the same without passes."""

import json
import math

import numpy as np
import pytest
from laws.passes import assert_same, posterior, reference

from ppl.kernel.draws.columns import reshape, variables
from tests.benchmarks.loops.simulate import HERE, simulated

STAN = json.loads((HERE / "stan.json").read_text())
"""Stan 2.35's numbers; of simplexes, whose transform changed, those in the space of the parameters."""
DATA = simulated(small=True)


@pytest.mark.parametrize("name", STAN)
def test_densities_and_gradients_are_those_of_stan(name):
    conditioned, expected = posterior((HERE / f"{name}.stan").read_text(), DATA[name]), STAN[name]
    if "u" in expected:
        value, gradient = conditioned.log_density_gradient(np.array(expected["u"]))
        assert math.isclose(value, expected["lp"], rel_tol=1e-12)
        np.testing.assert_allclose(gradient, expected["grad"], rtol=1e-9, atol=1e-9)
    else:
        u = conditioned.param_unconstrain(values_of(expected["constrained"]))
        assert math.isclose(conditioned.log_density(u, jacobian=False), expected["lp_nojac"], rel_tol=1e-11)


@pytest.mark.rotate
@pytest.mark.parametrize("name", DATA)
def test_passes_change_nothing(name):
    text = (HERE / f"{name}.stan").read_text()
    plain = reference(text, DATA[name])
    u = np.random.default_rng(3).uniform(-1, 1, plain.param_unc_num())
    assert_same(posterior(text, DATA[name]), plain, u)


def values_of(columns):
    """Values by name, of their own shapes, from Stan's columns."""
    row, names = np.array([*columns.values()])[None], [*columns]
    return {name: reshape(row, names, name)[0] for name in variables(names)}
