"""Findings against a fit: one rule a finding, and the table of rules that a verdict goes through.

A rule looks at what is known of the fit and yields nothing, or how far the fit can still be believed, why,
and what to try next.  Bounds that only the verdict has stand here, those of weights and moves with these.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ppl.advice import Advice, Call, Sentence
from ppl.errors import first_few
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Ending
from ppl.methods.correct.correction import CORRECTION, DrawSource, is_enough
from ppl.methods.correct.weight_quality import GOOD_KHAT, GOOD_SHARE, WeightQuality
from ppl.methods.diagnose.level import FROM_BEST, Level
from ppl.methods.diagnose.psis import are_alike, khat_threshold
from ppl.methods.diagnose.quality import Quality
from ppl.methods.moves.ending import MOVES


class VerdictBounds(NamedTuple):
    """The limits within which a fit is good, or usable."""

    good_update_share: float = 0.9
    """The effective share of draws of a q that stands for earlier rows in an update: a third of an sd."""

    most_shift: float = 0.2
    """A mean that the importance weights would move by more sds than this is not where it should be."""

    fewest_ess: int = 400
    """Effective draws of the proposals of resampled draws, for means to be sure to 0.05 sd."""

    most_drift: float = 0.1
    """The change of a mean, an sd or a quantile, in sds and beyond its noise, from one half of the moves to
    the other, or between chains from two starts, to be usable; to be good there is none, by `MOVES.drift`.
    """

    effective_a_chain: float = 2.0
    """Independent draws a chain that the moves must be worth to be usable, where they are worth fewer than
    `MOVES.fewest_effective`: chains that are stuck are worth one each.
    """

    most_divergent: float = 0.001
    """The share of the moves that diverge, however short their steps; in good fits it is less."""

    most_uneven: float = 0.12
    """By how much more than by chance the number of rejected trajectories varies over chains, a move of the
    last stage, to be good. Of 25 fits it was 0.13 to 0.26 where a quantile of a scale was off by 0.3 sd or an
    sd by 0.15, as the chains had hardly been in its neck, and at most 0.09 in the others.
    """

    heavy_tail: float = 0.6
    """The shape of a tail that falls off like a power beyond which draws have no mean, as far as so many can
    tell.
    """

    uncertain_elbo: float = 1.0
    """The standard error, in nats, above which draws do not know the ELBO to a nat."""

    rounding: float = 1e-12
    """The range of draws, as a share of their size, that is rounding error of a density or its gradient."""

    few_rounded: float = 0.01
    """The share of the mass where a parameter rounds to its bound, at most, to be good: without it
    means are off by one or two hundredths of an sd."""

    most_rounded: float = 0.1
    """The same to be usable."""

    tail_share: float = 0.1
    """The share of the draws in the tail that tells how much is beyond."""

    looked_at: int = 100
    """Draws of which that range is taken."""

    most_named: int = 3
    """Coordinates that a sentence names."""


VERDICT = VerdictBounds()
WEIGHTED = (DrawSource.RESAMPLED, DrawSource.MIXTURE, DrawSource.NESTED)
"""Draws that were chosen by their weights."""


CoordinateName = Callable[[int], str]


class Finding(NamedTuple):
    """The level a fit can have at most, why (a clause), and what to try: the first that is not in force."""

    level: Level
    why: str
    steps: tuple[Sentence, ...]


RUNS = ("Compare independent runs: ", Advice("runs", 4), ".")
MOVED = ("Move the draws until they are stationary (", Advice("move", True), "); this takes longer.")
DRAWS = ("Use more draws (", Advice("draws"), ").")
ONE_MODE = "Try priors or an ordering that leave one mode."
ITERATIONS = ("Allow more iterations (", Advice("iter"), "), or omit ", Advice("algorithm"), ".")
PROPER = ("Give every parameter a proper prior, or start nearer to the posterior (", Advice("init"), ").")
BOUNDED = (
    "Give scales a prior that excludes 0, such as lognormal, and check whether the data follow exactly from "
    "others."
)
ALL_DATA = "Fit all data anew."
ONWARD = (
    "Run it to the end; ",
    Advice("resume", True),
    " continues from its checkpoint, if one was written.",
)
QUANTILES = "Report quantiles, or give it a prior with lighter tails."
IDENTIFY = "If you need these means, order the parameters or fix a sign."
FIX_A_SIGN = "If you need those means, declare one entry with <lower=0>."
SAMPLE = Call("`ppl sample`", "`posterior.sample()`")


def reparameterise(names: str) -> Sentence:
    return f"Reparameterise {names}, for instance in a non-centred form, or sample: ", SAMPLE, "."


def vanishing(names: str) -> Sentence:
    return (f"Give {names} a prior that is finite at the bounds, or declare its logarithm or logit instead.",)


OTHER_FORM = reparameterise("the program"), RUNS


def findings(v: Quality, name: CoordinateName = str) -> list[Finding]:
    """All that stands against a fit, the worst first; `name` calls a coordinate by its name."""
    against = [finding for rule in RULES for finding in rule(v, name)]
    return sorted(against, key=lambda finding: -FROM_BEST.index(finding.level))


# --- The search for q, and other runs ------------------------------------------------------------


def runs_disagree(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if v.spread and v.spread.disagree:
        why = f"{v.spread.runs} runs disagree (R-hat {v.spread.rhat:.2f} of {name(v.spread.worst)})"
        yield Finding(Level.POOR, why, (ONE_MODE,))


def ended_badly(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    level = Level.USABLE if v.moved else Level.POOR  # moves tell of draws what the search does not
    match v.outcome.ending:
        case Ending.DIVERGED:
            yield Finding(level, "the search for q diverged", (PROPER,))
        case Ending.INTERRUPTED:
            yield Finding(level, f"the run was {v.outcome.reason}", (ONWARD,))


def still_rising(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if v.made is DrawSource.OF_Q and v.trend and v.trend.rising:
        gain = f"{v.trend.gain:.2g} ± {v.trend.se:.2g} nats over the second half of the run"
        why = f"the ELBO was still rising when the run stopped, by {gain}"
        yield Finding(Level.POOR, why, (ITERATIONS,))


def uncertain_elbo(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    known = v.made is DrawSource.MOVED or v.elbo_se <= VERDICT.uncertain_elbo  # chains need not know it
    if not known:  # also where nan
        why = f"q is so far from the posterior that its ELBO is not known to a nat (± {v.elbo_se:.2g})"
        yield Finding(Level.USABLE, why, (RUNS, PROPER))


def no_spread(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if v.stuck and not math.isnan(v.khat):
        equal = f"most draws of {named(v.stuck, name)} are equal, to rounding"
        yield Finding(Level.POOR, f"{equal}: the density is unbounded there", (BOUNDED,))


def rounded_to_bounds(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Mass where a parameter is its bound: the density there is infinite or zero, and draws end before."""
    if worst := worst_of(v.rounded, name, VERDICT.few_rounded):
        share = float(v.rounded.max())
        level = Level.USABLE if share <= VERDICT.most_rounded else Level.POOR
        mass = f"about {share:.0%}" if share < 0.5 else "half or more"
        why = f"{mass} of the posterior is missing, as the density there is that of a bound"
        yield Finding(level, f"near a bound, doubles round {worst} to it: {why}", (vanishing(worst),))


