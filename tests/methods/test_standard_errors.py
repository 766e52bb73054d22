"""Standard errors hold what repeated draws show, and what approximations are off by."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ppl.methods.correct.resampling import balanced
from ppl.methods.correct.standard_errors import (
    INDEPENDENT,
    errors_of,
    heaviness,
    of_chains,
    of_q,
    of_resampled,
    standard_errors,
)
from ppl.methods.diagnose.psis import Psis, psis
from ppl.methods.diagnose.spread import Spread

P = (0.05, 0.5, 0.95)


def test_independent_draws_by_repetition():
    rng, found, errors = np.random.default_rng(1), [], []
    for _ in range(300):
        x = rng.gamma(2.0, size=1000)
        found.append([x.mean(), x.std(), *np.quantile(x, P)])
        mean, sd, quantiles = errors_of(x, P)
        errors.append([mean, sd, *quantiles])
    assert np.mean(errors, axis=0) == pytest.approx(np.std(found, axis=0), rel=0.15)


def test_errors_of_quantiles_cover_as_those_of_means_do():
    """Not only in the mean: the density at a 5% quantile by 14 of 1,000 draws would be off by a third."""
    rng = np.random.default_rng(9)
    errors = [errors_of(rng.gamma(2.0, size=1000), P).quantiles for _ in range(200)]
    assert (np.std(errors, axis=0) < 0.2 * np.mean(errors, axis=0)).all()
    assert np.isfinite(errors_of(np.arange(10.0), [0.0, 1.0]).quantiles).all()


def test_the_mean_of_independent_draws():
    x = np.random.default_rng(2).normal(3, 2, (1000, 2))
    assert standard_errors(x) == pytest.approx(x.std(axis=0, ddof=1) / np.sqrt(1000))


@pytest.mark.rotate
def test_resampled_draws_contain_the_error_of_their_pool():
    """Of q = N(0, 1) and p = N(0.8, 1), 1,000 draws from a pool of 1,000."""
    rng, within, least = np.random.default_rng(3), [], []
    for _ in range(200):
        u = rng.standard_normal((1000, 1))
        weights = psis(0.8 * u[:, 0])
        chosen = balanced(u, weights.log_weights, 1000, rng)
        x = u[chosen]
        se = standard_errors(x, of_resampled(weights, chosen))[0]
        within.append(abs(x.mean() - 0.8) < 2 * se)
        least.append(abs(x.mean() - 0.8) < 2 * standard_errors(x)[0])
    assert np.mean(within) >= 0.9 > np.mean(least)


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0])
def test_draws_of_a_wrong_q_claim_no_more_than_it_and_its_weights_differ(shift):
    rng, within = np.random.default_rng(4), []
    for _ in range(100):
        u = rng.standard_normal(1000)
        errors = of_q(psis(stats.norm.logpdf(u, shift) - stats.norm.logpdf(u)), 1000)
        mean, _, (low, _, high) = errors_of(u, P, errors)
        off = (u.mean() - shift, *(np.quantile(u, P[::2]) - stats.norm.ppf(P[::2], shift)))
        within.append(np.abs(off) < 2 * np.array([mean, low, high]))
    assert (np.mean(within, axis=0) >= 0.9).all()


def test_draws_of_chains_by_repetition():
    """Chains of 20 draws with an autocorrelation of 0.9, as AR(1)."""
    rng, found, errors = np.random.default_rng(5), [], []
    chain = np.repeat(np.arange(64), 20)
    for _ in range(200):
        x = np.empty((64, 20))
        x[:, 0] = rng.standard_normal(64)
        for t in range(1, 20):
            x[:, t] = 0.9 * x[:, t - 1] + np.sqrt(1 - 0.81) * rng.standard_normal(64)
        found.append([x.mean(), x.std(), *np.quantile(x, P)])
        mean, sd, quantiles = errors_of(x.ravel(), P, of_chains(chain, drift=0.0))
        errors.append([mean, sd, *quantiles])
    assert np.mean(errors, axis=0) == pytest.approx(np.std(found, axis=0), rel=0.2)
    assert np.isnan(errors_of(np.ones(20), P, of_chains(chain[:20], 0.0)).mean)  # one chain tells nothing


def test_chains_that_are_not_stationary_claim_no_less_than_they_still_move():
    x = np.random.default_rng(8).normal(0, 3, (1000, 1))
    errors = of_chains(np.arange(1000), drift=0.5)
    assert standard_errors(x, errors)[0] == pytest.approx(1.5, rel=0.05)


def test_runs_that_differ():
    x = np.random.default_rng(6).normal(0, 2, (1000, 1))
    spread = Spread(2, np.array([1.0, np.sqrt(1.25)]), (0.0, 0.0))
    assert spread.between == pytest.approx(0.25)
    assert standard_errors(x, replace(INDEPENDENT, between=spread.between))[0] == pytest.approx(1.0, rel=0.1)


def test_heavy_tails_make_errors_larger():
    light, heavy = (Psis(np.full(1000, -np.log(1000)), k) for k in (0.4, 0.9))
    assert heaviness(light) == heaviness(heavy) == 1.0  # weights that hardly differ
    weights = np.random.default_rng(7).pareto(1.2, 1000)
    logs = np.log(weights / weights.sum())
    assert heaviness(Psis(logs, 0.4)) == 1.0
    assert heaviness(Psis(logs, 0.9)) == pytest.approx(Psis(logs, 0.9).ess / 1000**0.2)
    assert heaviness(Psis(logs, np.inf)) == Psis(logs, 0.9).ess


def test_some_of_the_draws_and_too_few():
    some = of_chains(np.arange(10), 0.0).at(np.arange(10) < 4)
    assert len(some.chain) == 4 and len(some.weights) == len(some.moves) == 0
    assert np.isnan(standard_errors(np.ones((1, 3)))).all()
    assert np.isnan(errors_of(np.ones(1), P).quantiles).all()
    assert len(of_q(Psis(np.zeros(0), np.nan), 0).weights) == 0
