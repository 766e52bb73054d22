"""From q to the draws that are written: q's own, resampled by importance, or moved until they are stationary.

Draws of q are weighted by p/q. Where the weights can be relied on and leave enough, draws are resampled by
them, and a few moves say whether they are the posterior's (`moves.ending`). Where they are not, or weights
cannot be relied on, chains go on from there until nothing changes.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.context import NULL_JOURNAL, Journal
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.gaussian import MOST_DENSE, Gaussian
from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.kernel.advi.parts import column_parts
from ppl.kernel.advi.target import Often, Target
from ppl.kernel.advi.triangular import composed, dense, solved
from ppl.late import special
from ppl.methods.correct import standard_errors
from ppl.methods.correct.bridge import bridges_between_chains
from ppl.methods.correct.draw_source import DrawSource as DrawSource
from ppl.methods.correct.evidence import KHAT_WITH_VARIANCE, Estimates
from ppl.methods.correct.incremental_mixture import INCREMENTAL, incremental_mixture
from ppl.methods.correct.resampling import balanced, systematic
from ppl.methods.correct.standard_errors import INDEPENDENT, ErrorSources
from ppl.methods.correct.weight_quality import GOOD_KHAT, is_light
from ppl.methods.diagnose.diagnostics import sd_errors, tail_shapes
from ppl.methods.diagnose.mixture_sampling import Proposal, log_weights
from ppl.methods.diagnose.modes import MODE_SEARCH, MissedRegions, Mode, find_missed_regions
from ppl.methods.diagnose.psis import Psis, WeightedDraws, psis, weighted_draws_of
from ppl.methods.moves.ending import MOVES, Moved, most_gradients, moved
from ppl.methods.moves.funnels import Coordinates
from ppl.methods.moves.images import Images, OneImage, near_images, put_back
from ppl.methods.moves.metric import metric_of
from ppl.methods.moves.sampler import Adapted
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, field, replace


class CorrectionLimits(NamedTuple):
    """When weighted draws will do, and where chains begin."""

    proposals: int = 8192
    """Weighted draws of q to resample from."""

    narrow: float = 1.5
    """How many times narrower a coordinate is at a twentieth of the draws than at half, in a funnel."""

    most_work: int = 2**33
    """Numbers that weighted draws may work through."""

    enough_ess: int = 2000
    """Effective weighted draws from which more of them gain next to nothing."""

    enough_share: float = 0.5
    """Where many dimensions leave fewer weighted draws, the share of them that will do."""

    light_share: float = 0.9
    """The effective share of the draws of q with which those that were resampled need not be moved."""

    draws_looked_at: int = 2048
    """Draws of q's Gaussian that are looked at for what it does not reach."""

    fewest_start_ess: int = 100
    """Effective weighted draws that chains need to begin from them rather than from draws of q."""

    work_on_draws: int = 2**23
    """Numbers that moves of draws may work through where weights speak for these, and where these moves would
    take their place: a quarter of a second."""

    work_on_few: int = 2**27
    """The same for as few of them as tell something: about a second."""

    gradients_a_chain: int = 64
    """Gradients of each of them, about."""

    fewest_moved: int = 128
    """Draws that are moved at least; fewer tell nothing."""

    most_moved: int = 600
    """Draws that are moved at most: the positions of so many chains are worth a thousand draws."""

    moved_a_dimension: int = 16
    """Draws for each dimension that are moved all the same: a metric by fewer depends on where each is, and
    the log density drifts."""

    effective_share: float = 0.8
    """The independent draws that these must be worth, as a share of their number."""

    checked_share: float = 0.4
    """The same of those that are moved to check draws in whose place few of theirs would be written: at the
    shortest they are worth 0.8 to 1.6 times their number.
    """

    widening: float = 2.0
    """How much wider than q every other chain begins."""

    few_dimensions: int = 10
    """Dimensions above which it is widened less, for a little takes it as far."""

    most_work_of_mixture: int = 2**28
    """Numbers that draws of an incremental mixture may work through: a second or two."""


CORRECTION = CorrectionLimits()


