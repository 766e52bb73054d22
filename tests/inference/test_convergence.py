import numpy as np
import pytest

from ppl.inference.convergence import ess_bulk, ess_tail, mcse_mean, rhat


def autoregression(rho, runs=4, n=500, seed=0):
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=(runs, n))
    for t in range(1, n):
        draws[:, t] = rho * draws[:, t - 1] + np.sqrt(1 - rho**2) * draws[:, t]
    return draws


CASES = {
    "independent": autoregression(0.0),
    "correlated": autoregression(0.8),
    "antithetic": autoregression(-0.4),
    "odd length": autoregression(0.5, n=333),
    "one run": autoregression(0.3, runs=1),
    "apart": autoregression(0.0) + np.arange(4)[:, None],
    "heavy": np.random.default_rng(1).standard_cauchy((2, 400)),
    "ties": np.random.default_rng(2).poisson(2.0, (3, 200)).astype(float),
}


@pytest.mark.parametrize("draws", CASES.values(), ids=CASES.keys())
def test_figures_are_those_of_arviz(draws):
    az = pytest.importorskip("arviz")
    if len(draws) > 1:  # ArviZ wants two chains, Stan is content with the halves of one
        assert rhat(draws) == pytest.approx(float(az.rhat(draws)), rel=1e-9)
    assert ess_bulk(draws) == pytest.approx(float(az.ess(draws, method="bulk")), rel=1e-9)
    assert ess_tail(draws) == pytest.approx(float(az.ess(draws, method="tail")), rel=1e-6)
    assert mcse_mean(draws) == pytest.approx(float(az.mcse(draws, method="mean")), rel=1e-9)


def test_an_autoregression_has_the_sample_size_that_theory_gives():
    draws = autoregression(0.6, n=20_000)
    assert ess_bulk(draws) == pytest.approx(draws.size * (1 - 0.6) / (1 + 0.6), rel=0.08)


def test_rhat_tells_runs_that_differ():
    assert rhat(CASES["independent"]) < 1.01 < 1.3 < rhat(CASES["apart"])


@pytest.mark.parametrize("draws", [np.ones((2, 100)), np.ones((2, 3)), np.full((2, 50), np.nan)])
def test_nothing_is_said_of_draws_that_say_nothing(draws):
    assert np.isnan([rhat(draws), ess_bulk(draws), ess_tail(draws), mcse_mean(draws)]).all()
