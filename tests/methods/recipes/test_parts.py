"""Parts chosen by name: every algorithm with noisy steps takes every one, and nonsense is refused."""

from dataclasses import replace
from itertools import cycle, islice, product

import numpy as np
import pytest
from toy_targets import correlated

from ppl.errors import InferenceError
from ppl.kernel.advi.elbo import estimate_elbo
from ppl.kernel.advi.estimators import ESTIMATORS
from ppl.kernel.advi.families.standard import STANDARDS
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.stopping import STOPPING
from ppl.methods.recipes import fit
from ppl.methods.run.settings import Settings

TARGET = correlated(2)
OFF = TARGET.mean + 3.0
STEPPING = ("meanfield", "fullrank", "lowrank", "dsvi", "dsvi-diagonal")
SHORT = {
    "iter": 100,
    "eval_elbo": 10,
    "adapt_iter": 10,
    "grad_samples": 10,
    "elbo_samples": 10,
    "draws": 200,
    "start": "random",
    "refine": False,
}


@pytest.mark.rotate
@pytest.mark.parametrize(("algorithm", "estimator"), list(product(STEPPING, ESTIMATORS)))
def test_any_combination_runs(algorithm, estimator, pytestconfig):
    """Each step rule with one stopping rule, which differs between the cases; with all of them by --whole."""
    first = [*product(STEPPING, ESTIMATORS)].index((algorithm, estimator))
    for step_rule, stop in product(STEPS, STOPPING) if pytestconfig.getoption("whole") else in_turn(first):
        chosen = Settings(algorithm=algorithm, estimator=estimator, step_rule=step_rule, stop=stop, **SHORT)
        result = fit(TARGET, chosen, init=OFF)
        assert result.outcome.ending is not Ending.DIVERGED
        if estimator != "score-function":  # whose noise is what the others are there to remove
            assert result.final_elbo > _elbo_at_the_start(result.family) + 1


def in_turn(first):
    """Each step rule with a stopping rule, from the `first` on in turn."""
    return zip(STEPS, islice(cycle(STOPPING), first, None), strict=False)


def test_every_step_rule_is_run_with_every_stopping_rule():
    firsts = range(len(STEPPING) * len(ESTIMATORS))
    assert {pair for first in firsts for pair in in_turn(first)} == {*product(STEPS, STOPPING)}


def _elbo_at_the_start(family):
    return estimate_elbo(TARGET, family, family.start(OFF), 200, np.random.default_rng(0)).value


@pytest.mark.rotate
@pytest.mark.parametrize(("algorithm", "noise"), list(product((*STEPPING, "ssvb", "fixed-draws"), STANDARDS)))
def test_any_noise_runs(algorithm, noise):
    chosen = Settings(algorithm=algorithm, noise=noise, **SHORT)
    if algorithm == "lowrank" and noise in ("logistic", "laplace"):
        with pytest.raises(InferenceError, match="no density in closed form"):
            fit(TARGET, chosen, init=OFF)
        return
    result = fit(TARGET, chosen, init=OFF)
    assert isinstance(result.family.standard, type(STANDARDS[noise]()))
    assert result.final_elbo > _elbo_at_the_start(result.family) + 1


def test_the_rule_that_was_named_ends_the_run():
    settings = {**SHORT, "iter": 2000, "algorithm": "meanfield"}
    off_zero = replace(TARGET, shift=-50.0)  # a change relative to an ELBO of 0 means nothing
    reasons = {stop: fit(off_zero, Settings(stop=stop, **settings)).outcome.reason for stop in STOPPING}
    assert "relative change" in reasons["relative-elbo"] and "rolling average" in reasons["rolling-bound"]
    assert "gradients fell" in reasons["gradient-norm"] and "stationary" in reasons["iterate-rhat"]
    assert reasons["fixed"] == "all 2000 iterations were run"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"algorithm": "laplace", "stop": "fixed"}, "takes no stochastic steps; stop = 'fixed'"),
        ({"algorithm": "fixed-draws", "estimator": "black-box"}, "takes no stochastic steps"),
        ({"algorithm": "optimize", "minibatch": 10}, "needs all rows at once"),
        ({"algorithm": "pathfinder", "noise": "laplace"}, "shifts and scales no noise"),
        ({"algorithm": "ssvb", "estimator": "reparameterised"}, "use fullrank"),
        ({"algorithm": "dsvi-ard", "estimator": "black-box"}, "prior that dsvi-ard has taken out"),
        ({"step_rule": "dowg", "eta": 0.1}, "finds its own step size"),
        ({"stop": "iterate-rhat", "average": False}, "requires average = True"),
    ],
)
def test_nonsense_is_refused_with_the_reason(settings, reason):
    with pytest.raises(InferenceError, match=reason) as refused:
        fit(TARGET, Settings(**settings))
    assert refused.value.code == "PPL975"


@pytest.mark.parametrize("part", ["estimator", "step_rule", "stop", "noise"])
def test_an_unknown_part_is_refused_with_those_there_are(part):
    with pytest.raises(InferenceError, match=f"{part} = 'none such' is out of range; expected one of"):
        Settings(**{part: "none such"})
