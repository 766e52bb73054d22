"""The levels of a verdict as one table, each rule on both sides of its bounds, and what the sentence says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from laws.every import every
from scipy import stats

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.elbo import elbo_of
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.target import Axis, Target
from ppl.methods.correct import correction
from ppl.methods.correct.correction import Corrected, DrawSource, extremes
from ppl.methods.correct.weight_quality import WeightQuality
from ppl.methods.diagnose import psis
from ppl.methods.diagnose import verdict_rules as findings
from ppl.methods.diagnose.diagnostics import Trend, sd_errors
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.modes import Mode, Peak
from ppl.methods.diagnose.psis import Psis, WeightedDraws, weighted_draws_of
from ppl.methods.diagnose.spread import Spread
from ppl.methods.diagnose.verdict import Verdict, beyond_limits, narrow, verdict_of
from ppl.methods.diagnose.verdict_rules import (
    RULES,
    divergent,
    ended_badly,
    exchanged_labels,
    far_before,
    far_from_q,
    heavy_tails,
    heavy_weights,
    low_ess,
    mirror_images,
    near_q,
    no_spread,
    not_stationary,
    nothing_to_tell,
    other_modes,
    rejected_again_and_again,
    rounded_to_bounds,
    runs_disagree,
    slow_moves,
    starts_disagree,
    still_rising,
    symmetric_modes,
    uncertain_elbo,
    uncertain_sds,
)
from ppl.methods.moves.ending import Moved
from ppl.methods.moves.images import Images
from ppl.methods.moves.labels import Labels
from ppl.methods.moves.mixing import Mixing

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
    return {"outcome": Outcome(ending, "interrupted at iteration 3")}


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


def moved(
    khat=5.0,
    drift=(),
    apart=(),
    effective=(),
    drift_of_log_p=0.0,
    divergent=0.0,
    uneven=0.0,
    bound=0,
    **known,
):
    """Draws of 128 chains that began at a q which says little of the posterior."""
    mixing = Mixing(five(*drift), five(*apart), five(*effective, rest=1000.0), drift_of_log_p)
    counts = {"chains": 128, "gradients": 50_000, "moves": 50, "total_moves": 90, "bound": bound}
    chains = Moved(np.zeros((1, 5)), np.zeros(1), np.zeros(1, dtype=int), mixing, divergent, uneven, **counts)
    return {"made": DrawSource.MOVED, "moved": chains, "khat": khat, **known}


def mode(share=0.3, symmetric=False, offset=(5.0,)):
    return Mode(Gaussian(five(*offset), np.eye(5)), Peak(five(*offset), -1.0), share, symmetric)


def modes(*found):
    return {"modes": found}


def tails(*shapes):
    return {"tails": five(*shapes)}


def rounded(*shares):
    return {"rounded": five(*shares)}


IMAGE = mode(symmetric=True)
MIRRORED = {"images": Images((np.array([1, 2]),), (), np.ones(5))}
TWO = Labels((Axis(np.array([[1], [2]]), np.eye(2)),), np.arange(2), np.arange(2))
RELABELLED = {"images": Images((), (TWO,), np.arange(5.0))}

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
    # Draws near where a parameter rounds to its bound.
    (rounded(0.00995), GOOD),
    (rounded(0.0, 0.01), USABLE, rounded_to_bounds),
    (rounded(0.1), USABLE, rounded_to_bounds),
    (rounded(0.101), POOR, rounded_to_bounds),
    ({**rounded(0.5), **ended(Ending.DIVERGED)}, POOR, rounded_to_bounds, ended_badly),
    (resampled(**rounded(0.101)), POOR, rounded_to_bounds),
    (moved(**rounded(0.101)), POOR, rounded_to_bounds),
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
    # Draws of chains owe little to q.
    (moved(), GOOD),
    (moved(khat=math.nan), GOOD),
    (moved(**ended(Ending.BUDGET_REACHED)), GOOD),
    (moved(**ended(Ending.DIVERGED)), USABLE, ended_badly),
    (moved(**ended(Ending.INTERRUPTED)), USABLE, ended_badly),
    (moved(**trend(3.1, 1.0)), GOOD),
    (moved(**shifts_of(0.9)), GOOD),
    (moved(effective=(500.0, 400.0)), GOOD),
    (moved(effective=(500.0, 399.0)), USABLE, slow_moves),
    (moved(effective=(256.0,)), USABLE, slow_moves),
    (moved(effective=(255.0,)), POOR, slow_moves),
    (moved(divergent=0.001), GOOD),
    (moved(divergent=0.0011), USABLE, divergent),
    (moved(uneven=0.12), GOOD),
    (moved(uneven=0.13), USABLE, rejected_again_and_again),
    ({**moved(uneven=0.5), **resampled(khat=0.3)}, GOOD),
    (moved(drift=(0.0, 0.0299)), GOOD),
    (moved(drift=(0.0, 0.03)), USABLE, not_stationary),
    (moved(drift=(0.1,)), USABLE, not_stationary),
    (moved(drift=(0.101,)), POOR, not_stationary),
    (moved(drift_of_log_p=0.03), USABLE, not_stationary),
    (moved(apart=(0.0, 0.0299)), GOOD),
    (moved(apart=(0.0, 0.03)), USABLE, starts_disagree),
    (moved(apart=(0.101,)), POOR, starts_disagree),
    (moved(sd_errors=five(0.0, 0.1)), USABLE, uncertain_sds),
    (moved(sd_errors=five(0.0, 0.099)), GOOD),
    (moved(**tails(0.0, 0.6)), GOOD),
    (moved(**tails(0.0, 0.601)), USABLE, heavy_tails),
    (moved(**modes(mode())), USABLE, other_modes),
    (moved(**modes(IMAGE)), USABLE, symmetric_modes),
    (moved(effective=(255.0,), **modes(mode())), POOR, other_modes, slow_moves),
    (moved(elbo_se=1.01), GOOD),
    (moved(stuck=(1,)), POOR, no_spread),
    (moved(**MIRRORED), USABLE, mirror_images),
    (moved(**RELABELLED), USABLE, exchanged_labels),
    # Draws that were chosen by weights and then moved: a narrow place rejects moves, and keeps its draws.
    ({**moved(divergent=0.5), **resampled(khat=0.3)}, GOOD),
    ({**moved(effective=(150.0,)), **resampled(khat=0.3)}, GOOD),
    ({**moved(drift=(0.03,)), **resampled(khat=0.3)}, USABLE, not_stationary),
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
    (moved(**runs(1.06)), POOR, runs_disagree),
    (moved(**runs(1.05)), GOOD),
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
    rounded(0.5),
    tails(0.9),
    modes(mode()),
    modes(IMAGE),
    runs(1.06),
    moved(drift=(0.03,)),
    moved(effective=(399.0,)),
]


@pytest.mark.parametrize("against", NEVER_GOOD)
@pytest.mark.parametrize("made", [{}, {"khat": 2.0, "ess": 3990.0}, resampled(), moved(khat=0.1)])
def test_a_fit_with_that_against_it_is_never_good(made, against):
    assert replace(PLAIN, **{**made, **against}).level is not GOOD


@pytest.mark.parametrize("made", [{}, {"khat": 2.0, "ess": 3990.0}, resampled()])
def test_draws_that_rest_on_a_q_whose_elbo_is_not_known_are_never_good(made):
    assert replace(PLAIN, **{**made, "elbo_se": 1.01}).level is not GOOD


# The bounds of the verdict, and where they stand.
BOUNDS = [
    *(
        ("VERDICT", name)
        for name in (
            "most_shift",
            "fewest_ess",
            "most_drift",
            "effective_a_chain",
            "heavy_tail",
            "few_rounded",
            "most_rounded",
            "uncertain_elbo",
        )
    ),
    ("CORRECTION", "enough_ess"),
    ("MOVES", "fewest_effective"),
]


@pytest.mark.parametrize("factor", [0.99, 1.01])
@pytest.mark.parametrize("record, bound", BOUNDS, ids=[bound for _, bound in BOUNDS])
def test_no_bound_without_a_row_that_tells_of_it(monkeypatch, record, bound, factor):
    owner = correction if record == "CORRECTION" else findings
    before, bounds = sentences(), getattr(owner, record)
    monkeypatch.setattr(owner, record, bounds._replace(**{bound: getattr(bounds, bound) * factor}))
    assert sentences() != before


@pytest.mark.parametrize("factor", [0.99, 1.01])
@pytest.mark.parametrize("bound", ["GOOD_KHAT", "GOOD_SHARE"])
def test_a_row_tells_of_each_bound_of_weights(monkeypatch, bound, factor):
    before = sentences()
    monkeypatch.setattr(findings, bound, getattr(findings, bound) * factor)
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
    for how in ("resampled by importance", "moved by HMC until they are stationary")
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
        rounded(0.0, 0.01),
        "usable: near a bound, doubles round tau to it: about 1% of the posterior is missing, as the "
        "density there is that of a bound. Give tau a prior that is finite at the bounds, or declare its "
        "logarithm or logit instead.",
    ),
    (
        rounded(0.5),
        "poor: near a bound, doubles round mu to it: half or more of the posterior is missing, as the "
        "density there is that of a bound. Give mu a prior that is finite at the bounds, or declare its "
        "logarithm or logit instead.",
    ),
    (
        resampled(),
        f"good: the draws were importance-resampled from a q close to the posterior ({ESS}).",
    ),
    (
        moved(effective=(900.0,)),
        "good: the draws come from 128 HMC chains started at q, stationary and mixed (effective sample "
        "size: at least 900).",
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
        "sample size 1031 of 4000), so their tails may be short. Move the draws until they are "
        "stationary (--move); this takes longer.",
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
        "poor: the run was interrupted at iteration 3. Run it to the end; "
        "--resume continues from its checkpoint, if one was written.",
    ),
    (
        {"elbo_se": 31.0},
        f"usable: q is so far from the posterior that its ELBO is not known to a nat (± 31). {RUNS}",
    ),
    (
        {"stuck": (1, 3)},
        "poor: most draws of tau, phi are equal, to rounding: the density is unbounded there. Give scales a "
        "prior that excludes 0, such as lognormal, and check whether the data follow exactly from others.",
    ),
    (
        modes(mode(0.31), IMAGE, mode(0.049)),
        f"poor: there are 2 other modes, with about 31% and 5% of the posterior. {CORRECT}",
    ),
    (modes(mode(0.31)), f"poor: there is another mode, with about 31% of the posterior. {CORRECT}"),
    (
        moved(**modes(mode(0.31))),
        "usable: there is another mode in addition to the mode of q, with about 31% of the posterior; "
        f"the share of draws in each is uncertain. {RUNS}",
    ),
    (
        moved(
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
        moved(**RELABELLED),
        "usable: the posterior is invariant to exchanging the labels of tau, theta; draws are spread over "
        "all 2 labellings, so that these means are equal by symmetry; quantities that do not depend on the "
        "labelling are unaffected. If you need these means, order the parameters or fix a sign.",
    ),
    (
        moved(apart=(0.0, 0.05, 0.0, 0.07)),
        "usable: chains from two starts disagree by 0.07 sd; most affected: phi, tau. "
        f"Reparameterise phi, tau{OTHERWISE}",
    ),
    (
        moved(apart=(0.0, 0.3)),
        f"poor: chains from two starts disagree by 0.3 sd; most affected: tau. Reparameterise tau{OTHERWISE}",
    ),
    (
        moved(sd_errors=five(0.0, 0.15, 0.3)),
        "usable: an sd is known to 30% only, by its standard error; most affected: theta, tau. Report "
        "quantiles, or give it a prior with lighter tails.",
    ),
    (
        moved(effective=(500.0, 300.0, 350.0)),
        "usable: the HMC moves mix too slowly: effective sample size 300 of 128 chains; most affected: "
        f"tau, theta. {PROGRAM}",
    ),
    (
        moved(effective=(500.0, 300.0, 350.0), bound=400_000),
        "usable: the HMC moves mix too slowly: effective sample size 300 of 128 chains (at most 400,000 "
        f"gradients); most affected: tau, theta. {PROGRAM}",
    ),
    (
        moved(drift=(0.0, 0.1)),
        "usable: the draws are not stationary: a mean, an sd or a quantile still changed by 0.1 sd while "
        f"they were moved; most affected: tau. {PROGRAM}",
    ),
    (
        moved(drift_of_log_p=0.2),
        "poor: the draws are not stationary: a mean, an sd or a quantile still changed by 0.2 sd while they "
        f"were moved. {PROGRAM}",
    ),
    (
        moved(**tails(0.5, 0.7, 0.0, 0.9)),
        "usable: the tails of phi, tau are so heavy that means and sds may not exist; "
        f"quantiles do. {QUANTILES}",
    ),
    (runs(1.06), f"poor: 4 runs disagree (R-hat 1.06 of tau). {ONE_MODE}"),
    # The worst is said, of equals the first rule's.
    (
        moved(drift=(0.05,), effective=(130.0,), **tails(0.9)),
        "poor: the HMC moves mix too slowly: effective sample size 130 of 128 chains; most affected: mu. "
        f"{PROGRAM}",
    ),
    (
        moved(drift=(0.05,), **tails(0.9)),
        "usable: the draws are not stationary: a mean, an sd or a quantile still changed by 0.05 sd while "
        f"they were moved; most affected: mu. {PROGRAM}",
    ),
]


@every("known, words", SENTENCES)
def test_the_sentence_is_the_level_why_and_the_next_step(known, words):
    assert replace(PLAIN, **known).sentence(NAMES) == f"Verdict: {words}"


# What is known, the settings in force, and the step that is left to try.
STEPS = [
    ({"khat": 0.7}, ["correct"], RUNS),
    ({"khat": 0.7}, ["correct", "runs"], f"{PROGRAM}"),
    ({"khat": 0.7, **shifts_of(0.0, 0.0, 0.3)}, ["correct", "runs"], f"Reparameterise theta{OTHERWISE}"),
    ({"khat": 0.7}, ["runs"], CORRECT),
    (modes(mode()), ["correct"], ONE_MODE),
    (moved(**modes(mode())), ["correct", "runs"], ONE_MODE),
    ({"elbo_se": 3.0}, ["runs"], PROPER),
    (moved(**tails(0.9)), ["correct", "runs"], QUANTILES),
    (moved(effective=(300.0,)), ["correct"], f"{PROGRAM}"),
]


@every("known, in_force, step", STEPS)
def test_the_step_is_one_that_is_not_in_force(known, in_force, step):
    assert replace(PLAIN, **known).sentence(NAMES, in_force).endswith(f". {step}")


def test_where_all_steps_are_in_force_none_is_advised():
    whole = replace(PLAIN, khat=0.5).sentence(NAMES, ["correct"])
    assert whole.endswith("(k-hat 0.50).") and "Ask" not in whole


# What is known, and what of it the numbers tell.
DETAILS = [
    (
        moved(drift=(0.05,), effective=(130.0,), **tails(0.9)),
        "Also: the draws are not stationary: a mean, an sd or a quantile still changed by 0.05 sd while "
        "they were moved; most affected: mu. Also: the tails of mu are so heavy that means "
        "and sds may not exist; quantiles do. Pareto",
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
        moved(drift=(0.0123,), effective=(1234.0, 900.0)),
        "128 chains made 90 HMC moves with 50000 gradients. Over the last 50 a mean, an sd or a quantile "
        "changed by 0.012 sd more than noise; effective sample sizes: at least 900.",
    ),
    (trend(0.0, 1.0), "The ELBO had stopped improving."),
    (trend(3.1, 1.0), "The ELBO was still rising at the stop."),
    (runs(1.06), "Over 4 runs the largest R-hat is 1.06 (tau): they disagree."),
    (runs(1.05), "Over 4 runs the largest R-hat is 1.05 (tau): they agree."),
]
UNTOLD = [
    (moved(drift=(0.1,)), "Also"),
    ({"khat": 0.69, "ess": 3920.0}, "so little weight"),
    ({"khat": 1.0, "ess": 3919.0}, "so little weight"),
    ({"khat": math.nan}, "k-hat"),
    ({}, "HMC"),
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
    assert judged.moved is None and not judged.tails.size and not judged.stuck
    # For N(0, 1) / N(0, s^2) the ratio has tail shape 1 - s^2.
    assert judged.khat > 0.6 and (judged.khats >= judged.khat).all()
    weights = np.exp(proposals.weights.log_weights)
    np.testing.assert_allclose(judged.shifts, (weights @ u - u.mean(axis=0)) / u.std(axis=0))


class WithLogarithm(Target):
    """Of three coordinates, of which the last is a logarithm."""

    dim = 3

    @property
    def kinds(self):
        return np.zeros(3, dtype=bool), np.arange(3) < 2, np.arange(3) == 2


def test_tails_and_sds_are_those_of_the_parameters_of_moved_draws():
    """Cauchy's law, a normal, and the absolute value of the first by its logarithm; in turned coordinates."""
    cauchy, z = stats.cauchy.rvs(size=4000, random_state=2), stats.norm.rvs(size=4000, random_state=3)
    u = np.column_stack([cauchy, z, np.log(np.abs(cauchy))])
    u[7::40, 1] += 3.0
    scaled = Scaled(WithLogarithm(), np.ones(3), np.tril(np.full((3, 3), 0.2)) + np.eye(3))
    chain = np.tile(np.arange(40), 100)
    found = Moved(scaled.to_v(u), np.zeros(4000), chain, Mixing(*[np.zeros(3)] * 3, 0.0), chains=40)
    tails, errors = extremes(scaled, found.u, found.chains)
    assert tails[::2] == pytest.approx(1, abs=0.3) and tails[1] < 0.2
    x = np.column_stack([u[:, :2], np.exp(u[:, 2])])
    assert errors == pytest.approx(sd_errors(x.reshape(100, 40, 3)))


