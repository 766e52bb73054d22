import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ppl.kernel.advi.elbo import elbo_of
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.methods.correct.correction import Corrected, DrawSource
from ppl.methods.diagnose.diagnostics import Trend
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import weighted_draws_of
from ppl.methods.diagnose.spread import spread_of
from ppl.methods.diagnose.verdict import verdict_of
from ppl.methods.moves.ending import Moved
from ppl.methods.moves.mixing import Mixing

DONE = Outcome(Ending.CONVERGED, "it is there")
NAMES = ("mu", "tau")


def judged(q_sd=1.0, q_mean=0.0, n=4000, shift=0.0, outcome=DONE, trend=None):
    """A verdict on N(q_mean, q_sd^2) in each of two coordinates, for a standard normal posterior."""
    q = stats.norm(q_mean, q_sd)
    u = q.rvs((n, 2), random_state=1)
    log_p, log_q = stats.norm.logpdf(u).sum(axis=1) + shift, q.logpdf(u).sum(axis=1)
    return of_draws(weighted_draws_of(u, log_p, log_q), outcome, trend)


def of_draws(proposals, outcome=DONE, trend=None, made=DrawSource.OF_Q, moved=None):
    elbo = elbo_of(proposals.log_p - proposals.log_q, 0.0, 0)
    return verdict_of(proposals, elbo, outcome, trend, Corrected(proposals.u, proposals.log_p, made, moved))


def test_the_posterior_itself_is_good_and_its_draws_are_worth_their_number():
    verdict = judged()
    assert verdict.level is Level.GOOD
    assert verdict.ess == pytest.approx(4000)
    np.testing.assert_allclose(verdict.shifts, 0, atol=1e-12)


def test_a_narrow_approximation_is_poor_and_a_little_narrow_one_is_not():
    assert judged(q_sd=0.5).level is Level.POOR
    assert judged(q_sd=0.9).level is Level.GOOD


def test_the_weights_say_where_the_mean_should_be():
    verdict = judged(q_mean=0.4, n=20_000)
    np.testing.assert_allclose(verdict.shifts, -0.4, atol=0.06)
    assert verdict.level is Level.USABLE
    assert "most affected: mu, tau" in verdict.sentence(NAMES)


def test_constants_and_units_change_nothing():
    plain, shifted = judged(q_sd=0.8), judged(q_sd=0.8, shift=1e5)
    assert shifted.khat == pytest.approx(plain.khat, abs=1e-6)
    assert shifted.ess == pytest.approx(plain.ess, rel=1e-6)


def test_a_rising_elbo_a_broken_run_and_too_few_draws_are_said():
    rising = judged(trend=Trend(3.0, 0.1))
    assert rising.level is Level.POOR and "still rising" in rising.sentence(NAMES)
    assert "stopped improving" in judged(trend=Trend(0.0, 0.1)).details(NAMES)
    assert judged(outcome=Outcome(Ending.DIVERGED, "it left")).level is Level.POOR
    few = judged(n=10)
    assert math.isnan(few.khat) and few.level is Level.UNKNOWN
    assert "--draws" in few.sentence(NAMES)


def test_a_point_has_no_verdict():
    u = np.ones((1000, 2))
    zeros = np.zeros(1000)
    verdict = of_draws(weighted_draws_of(u, zeros, zeros))
    assert verdict.level is Level.UNKNOWN and verdict.mean_shift == 0


def test_the_advice_is_the_next_thing_to_try():
    narrow = judged(q_sd=0.5)
    assert "--correct" in narrow.sentence(NAMES) and "--runs" in narrow.sentence(NAMES, ["correct"])
    assert "Reparameterise" in narrow.sentence(NAMES, ["correct", "runs"])
    assert judged().sentence(NAMES).endswith("(effective sample size of 4000 weighted draws of q: 4000).")


def test_runs_that_agree_and_runs_that_do_not():
    rng = np.random.default_rng(0)
    agree = spread_of([rng.normal(size=(1000, 2)) for _ in range(4)], [-1.0] * 4)
    assert agree.rhat < 1.01 and not agree.disagree
    spread_out = spread_of([rng.normal([0, k], size=(1000, 2)) for k in range(4)], [-1.0] * 4)
    assert spread_out.worst == 1 and spread_out.rhat > 1.3
    verdict = replace(judged(), spread=spread_out)
    assert verdict.level is Level.POOR
    assert "of tau" in verdict.sentence(NAMES) and "(tau)" in verdict.details(NAMES)


def test_rhat_is_that_of_the_definition():
    chains = np.array([[0.0, 1, 2], [1, 2, 3]])[:, :, None]
    within, between = 1.0, 3 * 0.5
    expected = math.sqrt((2 / 3 * within + between / 3) / within)
    assert spread_of(list(chains), [0.0, 0.0]).rhat == pytest.approx(expected)


def moved(drift=0.0, apart=0.0, effective=1000.0):
    mixing = Mixing(np.array([0.0, drift]), np.array([apart, 0.0]), np.full(2, effective), 0.0)
    return Moved(np.zeros((1, 2)), np.zeros(1), np.zeros(1, dtype=int), mixing, chains=128, moves=50)


def test_moved_draws_are_judged_by_how_they_moved_and_not_by_q():
    narrow = stats.norm(0, 0.3)
    u = narrow.rvs((4000, 2), random_state=1)
    proposals = weighted_draws_of(u, stats.norm.logpdf(u).sum(axis=1), narrow.logpdf(u).sum(axis=1))
    verdicts = [
        of_draws(proposals, made=DrawSource.MOVED, moved=moved(**known))
        for known in (
            {},
            {"effective": 300.0},
            {"effective": 128.0},
            {"drift": 0.05},
            {"drift": 0.5},
            {"apart": 0.05},
            {"apart": 0.5},
        )
    ]
    levels = [v.level.value for v in verdicts]
    assert levels == ["good", "usable", "poor", "usable", "poor", "usable", "poor"]
    assert "128 HMC chains started at q" in verdicts[0].sentence(NAMES)
    assert "Over the last 50 a mean" in verdicts[0].details(NAMES)
    assert of_draws(proposals).level is Level.POOR


def test_resampled_draws_are_good_where_the_weights_are():
    u = stats.norm(0.4, 1).rvs((4000, 2), random_state=1)
    proposals = weighted_draws_of(
        u, stats.norm.logpdf(u).sum(axis=1), stats.norm(0.4, 1).logpdf(u).sum(axis=1)
    )
    assert of_draws(proposals).level is Level.USABLE
    verdict = of_draws(proposals, made=DrawSource.RESAMPLED)
    assert verdict.level is Level.GOOD and "importance-resampled" in verdict.sentence(NAMES)


def test_a_heavy_tail_of_weights_that_hardly_differ_does_not_matter():
    """p / q = 1 + z^8 / 100,000: k-hat sees the tail, which moves no mean."""
    u = stats.norm.rvs(size=(4000, 2), random_state=1)
    log_q = stats.norm.logpdf(u).sum(axis=1)
    verdict = of_draws(weighted_draws_of(u, log_q + np.log1p(1e-5 * u[:, 0] ** 8), log_q))
    assert verdict.khat > 0.5 and verdict.ess > 0.98 * verdict.n
    assert verdict.level is Level.GOOD
    assert "so little weight" in verdict.details(NAMES)