@dataclass(frozen=True)
class Corrected:
    """Draws u (n, dim), their log densities under the target (n,), how they were made, and of what.

    `modes` are those that were found beside q's own, from where chains began too; `interrupted` is whether
    the chains were interrupted; `moved` what is known of them, where the draws are theirs; `evidence` what
    they say of the integral of the target, None where only weights of q can; `errors` what their means are in
    error by; `adapted` the chains that more draws of theirs come from. Where the posterior has `images`, all
    draws are in that of q, and log densities those of `OneImage`. Of moved draws `tails` (dim,) are the
    shapes of the heavier tails, `sd_errors` (dim,) the standard errors of the sds of parameters, as shares.
    `pool` are the weighted draws that draws were resampled from where they are not of q.
    """

    u: Floats
    log_p: Floats
    made: DrawSource
    moved: Moved | None = None
    modes: tuple[Mode, ...] = ()
    interrupted: bool = False
    evidence: Estimates | None = None
    errors: ErrorSources = INDEPENDENT
    adapted: Adapted | None = None
    images: Images | None = None
    tails: Floats = field(default_factory=lambda: np.zeros(0))
    sd_errors: Floats = field(default_factory=lambda: np.zeros(0))
    pool: WeightedDraws | None = None


class Elsewhere(NamedTuple):
    """The mean (dim,) and covariance (dim, dim) of a mode that has next to all mass, far from q."""

    mean: Floats
    covariance: Floats


def correct(
    target: Target,
    settings: Settings,
    q: Gaussian | None,
    proposals: WeightedDraws,
    rng: np.random.Generator,
    listen: Listener = silent,
    goes: bool = False,
    images: Images | None = None,
    journal: Journal = NULL_JOURNAL,
    searches: bool = True,
) -> Corrected | Elsewhere:
    """`settings.draws` draws from weighted draws of q, or from chains that begin there.

    What was asked for is done; where nothing was, what the weights call for (see `Settings`), and chains
    where there is mass that q does not reach. Where chains fail, or a gradient costs too much for them, the
    weights do what they can. If q `goes` where the mass is, and another mode has it, no draws are made but of
    that. Where the posterior has `images`, draws are in that of q. Chains are kept in the journal as they go.
    If it does not search, no other modes are looked for.
    """
    if images is not None:
        one, weighted = OneImage(target, images), in_image(proposals, images)
        corrected = correct(one, settings, q, weighted, rng, listen, goes, None, journal, searches)
        if isinstance(corrected, Elsewhere):
            return corrected
        if corrected.made is DrawSource.OF_Q:
            return replace(
                corrected, u=proposals.u[: settings.draws], log_p=proposals.log_p[: settings.draws]
            )
        return replace(corrected, images=images)
    n, weights = settings.draws, proposals.weights
    if q is None or not n or (settings.resample and not settings.move):
        return _from_pool(proposals, n, rng, bool(settings.resample))
    scaled, interrupted = Scaled(target, q.mean, q.factor), False
    missed = MissedRegions()
    may_resample = settings.corrects and settings.resample is None and weights.reliable
    try:
        searches = searches and settings.corrects and is_affordable(target)
        searches = searches and not has_known_mass(target, q, proposals)
        if searches and target.dim <= MOST_DENSE:
            listen(Progress(Phase.OTHER_MODES, 0, 1))
            missed = missed_by(scaled, rng)
            if goes and (elsewhere := mass_elsewhere(scaled, missed.modes)):
                return elsewhere
        if will_move(target, settings):
            pool = proposals
            if searches and not missed.modes and may_grow(target, weights, bool(missed.others)):
                pool = incremental_mixture(scaled, missed.others, rng)
            drawn = None
            if settings.corrects and settings.resample is None:
                drawn = resampled(scaled, pool, proposals, missed, n, rng)
            if drawn and not settings.move:
                if pool.weights.ess >= CORRECTION.light_share * len(pool.u):
                    return drawn
                reliable = not has_a_neck(target, drawn, pool.weights, rng)
                own = NULL_JOURNAL if drawn.pool else journal  # where chains begin anew after the check
                checked = moved_on(target, drawn, rng, listen, reliable, own)
                if not drawn.pool or checked.made is not DrawSource.MOVED:
                    return checked
            starts = starts_of(scaled, missed, proposals, rng)
            if pool is not proposals and pool.weights.ess >= CORRECTION.fewest_start_ess:
                begun = balanced(pool.u, pool.weights.log_weights, MOVES.chains, rng)
                starts = scaled.to_v(pool.u[begun])
            return from_chains(scaled, starts, missed, n, rng, listen, journal)
    except np.linalg.LinAlgError:
        pass
    except KeyboardInterrupt:
        interrupted = True
    return replace(_from_pool(proposals, n, rng, may_resample), modes=missed.modes, interrupted=interrupted)


