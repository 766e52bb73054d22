"""Programs whose latent variables are integrated out. A refusal shows in no number but the time."""

import numpy as np
import pytest

import ppl
from ppl.methods.correct.draw_source import DrawSource
from tests.benchmarks.latent import CASES


@pytest.mark.rotate
@pytest.mark.parametrize(
    "name",
    [
        "poisson 237",
        "student effects",
        "sd at zero",
        "counts in time 200",
        "areas 56",
        pytest.param("walk by steps 60", marks=pytest.mark.whole),
    ],
)
def test_latent_variables_are_integrated_out(name):
    case = CASES[name]
    posterior = ppl.compile_model(case.program).condition(case.data(np.random.default_rng(3)))
    fit = posterior.variational(seed=1)
    assert "integrated out" in fit.outcome.reason and fit.verdict.level == "good"


@pytest.mark.rotate
def test_volatilities_are_integrated_out():
    """Of these 28% were refused as those of a Gaussian."""
    posterior = ppl.compile_model("models/stochastic_volatility/stochastic_volatility.model").condition(
        "models/stochastic_volatility/stochastic_volatility.data.json"
    )
    verdict = posterior.variational(seed=1).verdict
    assert (verdict.made, verdict.level) == (DrawSource.NESTED, "good")
