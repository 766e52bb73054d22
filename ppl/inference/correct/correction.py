"""From q to the draws that are written: q's own, resampled by importance, or annealed to the posterior.

Draws of q are weighted by p/q. Where the weights can be relied on and leave enough, draws are resampled by
them; where they cannot, in few dimensions a mixture is fitted to them, and its draws are weighted and
resampled; and where that does not fit either, draws are carried to the posterior by annealing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ppl.inference.correct import standard_errors
from ppl.inference.correct.annealing import ANNEALING, Annealed, anneal
from ppl.inference.correct.balanced_resampling import balanced
from ppl.inference.correct.bridge import of_annealed, of_weighted
from ppl.inference.correct.draw_source import DrawSource as DrawSource
from ppl.inference.correct.evidence import Estimates, of_weights
from ppl.inference.correct.hamiltonian import HMC
from ppl.inference.correct.population import WeightQuality, is_light, population
from ppl.inference.correct.reference import Reference
from ppl.inference.correct.standard_errors import INDEPENDENT, ErrorSources
from ppl.inference.diagnose.mixture_sampling import Proposal, log_weights, missed
from ppl.inference.diagnose.modes import MODE_SEARCH, MissedRegions, Mode, find_missed_regions
from ppl.inference.diagnose.psis import WeightedDraws, psis
from ppl.inference.families.family import Family
from ppl.inference.families.mean_field import MeanField
from ppl.inference.numerics.gaussian import MOST_DENSE, Gaussian
from ppl.inference.numerics.triangular import composed, dense, solved
from ppl.inference.objective.coordinates import Scaled
from ppl.inference.objective.target import Array, Known, Target, for_many_points, width_of
from ppl.inference.run.phases import Phase, fits_mixture
from ppl.inference.run.progress import Listener, Progress, silent
from ppl.inference.run.settings import Settings


class CorrectionLimits(NamedTuple):
    """When weighted draws will do, and how much work annealing may be."""

    proposals: int = 8192
    """Weighted draws of q to resample from."""

    enough_ess: int = 2000
    """Effective weighted draws from which annealing gains nothing, or next to it. To ask for `enough_share`
    where k-hat is above 0.5 mended 1 of 13 fits of `tests/benchmarks/verdicts`, at 15 s of CPU in place of 2.
    """

    enough_share: float = 0.5
    """Where many dimensions leave fewer weighted draws, the share of them that will do."""

    much_work: int = 2**31
    """Numbers that annealing works through where points need as many evaluations as most do: some 50 seconds.
    """

    most_work: int = 2**33
    """Numbers that annealing may work through at most: some 200 seconds."""

    evaluations_a_point: int = 600
    """Evaluations that most points need."""

    draws_looked_at: int = 2048
    """Draws of q's Gaussian that are looked at for what it does not reach."""

    fewest_start_ess: int = 100
    """Effective weighted draws that annealing needs to begin from them."""

    most_tempered_dimensions: int = 30
    """Dimensions above which temperatures lead astray."""

    fewest_points: int = 256
    """Points that annealing carries at least; where they are too much work, there is none."""


CORRECTION = CorrectionLimits()


@dataclass(frozen=True)
class Corrected:
    """Draws u (n, dim), their log densities under the target (n,), how they were made, and of what.

    `modes` are those that were found beside q's own, from where annealing began too; `interrupted` is
    whether it was interrupted; `mixture` what the draws of a mixture were worth, of which these are;
    `evidence` what they say of the integral of the target, None where only weights of q can; `errors` what
    their means are in error by.
    """

    u: Array
    log_p: Array
    made: DrawSource
    annealed: Annealed | None = None
    modes: tuple[Mode, ...] = ()
    interrupted: bool = False
    mixture: WeightQuality | None = None
    evidence: Estimates | None = None
    errors: ErrorSources = INDEPENDENT


class Elsewhere(NamedTuple):
    """The mean (dim,) and covariance (dim, dim) of a mode that has next to all mass, far from q."""

    mean: Array
    covariance: Array