def may_grow(target: Target, weights: Psis, misses: bool) -> bool:
    """Whether draws of an incremental mixture are made: where weights of q may miss some of its tails, or it
    is known to, in few dimensions and at a cost that is small beside that of chains.
    """
    few = target.dim <= INCREMENTAL.most_dimensions
    affordable = target.width * INCREMENTAL.most_draws <= CORRECTION.most_work_of_mixture
    known = weights.khat < GOOD_KHAT and is_enough(weights.ess, len(weights.log_weights))
    return few and affordable and (misses or not known)


def resampled(
    scaled: Scaled,
    pool: WeightedDraws,
    proposals: WeightedDraws,
    missed: MissedRegions,
    n: int,
    rng: np.random.Generator,
) -> Corrected | None:
    """n draws of the pool, of a mixture or the proposals of q, where their weights are beyond doubt."""
    weights, of_q = pool.weights, pool is proposals
    enough = weights.reliable and is_enough(weights.ess, len(pool.u)) and is_light(weights)
    if not enough or (of_q and missed.gaussians):
        return None
    if of_q:
        return resample(pool, n, rng)
    if np.exp(weights.log_weights.max()) > INCREMENTAL.most_of_one:
        return None
    return resampled_from(scaled, pool, n, rng, DrawSource.MIXTURE)


def resampled_from(
    scaled: Scaled, pool: WeightedDraws, n: int, rng: np.random.Generator, source: DrawSource
) -> Corrected:
    """n draws of a pool whose weights are beyond doubt, with what these tell of tails and sds."""
    many = scaled.to_v(pool.u[systematic(pool.weights.log_weights, int(pool.weights.ess), rng)])
    tails, errors_of_sds = extremes(scaled, many, len(many))
    return replace(resample(pool, n, rng, source), pool=pool, tails=tails, sd_errors=errors_of_sds)


def has_a_neck(target: Target, drawn: Corrected, weights: Psis, rng: np.random.Generator) -> bool:
    """Whether draws by heavy weights are of a funnel, into whose neck draws of q seldom lead."""
    if weights.khat <= KHAT_WITH_VARIANCE:
        return False
    from ppl.methods.moves.necks import necks_of  # most fits do without
    from ppl.methods.moves.straightening import straightened

    necks, _ = necks_of(target.gradients_alone, drawn.u, rng)
    funnels = straightened(drawn.u[None], necks) if necks else None
    return funnels is not None and funnels.narrowing(drawn.u) > CORRECTION.narrow


def in_image(proposals: WeightedDraws, images: Images) -> WeightedDraws:
    """Weighted draws of q by the density of `OneImage`."""
    u, log_p, log_q, _ = proposals
    return weighted_draws_of(u, images.counted(u, log_p), log_q)


