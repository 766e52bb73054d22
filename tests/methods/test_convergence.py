import numpy as np
import pytest
from scipy.special import ndtri

from ppl.methods.diagnose.convergence import (
    agreement,
    by_columns,
    mcse_mean,
    mcse_quantile,
    normal_scores,
    rhat,
)


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
    from laws.arviz import QUANTILES, convergence

    theirs = convergence(draws)
    bulk, tail, r_hat = agreement(draws)
    if len(draws) > 1:  # ArviZ wants two chains, Stan is content with the halves of one
        assert r_hat == pytest.approx(theirs[0], rel=1e-9)
    assert bulk == pytest.approx(theirs[1], rel=1e-9)
    assert tail == pytest.approx(theirs[2], rel=1e-6)
    assert mcse_mean(draws) == pytest.approx(theirs[3], rel=1e-9)
    for p, known in zip(QUANTILES, theirs[4:], strict=True):
        assert mcse_quantile(draws, p) == pytest.approx(known, rel=1e-9)


def test_an_autoregression_has_the_sample_size_that_theory_gives():
    draws = autoregression(0.6, n=20_000)
    assert agreement(draws)[0] == pytest.approx(draws.size * (1 - 0.6) / (1 + 0.6), rel=0.08)


@pytest.mark.parametrize("n", [5, 100])
def test_columns_at_once_have_the_figures_of_each(n, monkeypatch):
    monkeypatch.setattr("ppl.methods.diagnose.convergence.NUMBERS_AT_ONCE", 2 * n * 3)
    draws = np.random.default_rng(5).normal(size=(2, n, 8))
    draws[:, :, 2], draws[0, 1, 3], draws[1, 2, 4] = 1.0, np.nan, np.inf
    draws[:, :, 5], draws[:, :, 6] = np.round(draws[:, :, 5]), np.repeat([[0.0], [1.0]], n, axis=1)
    for figure in (agreement, mcse_mean, lambda x: mcse_quantile(x, 0.05)):
        alone = [figure(draws[:, :, k]) for k in range(8)]
        np.testing.assert_array_equal(by_columns(figure, draws), alone)
    assert by_columns(agreement, draws[:, :, :0]).shape == (0, 3)


def test_rhat_tells_runs_that_differ():
    assert rhat(CASES["independent"]) < 1.01 < 1.3 < rhat(CASES["apart"])


def test_rhat_knows_place_and_width_but_no_units():
    one, two = np.random.default_rng(3).normal(size=(2, 2000))
    assert rhat(np.stack([one, two])) < 1.005
    assert rhat(np.stack([one, two + 0.3])) > 1.01
    assert rhat(np.stack([one, 1.5 * two])) > 1.01
    # Ranks know neither units nor the outliers of a heavy tail; about the median the folded draws do.
    separate = np.stack([one, two + 0.3])
    assert rhat(1e6 * separate - 5) == pytest.approx(rhat(separate))
    assert rhat(np.stack([one, np.where(two > 3, 1e9, two)])) < 1.005


def test_rhat_of_chains_that_stand_apart_has_no_bound():
    assert rhat(np.repeat([[0.0], [1.0]], 100, axis=1)) > 1e6


@pytest.mark.parametrize("draws", [np.ones((2, 100)), np.ones((2, 3)), np.full((2, 50), np.nan)])
def test_nothing_is_said_of_draws_that_say_nothing(draws):
    assert np.isnan([*agreement(draws), mcse_mean(draws), mcse_quantile(draws, 0.5)]).all()


@pytest.mark.parametrize("n", [1, 4, 4001])
def test_normal_scores_are_the_quantiles_of_scipy(n):
    ranks = np.arange(1, 2 * n + 1) / 2
    np.testing.assert_allclose(
        normal_scores(n)[1:], ndtri((ranks - 0.375) / (n + 0.25)), rtol=1e-13, atol=1e-15
    )