def correct(
    target: Target,
    settings: Settings,
    q: Gaussian | None,
    proposals: WeightedDraws,
    rng: np.random.Generator,
    listen: Listener = silent,
    moves: bool = False,
) -> Corrected | Elsewhere:
    """`settings.draws` draws from weighted draws of q, or from where annealing carries q's Gaussian.

    What was asked for is done; where nothing was, what the weights call for (see `Settings`), and annealing
    where there is mass that q does not reach. Where annealing fails, or a gradient costs too much for it, the
    weights do what they can. If q `moves`, and another mode has the mass, no draws are made but of that.
    """
    n, weights = settings.draws, proposals.weights
    if q is None or not n or (settings.resample and not settings.anneal):
        return _from_pool(proposals, n, rng, bool(settings.resample))
    scaled, interrupted = Scaled(target, q.mean, q.factor), False
    found = MissedRegions()
    may_resample = settings.corrects and settings.resample is None and weights.reliable
    try:
        searches = settings.corrects and is_affordable(target) and not has_known_mass(target, q, proposals)
        if searches and target.dim <= MOST_DENSE:
            listen(Progress(Phase.OTHER_MODES, 0, 1))
            found = find_missed_regions(scaled, seen(scaled, rng), rng)
            if moves and (elsewhere := mass_elsewhere(scaled, found.modes)):
                return elsewhere
        enough = may_resample and is_enough(weights.ess, len(proposals.u))
        enough = enough and not found.gaussians and not settings.anneal
        if will_anneal(target, settings) and not (enough and is_light(weights)):
            fits = fits_mixture(settings) and not found.modes
            fitted = from_mixture(scaled, found, proposals, n, rng, listen) if fits else None
            if fitted or not enough:
                return fitted or anneal_from(scaled, found, proposals, n, rng, listen)
    except np.linalg.LinAlgError:
        pass
    except KeyboardInterrupt:
        interrupted = True
    return replace(_from_pool(proposals, n, rng, may_resample), modes=found.modes, interrupted=interrupted)


def has_known_mass(target: Target, q: Gaussian, proposals: WeightedDraws) -> bool:
    """Whether q misses next to nothing of the mass of draws that are known before the run.

    The mean of p/q at draws of q is the integral of p where q has draws, that of q/p at draws of p is one
    over the whole: their product is the share of the mass that q has.
    """
    known: Known | None = getattr(target, "known", None)
    if known is None:
        return False
    seen = np.logaddexp.reduce(proposals.log_p - proposals.log_q) - np.log(len(proposals.u))
    ratios = known.log_weights + q.log_densities(known.u) - known.log_p
    return bool(seen + np.logaddexp.reduce(ratios) > np.log1p(-MODE_SEARCH.missed_mass))


def mass_elsewhere(scaled: Scaled, modes: Sequence[Mode]) -> Elsewhere | None:
    """The mode of most mass, by Laplace's approximation, where q's own has next to none beside it."""
    bearing = [mode for mode in modes if mode.share > 1 - MODE_SEARCH.mode_mass]
    if not bearing:
        return None
    mode = max(bearing, key=lambda mode: mode.peak.height + mode.gaussian.half_log_det).gaussian
    factor = dense(composed(scaled.factor, mode.factor))
    return Elsewhere(scaled.to_u(mode.mean[None])[0], factor @ factor.T)


def is_enough(ess: float, n: int) -> bool:
    """Whether n weighted draws are effectively so many that annealing gains nothing."""
    return ess >= min(CORRECTION.enough_ess, CORRECTION.enough_share * n)


def seen(scaled: Scaled, rng: np.random.Generator, by: Gaussian | None = None) -> Proposal:
    """Draws of a Gaussian, else of q's, in coordinates where that is standard."""
    by = by or Gaussian(np.zeros(scaled.dim), np.ones(scaled.dim))
    return Proposal.of(by, scaled, rng.standard_normal((CORRECTION.draws_looked_at, scaled.dim)))


def is_affordable(target: Target) -> bool:
    """Whether gradients at hundreds of points, hundreds of times, are not too much work."""
    return points_for(width_of(target)) > 0


def will_anneal(target: Target, settings: Settings) -> bool:
    """Whether draws are annealed where the weights call for it."""
    anneals = settings.corrects if settings.anneal is None else settings.anneal
    return anneals and is_affordable(target) and target.dim > 0