def moved_on(
    target: Target,
    drawn: Corrected,
    rng: np.random.Generator,
    listen: Listener = silent,
    reliable: bool = True,
    journal: Journal = NULL_JOURNAL,
) -> Corrected:
    """Draws of any path, moved until they are stationary: most are so from the beginning.

    Some of many are moved, few of a mixture's, or where so many as are worth a fit would take long.
    `reliable` ones stay as they are where these do not change, and are worth few.
    """
    n, width = len(drawn.u), target.width
    work, few = width * CORRECTION.gradients_a_chain, CORRECTION.fewest_moved
    many = max(CORRECTION.most_moved, CORRECTION.moved_a_dimension * target.dim)
    affordable = min(many, CORRECTION.work_on_draws // work)
    checks = bool(drawn.pool) or (reliable and affordable < MOVES.fewest_effective)
    chains = min(n, few if checks else max(few, affordable))
    if n < few or few * work > CORRECTION.work_on_few or not drawn.u.std(axis=0).all():
        return drawn
    first = rng.permutation(n)[:chains]
    share = CORRECTION.checked_share if checks else CORRECTION.effective_share
    effective = share * chains if reliable else wanted(n)
    how = partial(moved, starts_right=reliable, journal=journal)
    try:
        others = drawn.u[(drawn.u[:, :1] != drawn.u[first, 0]).all(axis=1)] if checks else drawn.u
        # In coordinates that are fitted to them, draws are less spread than those that come after.
        factor = metric_of(others if len(others) >= chains else drawn.u)
        scaled = Scaled(target, drawn.u.mean(axis=0), factor)
        moves = how(scaled, scaled.to_v(drawn.u[first]), rng, most_gradients(width), listen, effective)
    except np.linalg.LinAlgError:
        return drawn
    except KeyboardInterrupt:
        return replace(drawn, interrupted=True)
    changed = moves.total_moves > MOVES.shortest or not moves.stationary or not reliable
    enough = not checks and moves.mixing.fewest_effective >= MOVES.fewest_effective
    known = drawn.evidence is not None and not drawn.evidence.doubt  # by two estimates that agree
    if chains < n and not changed and not enough:
        tails = drawn.tails if drawn.pool else extremes(scaled, moves.u, moves.chains)[0]
        by_chains = None if known or drawn.evidence is None else bridges_between_chains(scaled, moves, rng)
        return replace(drawn, moved=moves, tails=tails, evidence=beside_chains(drawn.evidence, by_chains))
    corrected = of_chains(scaled, moves, n, rng, bridged=changed or not known)
    if changed:
        return replace(corrected, modes=drawn.modes)
    evidence = drawn.evidence if known else beside_chains(drawn.evidence, corrected.evidence)
    by = corrected.errors.chain
    errors, tails = replace(drawn.errors.at(first[by]), chain=by), corrected.tails
    drawn = replace(drawn, moved=moves, evidence=evidence, errors=errors, tails=tails)
    return replace(drawn, u=corrected.u, log_p=corrected.log_p)


def from_known(
    target: Target,
    starts: Floats,
    coordinates: Coordinates,
    n: int,
    rng: np.random.Generator,
    listen: Listener = silent,
    journal: Journal = NULL_JOURNAL,
) -> Corrected:
    """n draws of chains that begin at `starts` (chains, dim), nearly draws, and move in these coordinates.

    Where gradients are dear they are worth as many independent draws as are needed, not as are written.

    Raises LinAlgError where the chains fell together.
    """
    mean, sds = starts.mean(axis=0), starts.std(axis=0)
    scaled, most = Scaled(target, mean, sds), most_gradients(target.width)
    effective = MOVES.fewest_effective if most < MOVES.most_gradients else wanted(n)
    how = partial(moved, starts_right=True, journal=journal, funnels=coordinates)
    return of_chains(scaled, how(scaled, (starts - mean) / sds, rng, most, listen, effective), n, rng)


def wanted(n: int) -> int:
    """The independent draws that chains must be worth for n of their own to be written."""
    return max(MOVES.fewest_effective, min(n, MOVES.effective))


def beside_chains(known: Estimates | None, chains: Estimates | None) -> Estimates | None:
    """The evidence by weights, or by chains where weights do not tell it; in doubt where both do and
    disagree.
    """
    if known is None or (known.doubt and chains and not chains.doubt):
        return chains
    if chains is None or chains.doubt:
        return known
    both = Estimates(known.evidence, chains.evidence, known.khat)
    return both if both.doubt else known


def has_known_mass(target: Target, q: Gaussian, proposals: WeightedDraws) -> bool:
    """Whether q misses next to nothing of the mass of draws that are known before the run.

    The mean of p/q at draws of q is the integral of p where q has draws, that of q/p at draws of p is one
    over the whole: their product is the share of the mass that q has.
    """
    known = target.known
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
    """Whether n weighted draws are effectively so many that others would gain nothing."""
    return ess >= min(CORRECTION.enough_ess, CORRECTION.enough_share * n)


def seen(scaled: Scaled, rng: np.random.Generator, by: Gaussian | None = None) -> Proposal:
    """Draws of a Gaussian, else of q's, in coordinates where that is standard."""
    by = by or Gaussian(np.zeros(scaled.dim), np.ones(scaled.dim))
    return Proposal.of(by, scaled, rng.standard_normal((CORRECTION.draws_looked_at, scaled.dim)))


def missed_by(scaled: Scaled, rng: np.random.Generator) -> MissedRegions:
    """The mass that q, which is standard here, and its images, if there are some, do not reach."""
    one = scaled.target
    images, whole = (one.images, one.target) if isinstance(one, OneImage) else (None, one)
    signs = near_images(whole, Gaussian(scaled.centre, scaled.factor), images, rng.spawn(1)[0])
    near = [changed(scaled, each) for each in signs]
    if not isinstance(one, OneImage):
        return find_missed_regions(scaled, seen(scaled, rng), rng, near)
    images, whole_scaled, own = one.images, replace(scaled, target=whole), partial(put_back, scaled)
    q = seen(whole_scaled, rng)
    inside = images.are_own(scaled.to_u(q.u))
    u = scaled.to_v(images.at_random(scaled.to_u(q.u[inside]), rng))
    share = float(np.log(inside.mean())) + images.log_count

    def log_density(v: Floats) -> Floats:
        return q.log_density(own(v)) - share

    return find_missed_regions(whole_scaled, Proposal(u, q.log_p[inside], log_density), rng, near, own)


def changed(scaled: Scaled, signs: Floats) -> Gaussian:
    """The image of q with the signs of coordinates (dim,) changed, in coordinates where q is standard."""
    mean, factor = scaled.to_v((signs * scaled.centre)[None])[0], scaled.factor
    if factor.ndim == 1:
        return Gaussian(mean, np.ones(scaled.dim))
    turned = solved(factor, (signs[:, None] * factor).T)
    return Gaussian.with_covariance(mean, turned.T @ turned)


def is_affordable(target: Target) -> bool:
    """Whether gradients at a hundred points, hundreds of times, are not too much work."""
    return most_gradients(target.width) > 0


def will_move(target: Target, settings: Settings) -> bool:
    """Whether draws are moved where the weights call for it."""
    moves = settings.corrects if settings.move is None else settings.move
    return moves and is_affordable(target) and target.dim > 0


def resample(
    proposals: WeightedDraws, n: int, rng: np.random.Generator, source: DrawSource = DrawSource.RESAMPLED
) -> Corrected:
    """n of the proposals, by their smoothed weights."""
    chosen = balanced(proposals.u, proposals.weights.log_weights, n, rng)
    errors = standard_errors.of_resampled(proposals.weights, chosen)
    return Corrected(proposals.u[chosen], proposals.log_p[chosen], source, errors=errors)


def _from_pool(proposals: WeightedDraws, n: int, rng: np.random.Generator, resampled: bool) -> Corrected:
    if resampled:
        return resample(proposals, n, rng)
    errors = standard_errors.of_q(proposals.weights, n)
    return Corrected(proposals.u[:n], proposals.log_p[:n], DrawSource.OF_Q, errors=errors)


def starts_of(
    scaled: Scaled, beside: MissedRegions, proposals: WeightedDraws, rng: np.random.Generator
) -> Floats:
    """Where chains begin (chains, dim), in coordinates where q is standard.

    Even ones at draws of q by their weights, if these are worth enough, odd ones where q is wider: both must
    come to agree. Where there is mass that q does not reach, all at draws of q and of Gaussians over that, in
    random order, as each half of the chains moves in the metric of the other.
    """
    n = MOVES.chains
    if beside.gaussians:
        batches = [seen(scaled, rng), *(seen(scaled, rng, each) for each in beside.gaussians)]
        u = np.concatenate([batch.u for batch in batches])
        weights = psis(np.concatenate(log_weights(batches)))
        if weights.ess < CORRECTION.fewest_start_ess and len(beside.modes) == len(beside.gaussians):
            shares = np.array(
                [1 - sum(mode.share for mode in beside.modes), *(m.share for m in beside.modes)]
            )
            each = np.repeat(np.maximum(shares, 0) / CORRECTION.draws_looked_at, CORRECTION.draws_looked_at)
            return np.asarray(u[rng.permutation(systematic(np.log(each), n, rng))])
        return np.asarray(u[rng.permutation(systematic(weights.log_weights, n, rng))])
    wider = 1 + (CORRECTION.widening - 1) * min(1.0, np.sqrt(CORRECTION.few_dimensions / scaled.dim))
    starts = np.asarray(wider * rng.standard_normal((n, scaled.dim)))
    u, weights = proposals.u, proposals.weights
    enough = weights.ess >= CORRECTION.fewest_start_ess
    chosen = balanced(u, weights.log_weights, n // 2, rng) if enough else np.arange(n // 2) % len(u)
    starts[::2] = solved(scaled.factor, u[chosen] - scaled.centre)
    return starts


def from_chains(
    scaled: Scaled,
    starts: Floats,
    beside: MissedRegions,
    n: int,
    rng: np.random.Generator,
    listen: Listener = silent,
    journal: Journal = NULL_JOURNAL,
) -> Corrected:
    """n draws of chains that begin at `starts` (chains, dim), in coordinates where q is standard.

    Raises LinAlgError where the chains fell together.
    """
    centres = np.array([np.zeros(scaled.dim), *(mode.offset for mode in beside.modes)])
    how = partial(moved, centres=centres, frees_stuck=not beside.gaussians, journal=journal)
    moves = how(scaled, starts, rng, most_gradients(scaled.width), listen, wanted(n))
    return replace(of_chains(scaled, moves, n, rng), modes=beside.modes)


def go_on(
    target: Target, chains: Adapted, n: int, rng: np.random.Generator, listen: Listener = silent
) -> Corrected:
    """n more draws of chains, worth as many independent ones if gradients allow it.

    Raises LinAlgError where the chains fell together.
    """
    scaled = Scaled(target, chains.centres[0], chains.factor)
    starts, centres = (solved(scaled.factor, u - scaled.centre) for u in (chains.u, chains.centres))
    how = partial(moved, centres=centres, step=chains.step, starts_right=True)
    most, effective = most_gradients(target.width), max(MOVES.fewest_effective, n)
    return of_chains(scaled, how(scaled, starts, rng, most, listen, effective), n, rng)


def of_chains(
    scaled: Scaled, moves: Moved, n: int, rng: np.random.Generator, bridged: bool = True
) -> Corrected:
    """n of the draws of chains, in coordinates of the model; with their evidence if `bridged`."""
    chosen = balanced(moves.u, np.zeros(len(moves.u)), n, rng)
    u, log_p = scaled.to_u(moves.u[chosen]), moves.log_p[chosen] - scaled.log_jacobian
    faster = scaled.view(Often(moves.earlier_gradients)) or scaled
    evidence = bridges_between_chains(faster, moves, rng) if bridged else None
    errors = standard_errors.of_chains(moves.chain[chosen], moves.mixing.largest_drift)
    adapted = moves.adapted and in_u(scaled, moves.adapted)
    corrected = Corrected(u, log_p, DrawSource.MOVED, moves, (), False, evidence, errors, adapted)
    tails, errors_of_sds = extremes(scaled, moves.u, moves.chains)
    return replace(corrected, tails=tails, sd_errors=errors_of_sds)


def extremes(scaled: Scaled, v: Floats, chains: int) -> tuple[Floats, Floats]:
    """The shapes of tails of parameters (dim,), and the standard errors of their sds (dim,), as shares.

    By positions v (n, dim) of so many chains in turn, which are independent of one another. A parameter with
    one bound is an exponential of its coordinate, one with two a logistic function of it; neither the place
    nor the scale of a parameter matters here.
    """
    tails, errors, bounds, factor = list[Floats](), list[Floats](), scaled.kinds[2], scaled.factor
    for part in column_parts(*v.shape):
        u = scaled.centre[part] + (v[:, part] * factor[part] if factor.ndim == 1 else v @ factor[part].T)
        one, two = (bounds[part] == count for count in (1, 2))
        x = np.select([one, two], [np.exp(u - u.max(axis=0)), special.expit(u)], u)
        tails.append(tail_shapes(x))
        errors.append(sd_errors(x.reshape(-1, chains, x.shape[1])))
    return np.concatenate(tails), np.concatenate(errors)


def in_u(scaled: Scaled, chains: Adapted) -> Adapted:
    """The chains, as many as begin from q, in coordinates of the model."""
    u, centres = scaled.to_u(chains.u[: MOVES.chains]), scaled.to_u(chains.centres)
    return Adapted(u, centres, chains.step, composed(scaled.factor, chains.factor))


def gaussian_of(family: Family, params: Floats) -> Gaussian | None:
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
