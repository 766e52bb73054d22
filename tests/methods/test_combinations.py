"""Any family runs with any estimator, any step rule with any stopping rule."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from toy_targets import correlated

from ppl.kernel.advi.elbo import estimate_elbo
from ppl.kernel.advi.estimators import ESTIMATORS
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.families.standard import STANDARDS
from ppl.kernel.advi.optimise import Algorithm, optimise
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.steps.step_rule import Polynomial
from ppl.kernel.advi.stopping import STOPPING
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings

DIM, ITERATIONS, EVERY = 2, 200, 20
TARGET = correlated(DIM)


def gain(family, estimator, step_rule, stopping):
    """What a short run adds to the ELBO of a start that is three units off, and how it ended."""
    start = family.start(TARGET.mean + 3.0)
    algorithm = Algorithm(
        family=family,
        estimator=estimator,
        step_rule=step_rule,
        stopping=stopping,
        averaging=Polynomial(),
        iterations=ITERATIONS,
        grad_samples=10,
        elbo_samples=10,
        eval_elbo=EVERY,
    )
    run, outcome = optimise(algorithm, TARGET, start, Context.of(Settings(seed=1)))
    before, after = (
        estimate_elbo(TARGET, family, params, 200, np.random.default_rng(3)).value
        for params in (start, run.average)
    )
    return after - before, outcome


@pytest.mark.rotate
@pytest.mark.parametrize(("family_name", "estimator"), list(product(FAMILIES, ESTIMATORS)))
def test_any_family_with_any_estimator(family_name, estimator):
    family = FAMILIES[family_name](DIM)
    rose, outcome = gain(family, ESTIMATORS[estimator], STEPS["adam"](0.3), STOPPING["fixed"](200, 20, 0.01))
    assert outcome.ending is Ending.COMPLETED
    assert rose > 1


@pytest.mark.rotate
@pytest.mark.parametrize(("step", "stopping"), list(product(STEPS, STOPPING)))
def test_any_step_rule_with_any_stopping_rule(step, stopping):
    rule = STOPPING[stopping](ITERATIONS, EVERY, 0.01)
    rose, outcome = gain(FAMILIES["fullrank"](DIM), ESTIMATORS["reparameterised"], STEPS[step](0.1), rule)
    assert outcome.ending is not Ending.DIVERGED
    assert rose > 1


@pytest.mark.parametrize("phi", STANDARDS)
@pytest.mark.parametrize("family_name", [name for name in FAMILIES if name != "lowrank"])
def test_any_standard_distribution(family_name, phi):
    family = replace(FAMILIES[family_name](DIM), standard=STANDARDS[phi]())
    rose, outcome = gain(
        family, ESTIMATORS["reparameterised"], STEPS["advi"](0.5), STOPPING["fixed"](200, 20, 0.01)
    )
    assert outcome.ending is Ending.COMPLETED and rose > 1