def points_for(width: int) -> int:
    """How many points annealing may carry where one evaluation works through `width` numbers; 0 for none."""
    work = width * CORRECTION.evaluations_a_point
    if work * CORRECTION.fewest_points > CORRECTION.most_work:
        return 0
    affordable = max(CORRECTION.fewest_points, CORRECTION.much_work // work)
    return min(ANNEALING.points, 1 << (affordable.bit_length() - 1))


def resample(
    proposals: WeightedDraws, n: int, rng: np.random.Generator, made: DrawSource = DrawSource.RESAMPLED
) -> Corrected:
    """n of the proposals, by their smoothed weights."""
    chosen = balanced(proposals.u, proposals.weights.log_weights, n, rng)
    errors = standard_errors.of_resampled(proposals.weights, chosen)
    return Corrected(proposals.u[chosen], proposals.log_p[chosen], made, errors=errors)


def _from_pool(proposals: WeightedDraws, n: int, rng: np.random.Generator, resampled: bool) -> Corrected:
    if resampled:
        return resample(proposals, n, rng)
    errors = standard_errors.of_q(proposals.weights, n)
    return Corrected(proposals.u[:n], proposals.log_p[:n], DrawSource.OF_Q, errors=errors)


def from_mixture(
    scaled: Scaled,
    beside: MissedRegions,
    proposals: WeightedDraws,
    n: int,
    rng: np.random.Generator,
    listen: Listener = silent,
) -> Corrected | None:
    """n draws resampled from a mixture that was fitted to the proposals, where there is one that fits.

    It is fitted to draws of Gaussians over what q does not reach as well, and fits only where it leaves none
    of that out.
    """
    others = [seen(scaled, rng, each) for each in beside.others]
    first, weights = solved(scaled.factor, proposals.u - scaled.centre), proposals.weights
    if others:
        batches = [seen(scaled, rng), *others]
        first = np.concatenate([batch.u for batch in batches])
        weights = psis(np.concatenate(log_weights(batches)))
    made = population(scaled, first, weights, len(proposals.u), rng, listen)
    if made is None:
        return None
    found, mixture = made
    if (
        others
        and missed(Proposal(found.u, found.log_p, mixture.log_density), *others) > MODE_SEARCH.mode_mass
    ):
        return None
    drawn = resample(found, n, rng, DrawSource.OF_MIXTURE)
    u, log_p = scaled.to_u(drawn.u), drawn.log_p - scaled.log_jacobian
    quality = WeightQuality(len(found.u), found.weights.khat, found.weights.ess)
    evidence = of_weighted(scaled, of_weights(found.weights), found, len(found.u), rng)
    return replace(drawn, u=u, log_p=log_p, mixture=quality, evidence=evidence)


def anneal_from(
    scaled: Scaled,
    beside: MissedRegions,
    proposals: WeightedDraws,
    n: int,
    rng: np.random.Generator,
    listen: Listener = silent,
) -> Corrected:
    """n draws that annealing carried to the target, in coordinates where q's Gaussian is standard.

    It begins at that and at Gaussians over what that does not reach. Raises LinAlgError where the draws
    fell together.
    """
    standard = Gaussian(np.zeros(scaled.dim), np.ones(scaled.dim))
    width = width_of(scaled)
    points = points_for(width)
    moves = CORRECTION.most_work // (width * points * HMC.leapfrog_steps)
    reference = Reference((standard, *beside.gaussians), 1 + len(beside.modes))
    near = None if beside.gaussians else nearest_of(scaled, proposals, points // 2, rng)
    fast = replace(scaled, target=for_many_points(scaled.target))
    found = anneal(fast, reference, rng, listen, points, moves, near)
    chosen = balanced(found.u, np.zeros(len(found.u)), n, rng)
    u, log_p = scaled.to_u(found.u[chosen]), found.log_p[chosen] - scaled.log_jacobian
    by = of_annealed(fast, reference, found, rng)
    errors = standard_errors.of_annealed(found.particles, chosen, found.drift)
    return Corrected(u, log_p, DrawSource.ANNEALED, found, beside.modes, evidence=by, errors=errors)


def nearest_of(scaled: Scaled, proposals: WeightedDraws, n: int, rng: np.random.Generator) -> Array | None:
    """n draws of q (n, dim), in coordinates where it is standard, resampled by weights that are worth it.

    None in few dimensions, where temperatures take them to the posterior: a draw of the wider start that
    cannot move, as at a scale far too large, has no weight there, and would stay where it is without.
    """
    if scaled.dim <= CORRECTION.most_tempered_dimensions:
        return None
    u, weights = proposals.u, proposals.weights
    enough = weights.ess >= CORRECTION.fewest_start_ess
    chosen = balanced(u, weights.log_weights, n, rng) if enough else np.arange(n) % len(u)
    return solved(scaled.factor, u[chosen] - scaled.centre)


def gaussian_of(family: Family, params: Array) -> Gaussian | None:
    """The Gaussian with the mean and covariance of q, its variances in many dimensions; None for a point."""
    mean, sds = family.mean(params), family.scales(params)
    if not family.dim or not sds.all():
        return None
    if isinstance(family, MeanField) or family.dim > MOST_DENSE:
        return Gaussian(mean, sds)
    try:
        return Gaussian.with_covariance(mean, family.covariance(params))
    except np.linalg.LinAlgError:
        return None
