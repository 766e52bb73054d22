"""The levels of a verdict as one table, each rule on both sides of its bounds, and what the sentence says."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from laws.every import every
from scipy import stats

from ppl.inference.correct import correction
from ppl.inference.correct.annealing import Annealed
from ppl.inference.correct.correction import Corrected, DrawSource
from ppl.inference.correct.population import WeightQuality
from ppl.inference.diagnose import psis
from ppl.inference.diagnose import verdict_rules as findings
from ppl.inference.diagnose.diagnostics import Trend
from ppl.inference.diagnose.level import Level
from ppl.inference.diagnose.modes import Mode, Peak
from ppl.inference.diagnose.psis import Psis, WeightedDraws, weighted_draws_of
from ppl.inference.diagnose.spread import Spread
from ppl.inference.diagnose.verdict import Verdict, verdict_of
from ppl.inference.diagnose.verdict_rules import (
    RULES,
    divergent,
    drifting,
    ended_badly,
    far_before,
    far_from_q,
    heavy_tails,
    heavy_weights,
    low_ess,
    near_q,
    no_spread,
    not_arrived,
    nothing_to_tell,
    other_modes,
    runs_disagree,
    slow_moves,
    starts_disagree,
    still_rising,
    symmetric_modes,
    uncertain_elbo,
)
from ppl.inference.numerics.gaussian import Gaussian
from ppl.inference.objective.elbo import elbo_of
from ppl.inference.run.outcome import Ending, Outcome

GOOD, USABLE, POOR, UNKNOWN = Level
NAMES = ("mu", "tau", "theta", "phi", "psi")

# 4000 draws of q, whose weights can be relied on below a k-hat of 0.7.
PLAIN = Verdict(
    n=4000,
    khat=0.3,
    ess=3000.0,
    khats=np.array([0.1, 0.2, 0.3, 0.3, 0.3]),
    shifts=np.zeros(5),
    elbo_se=0.1,
    outcome=Outcome(Ending.CONVERGED, "it is there"),
)


def ended(ending):
    return {"outcome": Outcome(ending, "it ended")}


def updates(*shares):
    """k-hat and the effective share of 4000 draws of each earlier q."""
    return {"updates": tuple(WeightQuality(4000, khat, 4000 * share) for khat, share in shares)}


def five(*first, rest=0.0):
    """One number a coordinate, the first of them as given."""
    return np.array([*first, *[rest] * (5 - len(first))])


def shifts_of(*shifts):
    return {"shifts": five(*shifts)}


def trend(gain, se):
    return {"trend": Trend(gain, se)}


def runs(rhat):
    return {"spread": Spread(4, five(1.0, rhat, rest=1.0), (-10.0,) * 4)}


def resampled(**known):
    return {"made": DrawSource.RESAMPLED, **known}


def annealed(khat=5.0, rhats=(), **known):
    """Draws that annealing made of a q which says little of the posterior."""
    sound = {"temperatures": 3, "autocorrelation": 0.1, "drift": 0.0, "log_evidence": 0.0}
    given = sound | {key: known.pop(key) for key in [f.name for f in fields(Annealed)] if key in known}
    found = Annealed(np.zeros((1, 5)), np.zeros(1), rhats=five(*rhats, rest=1.0), **given)
    return {"made": DrawSource.ANNEALED, "annealed": found, "khat": khat, **known}


def mode(share=0.3, symmetric=False, offset=(5.0,)):
    return Mode(Gaussian(five(*offset), np.eye(5)), Peak(five(*offset), -1.0), share, symmetric)


def modes(*found):
    return {"modes": found}


def tails(*shapes):
    return {"tails": five(*shapes)}


IMAGE = mode(symmetric=True)

# What is known, the level that follows, and the rules of which a finding stands against the fit.
LEVELS = [
    # Draws of q.
    ({}, GOOD),
    ({"khat": -math.inf}, GOOD),
    ({"khat": 0.499}, GOOD),
    ({"khat": 0.5}, USABLE, near_q),
    ({"khat": 0.699}, USABLE, near_q),
    ({"khat": 0.7}, POOR, far_from_q),
    ({"khat": math.inf}, POOR, far_from_q),
    ({"khat": math.nan}, UNKNOWN, nothing_to_tell),
    ({"n": 100, "khat": 0.499, "ess": 90.0}, GOOD),
    ({"n": 100, "khat": 0.5, "ess": 90.0}, POOR, far_from_q),  # fewer draws ask for a lighter tail
    # Weights that hardly differ: 98% of 4000 draws are 3920.
    ({"khat": 2.0, "ess": 3920.0}, GOOD),
    ({"khat": 2.0, "ess": 3919.0}, POOR, far_from_q),
    ({"khat": 0.6, "ess": 3920.0}, GOOD),
    ({"khat": 0.6, "ess": 3919.0}, USABLE, near_q),
    # Means that the weights would move.
    (shifts_of(0.199), GOOD),
    (shifts_of(0.1, -0.199), GOOD),
    (shifts_of(0.2), USABLE, near_q),
    (shifts_of(0.1, -0.2), USABLE, near_q),
    ({"ess": 3920.0, **shifts_of(0.2)}, USABLE, near_q),
    # How the run ended.
    (ended(Ending.COMPLETED), GOOD),
    (ended(Ending.BUDGET_REACHED), GOOD),
    (ended(Ending.DIVERGED), POOR, ended_badly),
    (ended(Ending.INTERRUPTED), POOR, ended_badly),
    ({"khat": math.nan, **ended(Ending.DIVERGED)}, POOR, ended_badly, nothing_to_tell),
    (trend(2.9, 1.0), GOOD),
    (trend(3.1, 1.0), POOR, still_rising),
    (trend(math.nan, math.nan), GOOD),
    ({"elbo_se": 1.0}, GOOD),
    ({"elbo_se": 1.01}, USABLE, uncertain_elbo),
    ({"elbo_se": math.inf}, USABLE, uncertain_elbo),
    # Coordinates without a spread; where none has any, q is a point and nothing is known.
    ({"stuck": (1,)}, POOR, no_spread),
    ({"stuck": (0, 1, 2, 3, 4), "khat": math.nan}, UNKNOWN, nothing_to_tell),
    # Modes that q knows nothing of.
    (modes(mode()), POOR, other_modes),
    (modes(mode(), IMAGE), POOR, other_modes, symmetric_modes),
    (modes(IMAGE), USABLE, symmetric_modes),
    # Draws resampled by the weights.
    (resampled(ess=400.0), GOOD),
    (resampled(ess=399.0), USABLE, low_ess),
    (resampled(khat=0.699), GOOD),
    # Weights without a variance, worth less than half their number.
    (resampled(khat=0.499, ess=1999.0), GOOD),
    (resampled(khat=0.5, ess=1999.0), USABLE, heavy_weights),
    (resampled(khat=0.699, ess=1999.0), USABLE, heavy_weights),
    (resampled(khat=0.5, ess=2000.0), GOOD),
    (resampled(khat=0.7, ess=1999.0), POOR, far_from_q),
    (resampled(khat=0.7), POOR, far_from_q),
    (resampled(khat=0.7, ess=3920.0), GOOD),
    (resampled(khat=math.nan), UNKNOWN, nothing_to_tell),
    (resampled(**shifts_of(0.9)), GOOD),
    (resampled(**modes(mode())), POOR, other_modes),
    (resampled(**modes(IMAGE)), USABLE, symmetric_modes),
    (resampled(**ended(Ending.DIVERGED)), POOR, ended_badly),
    (resampled(**trend(3.1, 1.0)), GOOD),  # the weights know where q should have gone
    (resampled(elbo_se=1.01), USABLE, uncertain_elbo),
    (resampled(stuck=(1,)), POOR, no_spread),
    # Annealed draws owe little to q.
    (annealed(), GOOD),
    (annealed(khat=math.nan), GOOD),
    (annealed(**ended(Ending.BUDGET_REACHED)), GOOD),
    (annealed(**ended(Ending.DIVERGED)), POOR, ended_badly),
    (annealed(**ended(Ending.INTERRUPTED)), USABLE, ended_badly),
    (annealed(**trend(3.1, 1.0)), GOOD),
    (annealed(**shifts_of(0.9)), GOOD),
    (annealed(reached=False), POOR, not_arrived),
    (annealed(autocorrelation=0.199), GOOD),
    (annealed(autocorrelation=0.2), USABLE, slow_moves),
    (annealed(autocorrelation=0.6), USABLE, slow_moves),
    (annealed(autocorrelation=0.601), POOR, slow_moves),
    (annealed(made=550), GOOD),
    (annealed(made=551), POOR, slow_moves),
    (annealed(divergent=0.001), GOOD),
    (annealed(divergent=0.0011), USABLE, divergent),
    (annealed(drift=0.00499), GOOD),
    (annealed(drift=0.005), USABLE, drifting),
    (annealed(drift=0.2), USABLE, drifting),
    (annealed(drift=0.201), POOR, drifting),
    (annealed(drift=0.00499, hopeless=True), GOOD),
    (annealed(drift=0.005, hopeless=True), POOR, drifting),
    (annealed(rhats=(1.0, 1.0049)), GOOD),
    (annealed(rhats=(1.0, 1.005)), USABLE, starts_disagree),
    (annealed(rhats=(1.049,)), USABLE, starts_disagree),
    (annealed(rhats=(1.05,)), POOR, starts_disagree),
    (annealed(rhats=(math.inf,)), POOR, starts_disagree),
    # What chance alone shows where points are few and coordinates many.
    (annealed(autocorrelation=0.37, autocorrelation_noise=0.38), GOOD),
    (annealed(autocorrelation=0.38, autocorrelation_noise=0.38), USABLE, slow_moves),
    (annealed(rhats=(1.02,), rhat_noise=1.021), GOOD),
    (annealed(rhats=(1.02,), rhat_noise=1.019), USABLE, starts_disagree),
    (annealed(rhats=(1.06,), rhat_noise=1.061), GOOD),
    (annealed(rhats=(1.061,), rhat_noise=1.06), POOR, starts_disagree),
    (annealed(**tails(0.0, 0.6)), GOOD),
    (annealed(**tails(0.0, 0.601)), USABLE, heavy_tails),
    (annealed(**modes(mode())), USABLE, other_modes),
    (annealed(**modes(IMAGE)), USABLE, symmetric_modes),
    (annealed(autocorrelation=0.61, **modes(mode())), POOR, slow_moves, other_modes),
    (annealed(elbo_se=1.01), USABLE, uncertain_elbo),
    (annealed(stuck=(1,)), POOR, no_spread),
    # Earlier fits that stand for the rows before them.
    (updates((0.4, 0.9)), GOOD),
    (updates((0.4, 0.9), (0.4, 0.89)), USABLE, far_before),
    (updates((0.5, 0.9)), USABLE, far_before),
    (updates((0.699, 0.5)), USABLE, far_before),
    (updates((0.4, 0.49)), POOR, far_before),
    (updates((0.7, 0.97), (0.4, 0.95)), POOR, far_before),
    (updates((0.9, 0.98)), GOOD),  # weights that hardly differ
    # Runs beside one another.
    (runs(1.05), GOOD),
    (runs(1.051), POOR, runs_disagree),
    ({"khat": math.nan, **runs(1.06)}, POOR, runs_disagree, nothing_to_tell),
    (annealed(**runs(1.06)), POOR, runs_disagree),
    (annealed(**runs(1.05)), GOOD),
    # No parameters.
    ({"khats": np.zeros(0), "shifts": np.zeros(0), "khat": math.nan}, GOOD, nothing_to_tell),
]


@every("known, level, rules", [(known, level, rules) for known, level, *rules in LEVELS])
def test_the_level_follows_from_what_is_known(known, level, rules):
    found = replace(PLAIN, **known)
    assert found.level is level
    assert [rule for rule in RULES if [*rule(found, str)]] == rules


def test_every_rule_has_a_row():
    assert {rule for _, _, *rules in LEVELS for rule in rules} == set(RULES)


# What no good fit may have, however its draws were made and whatever else is well.
NEVER_GOOD = [
    ended(Ending.DIVERGED),
    ended(Ending.INTERRUPTED),
    {"stuck": (3,)},
    {"elbo_se": 1.01},
    tails(0.9),
    modes(mode()),
    modes(IMAGE),
    runs(1.06),
    annealed(rhats=(1.005,)),
    annealed(reached=False),
]


@pytest.mark.parametrize("against", NEVER_GOOD)
@pytest.mark.parametrize("made", [{}, {"khat": 2.0, "ess": 3990.0}, resampled(), annealed(khat=0.1)])
def test_a_fit_with_that_against_it_is_never_good(made, against):
    assert replace(PLAIN, **{**made, **against}).level is not GOOD


# The bounds of the verdict, and where they stand.
BOUNDS = [
    *(
        ("VERDICT", name)
        for name in (
            "good_khat",
            "good_share",
            "most_shift",
            "fewest_ess",
            "usable_autocorrelation",
            "good_rhat",
            "usable_rhat",
            "heavy_tail",
            "uncertain_elbo",
        )
    ),
    ("ANNEALING", "stationary_autocorrelation"),
    ("ANNEALING", "stationary_drift"),
    ("CORRECTION", "enough_ess"),
]


@pytest.mark.parametrize("factor", [0.99, 1.01])
@pytest.mark.parametrize("record, bound", BOUNDS, ids=[bound for _, bound in BOUNDS])
def test_no_bound_without_a_row_that_tells_of_it(monkeypatch, record, bound, factor):
    owner = correction if record == "CORRECTION" else findings
    before, bounds = sentences(), getattr(owner, record)
    monkeypatch.setattr(owner, record, bounds._replace(**{bound: getattr(bounds, bound) * factor}))
    assert sentences() != before


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_row_tells_of_the_share_at_which_draws_are_alike(monkeypatch, factor):
    before = sentences()
    monkeypatch.setattr(psis, "ALIKE_SHARE", psis.ALIKE_SHARE * factor)
    assert sentences() != before


def sentences():
    return [replace(PLAIN, **known).sentence(NAMES) for known, *_ in [*LEVELS, *SENTENCES]]


RESAMPLE, CORRECT = (
    f"Use corrected draws, {how}: omit --algorithm, or add --correct."
    for how in ("resampled by importance", "annealed to the posterior")
)
RUNS = "Compare independent runs: --runs 4."
ONE_MODE = "Try priors or an ordering that leave one mode."
PROPER = "Give every parameter a proper prior, or start nearer to the posterior (--init)."
QUANTILES = "Report quantiles, or give it a prior with lighter tails."
MORE_DRAWS = "Use more draws (--draws)."
ESS = "effective sample size of 4000 weighted draws of q: 3000"
OF_Q = f"the draws are those of a q close to the posterior ({ESS})"
OTHERWISE = ", for instance in a non-centred form, or sample: `ppl sample`."
PROGRAM = f"Reparameterise the program{OTHERWISE}"
FAR = "q misses part of the posterior (Pareto k-hat 0.70)"
NEAR = "q is close enough to the posterior for importance resampling to correct it (k-hat {})"

# What is known, and all that is said: the level, why, the next step.
SENTENCES = [
    ({}, f"good: {OF_Q}."),
    (
        resampled(),
        f"good: the draws were importance-resampled from a q close to the posterior ({ESS}).",
    ),
    (
        annealed(rhats=(1.004,)),
        "good: the draws were annealed from q to the posterior, and annealings from two starts agree "
        "(largest R-hat 1.00).",
    ),
    (
        {"khats": np.zeros(0), "shifts": np.zeros(0), "khat": math.nan},
        "good: the program has no parameters.",
    ),
    # What correction would have made of draws of q: 2000 of 8192, here of 4000, are 976.6.
    (
        {"khat": 0.5, "ess": 977.0},
        f"usable: {NEAR.format('0.50')}. {RESAMPLE}",
    ),
    (
        {"khat": 0.5, "ess": 976.0},
        f"usable: {NEAR.format('0.50')}. {CORRECT}",
    ),
    ({"khat": 0.7}, f"poor: {FAR}. {CORRECT}"),
    (resampled(khat=0.7), f"poor: the importance weights are unreliable (Pareto k-hat 0.70). {CORRECT}"),
    (
        {"khat": 0.7, **shifts_of(0.1, 0.0, -0.5, 0.3)},
        f"poor: {FAR}; most affected: theta, phi. {CORRECT}",
    ),
    (
        shifts_of(0.2),
        f"usable: {NEAR.format('0.30')}; most affected: mu. {RESAMPLE}",
    ),
    (
        {"khats": five(0.7, 0.699, 0.1), "khat": 0.6},
        f"usable: {NEAR.format('0.60')}; most affected: mu. {RESAMPLE}",
    ),
    (
        shifts_of(0.6, 0.5, 0.4, 0.3, 0.2),
        f"usable: {NEAR.format('0.30')}; most affected: mu, tau, theta and 2 more. {RESAMPLE}",
    ),
    (
        resampled(ess=399.0),
        "usable: the 4000 draws of q that were resampled by importance have an effective sample size of 399. "
        f"{MORE_DRAWS}",
    ),
    (
        resampled(khat=0.56, ess=1031.0),
        "usable: draws were resampled by importance weights that vary much (Pareto k-hat 0.56, effective "
        "sample size 1031 of 4000), so their tails may be short. Use annealed draws (--anneal); this "
        "takes longer.",
    ),
    (
        {"khat": math.nan},
        f"unknown: too few draws, or draws without variance, to judge. {MORE_DRAWS}",
    ),
    (
        trend(3.1, 1.0),
        "poor: the ELBO was still rising when the run stopped, by 3.1 ± 1 nats over the second half of the "
        "run. Allow more iterations (--iter), or omit --algorithm.",
    ),
    (ended(Ending.DIVERGED), f"poor: the search for q diverged. {PROPER}"),
    (
        ended(Ending.INTERRUPTED),
        "poor: the run was interrupted. Run it to the end; --resume continues from the checkpoint.",
    ),
    (
        {"elbo_se": 31.0},
        f"usable: q is so far from the posterior that its ELBO is not known to a nat (± 31). {RUNS}",
    ),
    (
        {"stuck": (1, 3)},
        f"poor: all draws of tau, phi are equal: the density is unbounded there. {PROPER}",
    ),
    (
        modes(mode(0.31), IMAGE, mode(0.049)),
        f"poor: there are 2 other modes, with about 31% and 5% of the posterior. {CORRECT}",
    ),
    (modes(mode(0.31)), f"poor: there is another mode, with about 31% of the posterior. {CORRECT}"),
    (
        annealed(**modes(mode(0.31))),
        "usable: there is another mode in addition to the mode of q, with about 31% of the posterior; "
        f"the share of draws in each is uncertain. {RUNS}",
    ),
    (
        annealed(
            **modes(
                mode(symmetric=True, offset=(0.99, 1.0)),
                mode(symmetric=True, offset=(0.0, 0.0, 0.0, -3.0)),
            )
        ),
        "usable: the posterior is invariant to exchanging labels or signs of tau, phi, so their own means "
        "are not meaningful; quantities that do not depend on the labelling are unaffected. If you need "
        "these means, order the parameters or fix a sign.",
    ),
    (
        annealed(reached=False, temperatures=50),
        f"poor: annealing did not reach the posterior in 50 temperatures. {PROGRAM}",
    ),
    (
        annealed(rhats=(1.0, 1.02, 1.0, 1.04)),
        "usable: two annealings, from q and overdispersed, disagree slightly (R-hat 1.04) on phi, tau. "
        f"Reparameterise phi, tau{OTHERWISE}",
    ),
    (
        annealed(rhats=(1.0, 1.2)),
        "poor: two annealings, from q and overdispersed, disagree (R-hat 1.20) on tau. "
        f"Reparameterise tau{OTHERWISE}",
    ),
    (
        annealed(autocorrelation=0.45),
        "usable: the HMC moves mix too slowly: after the last move the autocorrelation of the "
        f"annealed draws with the start is still 0.45. {PROGRAM}",
    ),
    (
        annealed(made=774),
        "poor: the HMC moves mix too slowly: 774 moves were made, and the tails are rarely reached. "
        f"{PROGRAM}",
    ),
    (
        annealed(drift=0.1),
        f"usable: annealed draws are not stationary: a mean or an sd still changed by 0.1 sd. {PROGRAM}",
    ),
    (
        annealed(autocorrelation=3.62),
        "poor: the HMC moves mix too slowly: after the last move the annealed draws still spread from "
        f"their start. {PROGRAM}",
    ),
    (
        annealed(drift=0.2, hopeless=True),
        "poor: annealed draws are not stationary: a mean or an sd still changed by 0.2 sd, and the HMC "
        f"moves were stopped early because more moves would not change this. {PROGRAM}",
    ),
    (
        annealed(**tails(0.5, 0.7, 0.0, 0.9)),
        "usable: the tails of phi, tau, unconstrained, are so heavy that means and sds may not exist; "
        f"quantiles do. {QUANTILES}",
    ),
    (runs(1.06), f"poor: 4 runs disagree (R-hat 1.06 of tau). {ONE_MODE}"),
    # The worst is said, of equals the first rule's.
    (
        annealed(drift=0.1, autocorrelation=0.61, **tails(0.9)),
        "poor: the HMC moves mix too slowly: after the last move the autocorrelation of the "
        f"annealed draws with the start is still 0.61. {PROGRAM}",
    ),
    (
        annealed(drift=0.1, **tails(0.9)),
        f"usable: annealed draws are not stationary: a mean or an sd still changed by 0.1 sd. {PROGRAM}",
    ),
]


@every("known, words", SENTENCES)
def test_the_sentence_is_the_level_why_and_the_next_step(known, words):
    assert replace(PLAIN, **known).sentence(NAMES) == f"Verdict: {words}"


# What is known, the options in force, and the step that is left to try.
STEPS = [
    ({"khat": 0.7}, ["--correct"], RUNS),
    ({"khat": 0.7}, ["--correct", "--runs"], f"{PROGRAM}"),
    ({"khat": 0.7, **shifts_of(0.0, 0.0, 0.3)}, ["--correct", "--runs"], f"Reparameterise theta{OTHERWISE}"),
    ({"khat": 0.7}, ["--runs"], CORRECT),
    (modes(mode()), ["--correct"], ONE_MODE),
    (annealed(**modes(mode())), ["--correct", "--runs"], ONE_MODE),
    (annealed(elbo_se=3.0), ["--runs"], PROPER),
    (annealed(**tails(0.9)), ["--correct", "--runs"], QUANTILES),
    (annealed(autocorrelation=0.45), ["--correct"], f"{PROGRAM}"),
]


@every("known, in_force, step", STEPS)
def test_the_step_is_one_that_is_not_in_force(known, in_force, step):
    assert replace(PLAIN, **known).sentence(NAMES, in_force).endswith(f". {step}")


def test_where_all_steps_are_in_force_none_is_advised():
    whole = replace(PLAIN, khat=0.5).sentence(NAMES, ["--correct"])
    assert whole.endswith("(k-hat 0.50).") and "Ask" not in whole


# What is known, and what of it the numbers tell.
DETAILS = [
    (
        annealed(drift=0.1, autocorrelation=0.61, **tails(0.9)),
        "Also: annealed draws are not stationary: a mean or an sd still changed by 0.1 sd. Also: the tails "
        "of mu, unconstrained, are so heavy that means and sds may not exist; quantiles do. Pareto",
    ),
    (
        {},
        "Pareto k-hat of q is 0.30 (its weights are reliable below 0.70); effective sample "
        "size of 4000 weighted draws of q: 3000.",
    ),
    (
        {"khat": 1.0, "ess": 3920.0},
        "The tail holds so little weight that its shape does not matter.",
    ),
    (
        annealed(autocorrelation=-0.02, drift=0.0123, rhats=(1.0042,)),
        "Annealing took 3 temperatures; after the last HMC moves the autocorrelation with the start is "
        "0.00, means and sds changed by 0.01 sd more than noise, and R-hat between the two starts is 1.004 "
        "at most.",
    ),
    (annealed(temperatures=1), "Annealing took 1 temperature;"),
    (trend(0.0, 1.0), "The ELBO had stopped improving."),
    (trend(3.1, 1.0), "The ELBO was still rising at the stop."),
    (runs(1.06), "Over 4 runs the largest R-hat is 1.06 (tau): they disagree."),
    (runs(1.05), "Over 4 runs the largest R-hat is 1.05 (tau): they agree."),
]
UNTOLD = [
    (annealed(drift=0.1), "Also"),
    ({"khat": 0.69, "ess": 3920.0}, "so little weight"),
    ({"khat": 1.0, "ess": 3919.0}, "so little weight"),
    ({"khat": math.nan}, "k-hat"),
    ({}, "Annealing"),
    (trend(math.nan, math.nan), "ELBO"),
    ({}, "runs"),
]


@every("known, words", DETAILS)
def test_the_details_are_the_numbers(known, words):
    assert words in replace(PLAIN, **known).details(NAMES)


@every("known, words", UNTOLD)
def test_the_details_do_not_tell_what_is_not_so(known, words):
    assert words not in replace(PLAIN, **known).details(NAMES)


def test_in_one_line_are_the_weights_that_the_draws_were_resampled_by():
    assert repr(PLAIN).endswith("k-hat of q 0.30, effective sample size 3000 of 4000>")
    mixed = replace(PLAIN, khat=0.6, made=DrawSource.OF_MIXTURE, mixture=WeightQuality(8192, 0.06, 6597.0))
    assert repr(mixed).endswith("a mixture, k-hat of mixture 0.06, effective sample size 6597 of 8192>")


def test_no_words_have_gaps():
    for known, *_ in [*LEVELS, *SENTENCES, *DETAILS]:
        found = replace(PLAIN, **known)
        for text in (found.sentence(NAMES), found.details(NAMES)):
            assert "  " not in text and text == text.strip()


def weighted_draws():
    """q is as narrow as 0.5 sds of p in one coordinate, and 0.4 sds off in the other."""
    u = stats.norm.rvs(size=(4000, 2), random_state=1) * [1.0, 0.5] + [0.4, 0.0]
    return weighted_draws_of(
        u, stats.norm.logpdf(u).sum(axis=1), stats.norm.logpdf(u, [0.4, 0.0], [1.0, 0.5]).sum(axis=1)
    )


def test_a_verdict_takes_its_numbers_from_the_pool():
    proposals, found = weighted_draws(), (mode(),)
    u = proposals.u
    drawn = Corrected(u, proposals.log_p, DrawSource.OF_Q, modes=found)
    elbo = elbo_of(proposals.log_p - proposals.log_q, 0.0, 2)
    judged = verdict_of(proposals, elbo, PLAIN.outcome, Trend(1.0, 2.0), drawn)
    assert judged.n == 4000 and judged.modes == found
    assert judged.trend == Trend(1.0, 2.0) and judged.outcome is PLAIN.outcome
    assert judged.elbo_se == elbo.se
    assert judged.annealed is None and not judged.tails.size and not judged.stuck
    # For N(0, 1) / N(0, s^2) the ratio has tail shape 1 - s^2.
    assert judged.khat > 0.6 and (judged.khats >= judged.khat).all()
    weights = np.exp(proposals.weights.log_weights)
    np.testing.assert_allclose(judged.shifts, (weights @ u - u.mean(axis=0)) / u.std(axis=0))


def test_tails_are_those_of_the_annealed_draws():
    proposals = weighted_draws()
    u = np.column_stack([stats.cauchy.rvs(size=4000, random_state=2), proposals.u[:, 0]])
    found = Annealed(u, np.zeros(4000), 1, 0.0, 0.0, 0.0)
    drawn = Corrected(u[:1000], proposals.log_p[:1000], DrawSource.ANNEALED, found)
    judged = verdict_of(
        proposals, elbo_of(proposals.log_p - proposals.log_q, 0.0, 0), PLAIN.outcome, None, drawn
    )
    assert judged.tails[0] == pytest.approx(1, abs=0.3) and judged.tails[1] < 0.2


def test_a_coordinate_without_spread_does_not_move_and_one_with_it_tells():
    u = np.column_stack([np.ones(1000), stats.norm.rvs(size=1000, random_state=1)])
    proposals = WeightedDraws(u, np.zeros(1000), np.zeros(1000), Psis(np.full(1000, -math.log(1000)), 0.1))
    drawn = Corrected(u, proposals.log_p, DrawSource.OF_Q)
    judged = verdict_of(proposals, elbo_of(np.zeros(1000), 0.0, 0), PLAIN.outcome, None, drawn)
    assert judged.khat == 0.1 and judged.shifts[0] == 0 and abs(judged.shifts[1]) < 1e-12
    assert judged.stuck == (0,) and judged.level is POOR


def test_where_one_draw_is_written_the_pool_tells_what_is_stuck():
    proposals = weighted_draws()
    drawn = Corrected(proposals.u[:1], proposals.log_p[:1], DrawSource.OF_Q)
    assert not verdict_of(proposals, elbo_of(proposals.log_p, 0.0, 0), PLAIN.outcome, None, drawn).stuck