def test_a_coordinate_without_spread_does_not_move_and_one_with_it_tells():
    u = np.column_stack([np.ones(1000), stats.norm.rvs(size=1000, random_state=1)])
    proposals = WeightedDraws(u, np.zeros(1000), np.zeros(1000), Psis(np.full(1000, -math.log(1000)), 0.1))
    drawn = Corrected(u, proposals.log_p, DrawSource.OF_Q)
    judged = verdict_of(proposals, elbo_of(np.zeros(1000), 0.0, 0), PLAIN.outcome, None, drawn)
    assert judged.khat == 0.1 and judged.shifts[0] == 0 and abs(judged.shifts[1]) < 1e-12
    assert judged.stuck == (0,) and judged.level is POOR


def test_draws_that_differ_by_rounding_alone_are_equal():
    """As those of a slope with data exactly on a line: each has one of a few neighbouring floats."""
    rng = np.random.default_rng(1)
    slope = 2 + 1e-15 * rng.normal(size=1000)
    slope[7] = 2.1
    others = rng.normal(size=(2, 1000))
    assert narrow(np.column_stack([slope, 1e3 + 1e-6 * others[0], others[1]])).tolist() == [1, 0, 0]


@every(
    "law, limit, beyond",
    [
        (stats.expon(scale=10), 37.0, math.exp(-3.7)),
        (stats.expon(scale=10), 60.0, math.exp(-6.0)),
        (stats.norm(33), 37.0, 0.0),
        (stats.norm(36), 37.0, stats.norm.sf(1)),
        (stats.norm(37), 37.0, 0.5),
        (stats.uniform(-100, 100), 37.0, 0.0),
        (stats.uniform(-100, 200), 37.0, 1.0),
    ],
)
def test_the_tail_tells_how_much_mass_is_beyond_a_limit(law, limit, beyond):
    """An exponential tail is known, others to a factor; a density that does not fall has no end."""
    u = law.ppf(np.linspace(0, law.cdf(limit), 4001)[1:-1])
    columns = np.column_stack([u, -u, u])
    limits = np.array([[-np.inf, -limit, -np.inf], [limit, np.inf, np.inf]])
    shares = beyond_limits(columns, limits)
    assert shares[0] == pytest.approx(shares[1]) and shares[2] == 0
    if law.dist.name == "expon":
        assert shares[0] == pytest.approx(beyond, rel=0.1)
    elif beyond < 0.01:
        assert shares[0] < 0.01
    else:
        assert beyond / 3 < shares[0]


def test_where_one_draw_is_written_the_pool_tells_what_is_stuck():
    proposals = weighted_draws()
    drawn = Corrected(proposals.u[:1], proposals.log_p[:1], DrawSource.OF_Q)
    assert not verdict_of(proposals, elbo_of(proposals.log_p, 0.0, 0), PLAIN.outcome, None, drawn).stuck