def nothing_to_tell(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if math.isnan(v.khat) and not v.moved:
        yield Finding(Level.UNKNOWN, "too few draws, or draws without variance, to judge", (DRAWS,))


# --- Draws of q, and resampled ones --------------------------------------------------------------


def far_from_q(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Draws of q, or resampled by weights of which no estimate can be made."""
    drawn = {
        DrawSource.OF_Q: "q misses part of the posterior",
        DrawSource.RESAMPLED: "the importance weights are unreliable",
    }.get(v.made)
    if drawn and not v.alike and v.khat >= khat_threshold(v.n):
        worst = worst_of_q(v, name)
        why = f"{drawn} (Pareto k-hat {v.khat:.2f}){about(worst)}"
        yield Finding(Level.POOR, why, (correction(v), RUNS, reparameterise(worst or "the program")))


def near_q(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Draws of q that weights would still move."""
    fits = (v.khat < GOOD_KHAT or v.alike) and v.mean_shift < VERDICT.most_shift
    if v.made is DrawSource.OF_Q and not fits and v.khat < khat_threshold(v.n):
        near = f"for importance resampling to correct it (k-hat {v.khat:.2f}){about(worst_of_q(v, name))}"
        yield Finding(Level.USABLE, f"q is close enough to the posterior {near}", (correction(v),))


def low_ess(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if v.made in WEIGHTED and not v.ess >= VERDICT.fewest_ess:
        drawn = f"the {v.n} draws of q that were resampled by importance"
        yield Finding(Level.USABLE, f"{drawn} have an effective sample size of {v.ess:.0f}", (DRAWS,))


def heavy_weights(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Weights without a variance, most of which are worth little: resampled tails may end too soon."""
    near = GOOD_KHAT <= v.khat < khat_threshold(v.n)
    if v.made in WEIGHTED and near and v.ess < GOOD_SHARE * v.n:
        sizes = f"Pareto k-hat {v.khat:.2f}, effective sample size {v.ess:.0f} of {v.n}"
        weights = f"importance weights that vary much ({sizes})"
        why = f"draws were resampled by {weights}, so their tails may be short"
        yield Finding(Level.USABLE, why, (MOVED, RUNS))


def correction(v: Quality) -> Sentence:
    """To ask for what would be done about draws of q."""
    n = CORRECTION.proposals
    enough = v.khat < khat_threshold(v.n) and is_enough(v.ess / v.n * n, n) and not v.modes
    how = "resampled by importance" if enough else "moved by HMC until they are stationary"
    omitted = f"Use corrected draws, {how}: omit ", Advice("algorithm")
    return *omitted, ", or add ", Advice("correct", True), "."


def worst_of_q(v: Quality, name: CoordinateName) -> str:
    """The coordinates whose means the weights would move, or whose k-hat is worst, most of all first."""
    order = np.argsort(-np.abs(v.shifts), kind="stable")
    off = [k for k in order if abs(v.shifts[k]) >= VERDICT.most_shift or v.khats[k] >= khat_threshold(v.n)]
    return named(off, name)


def about(worst: str) -> str:
    return f"; most affected: {worst}" if worst else ""


def named(coordinates: Sequence[int], name: CoordinateName) -> str:
    return first_few([*map(name, coordinates)], VERDICT.most_named)


# --- Draws of chains ------------------------------------------------------------------------------


def not_stationary(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if v.moved:
        drift = v.moved.mixing.largest_drift
        if drift >= MOVES.drift:
            worst = worst_of(v.moved.mixing.drift, name)
            what = f"a mean, an sd or a quantile still changed by {drift:.2g} sd"
            why = f"the draws are not stationary: {what} while they were moved{bound_of(v)}{about(worst)}"
            yield Finding(level_of_drift(drift), why, OTHER_FORM)


def starts_disagree(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if v.moved:
        apart = float(v.moved.mixing.apart.max(initial=0.0))
        if apart >= MOVES.drift:
            worst = worst_of(v.moved.mixing.apart, name)
            why = f"chains from two starts disagree by {apart:.2g} sd{about(worst)}"
            yield Finding(level_of_drift(apart), why, (reparameterise(worst or "the program"), RUNS))


def uncertain_sds(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Of heavy tails few chains have been at the ends, which the sds hang on."""
    by_chance = v.made in (DrawSource.MOVED, DrawSource.MIXTURE)
    if (worst := worst_of(v.sd_errors, name, MOVES.most_sd_error)) and by_chance:
        why = f"an sd is known to {float(v.sd_errors.max()):.0%} only, by its standard error"
        yield Finding(Level.USABLE, f"{why}; most affected: {worst}", (QUANTILES, *OTHER_FORM))


def level_of_drift(sds: float) -> Level:
    return Level.USABLE if sds <= VERDICT.most_drift else Level.POOR


def slow_moves(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Of chains alone: draws that were chosen by weights are independent before they are moved."""
    if v.made is DrawSource.MOVED and v.moved:
        effective, chains = v.moved.mixing.fewest_effective, v.moved.chains
        if effective < MOVES.fewest_effective:
            worst = worst_of(-v.moved.mixing.effective, name, -MOVES.fewest_effective)
            level = Level.USABLE if effective >= VERDICT.effective_a_chain * chains else Level.POOR
            why = f"the HMC moves mix too slowly: effective sample size {effective:.0f} of {chains} chains"
            yield Finding(level, f"{why}{bound_of(v)}{about(worst)}", OTHER_FORM)


def bound_of(v: Quality) -> str:
    """The gradients that moves end at, where they did."""
    return f" (at most {v.moved.bound:,} gradients)" if v.moved and v.moved.bound else ""


def worst_of(sizes: Floats, name: CoordinateName, least: float = MOVES.drift) -> str:
    """The coordinates with the largest sizes, of those that are at least so large."""
    return named([int(k) for k in np.argsort(-sizes, kind="stable") if sizes[k] >= least], name)


def divergent(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if v.made is DrawSource.MOVED and v.moved and v.moved.divergent > VERDICT.most_divergent:
        why = (
            f"{v.moved.divergent:.1%} of the HMC moves diverged, even with short steps: part of the "
            "posterior is too narrow for them and may be undersampled"
        )
        yield Finding(Level.USABLE, why, OTHER_FORM)


def rejected_again_and_again(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Beside a region that is too narrow for the steps a chain is rejected move after move."""
    if v.made is DrawSource.MOVED and v.moved and v.moved.unevenness > VERDICT.most_uneven:
        why = (
            "some chains were rejected move after move: part of the posterior is too narrow for the steps of "
            "the others and may be undersampled"
        )
        yield Finding(Level.USABLE, why, OTHER_FORM)


def heavy_tails(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    if heavy := [int(k) for k in np.argsort(-v.tails, kind="stable") if v.tails[k] > VERDICT.heavy_tail]:
        tails = f"the tails of {named(heavy, name)} are so heavy"
        yield Finding(Level.USABLE, f"{tails} that means and sds may not exist; quantiles do", (QUANTILES,))


# --- Earlier fits that stand for the rows before them ------------------------------------------


def far_before(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """An earlier q that was not the posterior of the rows before it: later updates do not correct that."""
    levels = [level_of_earlier(quality) for quality in v.updates]
    if far := [k for k, level in enumerate(levels) if level is not Level.GOOD]:
        worst = min(far, key=lambda k: (-FROM_BEST.index(levels[k]), v.updates[k].ess))
        khat, share = v.updates[worst].khat, v.updates[worst].ess / v.updates[worst].n
        why = (
            f"{len(far)} of {len(v.updates)} updates began from a q that was not close to its posterior "
            f"(k-hat {khat:.2f}, effective share of draws {share:.0%} at update {worst + 1}), so the draws "
            "may differ from a fit to all data"
        )
        yield Finding(levels[worst], why, (ALL_DATA,))


def level_of_earlier(quality: WeightQuality) -> Level:
    """How far a q stands for its posterior: means differ by at most sqrt(n / ess - 1) sds of q."""
    share = quality.ess / quality.n
    if are_alike(quality.ess, quality.n):
        return Level.GOOD
    if not quality.khat < khat_threshold(quality.n) or share < GOOD_SHARE:
        return Level.POOR
    good = quality.khat < GOOD_KHAT and share >= VERDICT.good_update_share
    return Level.GOOD if good else Level.USABLE


# --- Modes ---------------------------------------------------------------------------------------


def other_modes(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Modes that are no images of q's own."""
    if own := [mode for mode in v.modes if not mode.is_symmetric]:
        modes = "is another mode" if len(own) == 1 else f"are {len(own)} other modes"
        mass = f"with about {' and '.join(f'{mode.share:.0%}' for mode in own)} of the posterior"
        if v.made is DrawSource.MOVED:
            beside = f"there {modes} in addition to the mode of q, {mass}"
            why = f"{beside}; the share of draws in each is uncertain"
            yield Finding(Level.USABLE, why, (RUNS, ONE_MODE))
        else:
            yield Finding(Level.POOR, f"there {modes}, {mass}", (correction(v), ONE_MODE))


def symmetric_modes(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Modes of the same height and curvature as q's own, as where labels can be exchanged."""
    if own := [mode for mode in v.modes if mode.is_symmetric]:
        affected = np.any([np.abs(mode.offset) >= 1 for mode in own], axis=0)
        why = (
            "the posterior is invariant to exchanging labels or signs of "
            f"{named(np.flatnonzero(affected).tolist(), name)}, so their own means are not meaningful; "
            "quantities that do not depend on the labelling are unaffected"
        )
        yield Finding(Level.USABLE, why, (IDENTIFY,))


def mirror_images(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Changes of sign, and exchanges, that leave the density as it is."""
    if v.images is not None and v.images.components:
        parts = [variables([name(k) for k in component]) for component in v.images.components]
        several = len(parts) > 1
        images = "images that are" if several else "an image that is"
        orders = " (and these exchanged)" if v.images.labels else ""
        why = (
            f"the posterior has {images} as likely as what was found, with other signs of "
            f"{', or of '.join(parts)}{orders}; draws are spread over all of them, so that these means are "
            "zero by symmetry; quantities that do not depend on the signs are unaffected"
        )
        yield Finding(Level.USABLE, why, (FIX_A_SIGN,))


def exchanged_labels(v: Quality, name: CoordinateName) -> Iterator[Finding]:
    """Labels in another order that leave the density as it is."""
    if v.images is not None and not v.images.components:
        why = (
            "the posterior is invariant to exchanging the labels of "
            f"{variables([name(k) for k in v.images.exchanged.tolist()])}; draws are spread over all "
            f"{v.images.labellings:,} labellings, so that these means are equal by symmetry; quantities "
            "that do not depend on the labelling are unaffected"
        )
        yield Finding(Level.USABLE, why, (IDENTIFY,))


def variables(names: Sequence[str]) -> str:
    """The variables, by name, that coordinates are of."""
    of = dict.fromkeys(name.partition(".")[0].partition("[")[0] for name in names)
    return first_few([*of], VERDICT.most_named)


RULES = (
    rounded_to_bounds,  # where a search diverges too
    runs_disagree,
    ended_badly,
    no_spread,
    nothing_to_tell,
    far_from_q,
    near_q,
    low_ess,
    heavy_weights,
    still_rising,
    other_modes,
    symmetric_modes,
    mirror_images,
    exchanged_labels,
    not_stationary,
    starts_disagree,
    slow_moves,
    far_before,
    divergent,  # as some do between modes, whose scales are not those of all draws
    rejected_again_and_again,
    heavy_tails,
    uncertain_sds,
    uncertain_elbo,
)
