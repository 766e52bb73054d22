"""The levels of a verdict as a table, every boundary from both sides, and what its paragraph says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ppl.inference.annealing import Annealed
from ppl.inference.diagnostics import Trend
from ppl.inference.elbo import elbo_of
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.psis import Psis
from ppl.inference.refining import Made, Pool, Refined, pool_of
from ppl.inference.spread import Spread
from ppl.inference.verdict import Level, Verdict, verdict_of

GOOD, USABLE, POOR, UNKNOWN = Level
NAMES = ("mu", "tau", "theta", "phi", "psi")

# 4000 draws of q, whose weights can be relied on below a k-hat of 0.7.
PLAIN = Verdict(
    n=4000,
    khat=0.3,
    ess=3000.0,
    khats=np.array([0.1, 0.2, 0.3, 0.3, 0.3]),
    shifts=np.zeros(5),
    elbo=-10.0,
    elbo_se=0.1,
    dropped=0,
    outcome=Outcome(Ending.CONVERGED, "it is there"),
)


def ended(ending):
    return {"outcome": Outcome(ending, "it ended")}


def moved(*shifts):
    return {"shifts": np.array([*shifts, *np.zeros(5 - len(shifts))])}


def trend(gain, se):
    return {"trend": Trend(gain, se)}


def runs(rhat):
    return {"spread": Spread(4, np.array([1.0, rhat, 1.0, 1.0, 1.0]), (-10.0,) * 4)}


def resampled(**known):
    return {"made": Made.RESAMPLED, **known}


def annealed(others=0, khat=5.0, memory=0.1, drift=0.0, reached=True, **known):
    found = Annealed(np.zeros((1, 5)), np.zeros(1), 3, memory, drift, 0.0, reached)
    return {"made": Made.ANNEALED, "annealed": found, "others": others, "khat": khat, **known}


LEVELS = [
    # Draws of q.
    ({}, GOOD),
    ({"khat": -math.inf}, GOOD),
    ({"khat": 0.49}, GOOD),
    ({"khat": 0.5}, USABLE),
    ({"khat": 0.69}, USABLE),
    ({"khat": 0.7}, POOR),
    ({"khat": math.inf}, POOR),
    ({"khat": math.nan}, UNKNOWN),
    ({"n": 100, "khat": 0.49, "ess": 90.0}, GOOD),
    ({"n": 100, "khat": 0.5, "ess": 90.0}, POOR),  # fewer draws ask for a lighter tail
    # Weights that hardly differ: 98% of 4000 draws are 3920.
    ({"khat": 2.0, "ess": 3920.0}, GOOD),
    ({"khat": 2.0, "ess": 3919.0}, POOR),
    ({"khat": 0.6, "ess": 3920.0}, GOOD),
    ({"khat": 0.6, "ess": 3919.0}, USABLE),
    # Means that the weights would move.
    (moved(0.19), GOOD),
    (moved(0.1, -0.19), GOOD),
    (moved(0.2), USABLE),
    (moved(0.1, -0.2), USABLE),
    ({"ess": 3920.0, **moved(0.2)}, USABLE),
    # How the run ended.
    (ended(Ending.COMPLETED), GOOD),
    (ended(Ending.BUDGET_REACHED), GOOD),
    (ended(Ending.DIVERGED), POOR),
    (ended(Ending.INTERRUPTED), POOR),
    ({"khat": math.nan, **ended(Ending.DIVERGED)}, UNKNOWN),
    (trend(2.9, 1.0), GOOD),
    (trend(3.1, 1.0), POOR),
    (trend(math.nan, math.nan), GOOD),
    ({"others": 1}, POOR),
    # Draws resampled by the weights.
    (resampled(ess=400.0), GOOD),
    (resampled(ess=399.0), USABLE),
    (resampled(khat=0.69), GOOD),
    (resampled(khat=0.7), POOR),
    (resampled(khat=math.nan), UNKNOWN),
    (resampled(**moved(0.9)), GOOD),
    (resampled(others=1), POOR),
    (resampled(**ended(Ending.DIVERGED)), POOR),
    (resampled(**trend(3.1, 1.0)), POOR),
    # Annealed draws owe nothing to q.
    (annealed(), GOOD),
    (annealed(khat=math.nan), GOOD),
    (annealed(**ended(Ending.DIVERGED)), GOOD),
    (annealed(**trend(3.1, 1.0)), GOOD),
    (annealed(**moved(0.9)), GOOD),
    (annealed(memory=0.29), GOOD),
    (annealed(memory=0.3), USABLE),
    (annealed(memory=0.6), USABLE),
    (annealed(memory=0.61), POOR),
    (annealed(drift=0.019), GOOD),
    (annealed(drift=0.02), USABLE),
    (annealed(drift=0.2), USABLE),
    (annealed(drift=0.21), POOR),
    (annealed(reached=False), POOR),
    (annealed(others=1), USABLE),
    (annealed(others=1, memory=0.61), POOR),
    # Runs beside one another.
    (runs(1.05), GOOD),
    (runs(1.06), POOR),
    ({"khat": math.nan, **runs(1.06)}, POOR),
    (annealed(**runs(1.06)), POOR),
    (annealed(**runs(1.05)), GOOD),
    # No parameters.
    ({"khats": np.zeros(0), "shifts": np.zeros(0), "khat": math.nan}, GOOD),
]


@pytest.mark.parametrize("known, level", LEVELS)
def test_the_level_follows_from_what_is_known(known, level):
    verdict = replace(PLAIN, **known)
    assert verdict.level is level
    assert verdict.warns is (level is not GOOD)


ANNEALED_USABLE = "the draws are near the posterior, but not sure to be right"
SAID = [
    ({}, "good below 0.5, usable below 0.70"),
    ({}, "Pareto k-hat is 0.30"),
    (resampled(), "k-hat of q is 0.30"),
    ({"khat": 0.6, "ess": 3920.0}, "weights hardly differ"),
    ({"khat": 0.5, "ess": 3920.0}, "weights hardly differ"),
    (resampled(), "resampled by these weights"),
    (annealed(memory=0.25, drift=0.01), "over 3 temperatures; they remember at most 25%"),
    (annealed(memory=0.5), ANNEALED_USABLE),
    (annealed(memory=0.5), "Try --algorithm fullrank, --runs 4"),
    ({"khat": 0.5}, "importance weights can repair it"),
    ({"others": 1}, "led to 1 other mode, which q knows nothing of"),
    ({"others": 2}, "led to 2 other modes, which"),
    ({"others": 2}, "Try it without --no-anneal"),
    (annealed(others=2), "where annealing began too"),
    (moved(0.1, 0.0, -0.5, 0.3), "Least sure: theta (k-hat 0.30, mean would move by -0.50 sd), phi (k-hat"),
    (moved(0.2), "Least sure: mu (k-hat 0.10, mean would move by +0.20 sd)."),
    ({"khats": np.array([0.7, 0.6, 0.1, 0.1, 0.1]), "khat": 0.6}, "Least sure: mu (k-hat 0.70"),
    (moved(0.6, 0.5, 0.4, 0.3, 0.2), "theta (k-hat 0.30, mean would move by +0.40 sd)."),
    (trend(0.0, 1.0), "levelled off"),
    (trend(3.1, 1.0), "still rising at the stop, by 3.1 ± 1 nats"),
    (trend(3.1, 1.0), "Try more iterations"),
    (ended(Ending.DIVERGED), "Try more iterations"),
    (runs(1.06), "Over 4 runs the largest R-hat is 1.06 (tau): they found different answers."),
    (runs(1.06), "Try stronger priors"),
    (runs(1.05), "they agree"),
    ({"khat": math.nan}, "Ask for more draws"),
    ({"khat": 0.5}, "Try --algorithm fullrank, or --resample."),
    ({"khat": 0.7}, "Try --algorithm fullrank."),
]
UNSAID = [
    ({}, "Try"),
    ({}, "Least sure"),
    ({"khats": np.full(5, 0.9)}, "Least sure"),  # a fit that is good names nobody
    ({"khat": 0.49, "ess": 3920.0}, "hardly differ"),
    ({"khat": math.nan}, "k-hat"),
    ({}, "annealed"),
    ({}, "Paths from afar"),
    (trend(math.nan, math.nan), "levelled"),
    (annealed(), ANNEALED_USABLE),
    ({"khat": 0.5}, ANNEALED_USABLE),
    (annealed(memory=0.9), ANNEALED_USABLE),
]
OTHERWISE = [
    ({"khat": 0.5}, "fullrank", "Try --resample, which repairs"),
    ({"khat": 0.7, **moved(0.1, 0.0, -0.5)}, "fullrank", "Try to reparameterise theta"),
]


@pytest.mark.parametrize("known, words", SAID)
def test_the_paragraph_says_it(known, words):
    assert words in replace(PLAIN, **known).paragraph(NAMES, "meanfield")


@pytest.mark.parametrize("known, words", UNSAID)
def test_the_paragraph_does_not_say_what_is_not_so(known, words):
    assert words not in replace(PLAIN, **known).paragraph(NAMES, "meanfield")


@pytest.mark.parametrize("known, algorithm, words", OTHERWISE)
def test_the_advice_of_another_algorithm(known, algorithm, words):
    assert words in replace(PLAIN, **known).paragraph(NAMES, algorithm)


def test_no_paragraph_has_gaps():
    for known, _ in LEVELS:
        verdict = replace(PLAIN, **known)
        if verdict.khats.size:
            text = verdict.paragraph(NAMES, "meanfield")
            assert "  " not in text and text == text.strip() and text.startswith("Verdict: ")


def test_a_verdict_takes_its_numbers_from_the_pool():
    """q is as narrow as 0.5 sds of p in one coordinate, and 0.4 sds off in the other."""
    u = stats.norm.rvs(size=(4000, 2), random_state=1) * [1.0, 0.5] + [0.4, 0.0]
    log_q = stats.norm.logpdf(u, [0.4, 0.0], [1.0, 0.5]).sum(axis=1)
    pool = pool_of(u, stats.norm.logpdf(u).sum(axis=1), log_q)
    drawn = Refined(pool.u, pool.log_p, Made.OF_Q, others=3)
    verdict = verdict_of(pool, elbo_of(pool.log_p - log_q, 0.0, 2), 2, PLAIN.outcome, Trend(1.0, 2.0), drawn)
    assert verdict.n == 4000 and verdict.dropped == 2 and verdict.others == 3
    assert verdict.trend == Trend(1.0, 2.0) and verdict.outcome is PLAIN.outcome
    assert verdict.elbo == pytest.approx((pool.log_p - log_q).mean())
    # For N(0, 1) / N(0, s^2) the ratio has tail shape 1 - s^2.
    assert verdict.khat > 0.6 and (verdict.khats >= verdict.khat).all()
    weights = np.exp(pool.weights.log_weights)
    np.testing.assert_allclose(verdict.shifts, (weights @ u - u.mean(axis=0)) / u.std(axis=0))


def test_a_coordinate_without_spread_does_not_move_and_one_with_it_tells():
    u = np.column_stack([np.ones(1000), stats.norm.rvs(size=1000, random_state=1)])
    pool = Pool(u, np.zeros(1000), np.zeros(1000), Psis(np.full(1000, -math.log(1000)), 0.1))
    drawn = Refined(u, pool.log_p, Made.OF_Q)
    verdict = verdict_of(pool, elbo_of(np.zeros(1000), 0.0, 0), 0, PLAIN.outcome, None, drawn)
    assert verdict.khat == 0.1 and verdict.shifts[0] == 0 and abs(verdict.shifts[1]) < 1e-12
