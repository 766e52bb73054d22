"""Mass of the posterior that q misses: other modes, a narrow peak inside it, mass far beyond its tails.

Paths of L-BFGS from afar end in Gaussians, as Pathfinder's do; what matters is the share of the posterior's
mass that lies under one of them and not where q does, estimated by importance sampling from both.  Such a
Gaussian is at another mode where an ascent from it ends at a stationary point, and the straight way from
there to q's own mode leads through a valley; else, as in a funnel or on a sphere, it is but one more place
for chains to begin.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian, gaussian_at
from ppl.kernel.advi.triangular import solved
from ppl.methods.correct.resampling import systematic
from ppl.methods.correct.weight_quality import GOOD_KHAT, most_count
from ppl.methods.diagnose.mixture_sampling import Proposal, log_weights, missed
from ppl.methods.diagnose.psis import psis
from ppl.methods.initialise.ascent import ascent
from ppl.methods.initialise.lbfgs_path import PathPoint, PathWatch
from ppl.methods.initialise.pathfinder import PATHFINDING, Pathfinder, best_on_path
from ppl.methods.maximise.lockstep import Search, in_lockstep
from ppl.records import dataclass, replace


class ModeSearchLimits(NamedTuple):
    """Where other modes are looked for, and what counts as one. Lengths are in sds of q."""

    paths: int = 4
    """Paths of each kind: so many from some sds of q away, from where runs may begin, and from the heaviest
    of distant draws.
    """

    start_distance: float = 3.0
    """How far from q paths of the first kind begin."""

    start_radius: float = 2.0
    """The radius of the box that runs begin in, in the coordinates of the model."""

    found_distance: float = 3.0
    """A path that ends within so many sds of q has found nothing that the weights of q would not tell."""

    same_distance: float = 1.0
    """Two such ends nearer than this are one."""

    narrow_sd: float = 0.1
    """A peak narrower than this in some direction may lie unseen inside q."""

    fewest_inside: int = 10
    """Draws of q in such a peak with which it is seen."""

    most_steps: int = 300
    """L-BFGS steps of an ascent to a mode."""

    end_slope: float = 1e-4
    """The slope at which an ascent ends, in nats an sd of q."""

    stationary_slope: float = 1e-3
    """The slope that is left where an ascent has ended at a mode, in nats an sd of q."""

    places_between: int = 64
    """Places at which the way between two modes is looked at."""

    valley_depth: float = 1.0
    """Two modes are one where the log density falls by less between them, in nats."""

    mode_mass: float = 0.01
    """The share of the posterior's mass that another mode must have."""

    missed_mass: float = 0.05
    """The share of it that must lie far out or in a peak of q's own."""

    widening: float = 3.0
    """Distant draws come from q widened by powers of this."""

    scales: int = 9
    """How many powers."""

    draws: int = 256
    """Draws of each Gaussian, and of each widening of q."""

    few_dimensions: int = 10
    """Dimensions up to which more draws may hit on a narrow mode far away."""

    more_draws: int = 1024
    """Draws of each widening there."""

    share_with_density: float = 0.9
    """q is widened until fewer draws than this have a density; more draws are made until not all have one.
    Wider ones would hardly hit on any more, and a differential equation costs a thousand times more there.
    """

    symmetry_tolerance: float = 0.01
    """Modes whose heights and curvatures differ by less, in nats, are images of one another."""


MODE_SEARCH = ModeSearchLimits()


@dataclass(frozen=True)
class Peak:
    """Where an ascent ended at v (dim,), and the log density there."""

    v: Floats
    height: float


@dataclass(frozen=True)
class Mode:
    """A mode in coordinates where q is standard: where it is, a Gaussian with its curvature, and the share of
    the posterior that lies about it and not where q does.

    `is_symmetric`: it is as high and as curved as q's own, as under a permutation of labels or signs.
    """

    gaussian: Gaussian
    peak: Peak
    share: float
    is_symmetric: bool = False

    @property
    def offset(self) -> Floats:
        """How far it lies from q's mean (dim,), in sds of q."""
        return self.gaussian.mean


@dataclass(frozen=True)
class MissedRegions:
    """The mass that q does not reach: other modes, and Gaussians over the rest, in coordinates where q is
    standard."""

    modes: tuple[Mode, ...] = ()
    others: tuple[Gaussian, ...] = ()

    @property
    def gaussians(self) -> tuple[Gaussian, ...]:
        """From where chains should begin too."""
        return (*(mode.gaussian for mode in self.modes), *self.others)


def as_they_are(v: Floats) -> Floats:
    return v


def find_missed_regions(
    scaled: Scaled,
    q: Proposal,
    rng: np.random.Generator,
    near: Sequence[Gaussian] = (),
    put_back: Callable[[Floats], Floats] = as_they_are,
) -> MissedRegions:
    """The mass beside q, whose draws are given in coordinates where it is standard.

    Modes are also looked for from Gaussians `near` them. Where the target has images, q has draws in all, and
    points are `put_back` into that about zero.
    """
    with np.errstate(all="ignore"):
        wide, distant = overdispersed_gaussians(scaled, rng)
        starts = [*starts_of(scaled, rng), *heaviest(q, distant, rng)]
        own, paths = own_mode_and_paths(scaled, starts, rng, arrival_at(q))
        centre = curved(scaled, own) if own else None
        modes, places, others = list[Mode](), list[Gaussian](), list[Gaussian]()
        for end in distant_ends(paths, put_back):
            at = put_back(end.mean)
            new = all(np.linalg.norm(at - put_back(o.mean)) > MODE_SEARCH.same_distance for o in places)
            if new and share_of(end, scaled, q, rng) > MODE_SEARCH.mode_mass:
                places.append(end)
        peaks = peaks_above(scaled, [put_back(place.mean) for place in places if own], put_back)
        for number, place in enumerate(places):
            peak = peaks.get(number)
            local = curved(scaled, peak) if peak else None
            if not (own and peak and local and valley(scaled, peak, own) > MODE_SEARCH.valley_depth):
                others.append(place)
            elif all(valley(scaled, peak, other.peak) > MODE_SEARCH.valley_depth for other in modes):
                is_symmetric = centre is not None and alike(peak, local, own, centre)
                modes.append(Mode(local, peak, share_of(local, scaled, q, rng), is_symmetric))
        modes += modes_near(scaled, near, own, centre, modes, put_back)
        narrow = [centre] if centre and is_narrow_peak(centre, scaled, q, rng) else []
        return MissedRegions(tuple(modes), (*narrow, *others, *outside(q, wide, distant)))


def arrival_at(q: Proposal) -> PathWatch:
    """Whether a path has come to where draws of q lie, no lower and no further out: if their weights are
    good, what it would find from there on is known.
    """
    weights = psis(log_weights([q])[0])
    known = weights.khat < GOOD_KHAT and most_count(weights)
    least_p, least_q = np.sort(q.log_p)[len(q.u) // 2], q.log_density(q.u).min()

    def arrives(point: PathPoint) -> bool:
        return bool(known and point.log_density >= least_p and q.log_density(point.u[None])[0] >= least_q)

    return arrives


def own_mode_and_paths(
    scaled: Scaled, starts: Sequence[Floats], rng: np.random.Generator, arrives: PathWatch
) -> tuple[Peak | None, list[Pathfinder]]:
    """The mode above q's mean, and the best Gaussians on the paths from starts that do not arrive there."""
    noise = rng.standard_normal((len(starts), PATHFINDING.rough_elbo_draws, scaled.dim))
    searches: list[Search[Peak | Pathfinder | None]] = [mode_above(np.zeros(scaled.dim))]
    searches += [best_on_path(scaled, start, z, arrives) for start, z in zip(starts, noise, strict=True)]
    ends = [end for _, end in sorted(in_lockstep(scaled, searches), key=itemgetter(0))]
    own = next((end for end in ends if isinstance(end, Peak)), None)
    return own, [end for end in ends if isinstance(end, Pathfinder)]


def overdispersed_gaussians(
    scaled: Scaled, rng: np.random.Generator
) -> tuple[list[Gaussian], list[Proposal]]:
    """q, standard here, made wider and wider, and draws of each."""
    limits, wide, distant = MODE_SEARCH, list[Gaussian](), list[Proposal]()
    n = limits.more_draws if scaled.dim <= limits.few_dimensions else limits.draws
    for k in range(1, limits.scales + 1):
        wide.append(Gaussian(np.zeros(scaled.dim), np.full(scaled.dim, limits.widening**k)))
        distant.append(Proposal.of(wide[-1], scaled, rng.standard_normal((n, scaled.dim))))
        share = np.isfinite(distant[-1].log_p).mean()
        if share < limits.share_with_density:
            break
        n = n if share == 1 else limits.draws
    return wide, distant


def starts_of(scaled: Scaled, rng: np.random.Generator) -> Iterator[Floats]:
    shape, radius = (MODE_SEARCH.paths, scaled.dim), MODE_SEARCH.start_radius
    yield from MODE_SEARCH.start_distance * rng.standard_normal(shape)
    yield from solved(scaled.factor, rng.uniform(-radius, radius, shape) - scaled.centre)


def heaviest(q: Proposal, distant: Sequence[Proposal], rng: np.random.Generator) -> Iterator[Floats]:
    """Some of the distant draws, in proportion to their importance, where they see what q does not."""
    if missed(q, *distant, clear=False) > MODE_SEARCH.mode_mass:
        weights = np.concatenate(log_weights([q, *distant])[1:])
        points = np.concatenate([batch.u for batch in distant])
        yield from points[systematic(weights, MODE_SEARCH.paths, rng)]


def distant_ends(
    paths: Sequence[Pathfinder], put_back: Callable[[Floats], Floats] = as_they_are
) -> Iterator[Gaussian]:
    """The Gaussians of paths that end far from q."""
    for path in paths:
        if np.linalg.norm(put_back(path.mean)) > MODE_SEARCH.found_distance:
            with suppress(np.linalg.LinAlgError):
                yield Gaussian.with_covariance(path.mean, path.curvature.dense())


def share_of(gaussian: Gaussian, scaled: Scaled, q: Proposal, rng: np.random.Generator) -> float:
    """The share of the posterior that lies under a Gaussian and not where q does."""
    return missed(q, draws_under(gaussian, scaled, rng))


def draws_under(gaussian: Gaussian, scaled: Scaled, rng: np.random.Generator) -> Proposal:
    return Proposal.of(gaussian, scaled, rng.standard_normal((MODE_SEARCH.draws, scaled.dim)))


def is_narrow_peak(gaussian: Gaussian, scaled: Scaled, q: Proposal, rng: np.random.Generator) -> bool:
    """Whether the peak of q's own mode is so narrow that few draws of q come upon it, and has mass.

    One draw of thousands there may have all of the mass, which the weights of q then do not miss.
    """
    if np.linalg.norm(gaussian.factor, -2) > MODE_SEARCH.narrow_sd:
        return False
    there = draws_under(gaussian, scaled, rng)
    return missed(q, there, clear=False) > MODE_SEARCH.missed_mass or is_seen_by_chance(there, q)


def is_seen_by_chance(peak: Proposal, q: Proposal) -> bool:
    """Whether what lies under a peak has mass, and few draws of q."""
    both = q, peak
    u = np.concatenate([batch.u for batch in both])
    of_q, of_peak = (np.log(len(one.u)) + one.log_density(u) for one in both)
    inside = of_peak > of_q
    weights = np.concatenate(log_weights(both))
    share = np.exp(np.logaddexp.reduce(weights[inside], initial=-np.inf) - np.logaddexp.reduce(weights))
    few = inside[: len(q.u)].sum() < MODE_SEARCH.fewest_inside
    return bool(few and share > MODE_SEARCH.missed_mass)


def mode_above(start: Floats) -> Search[Peak | None]:
    """The mode above a point; None where the ascent ends at none, as in a funnel."""
    top = yield from ascent(start, MODE_SEARCH.most_steps, MODE_SEARCH.end_slope)
    return Peak(top.u, top.value) if top and top.slope < MODE_SEARCH.stationary_slope else None


def peaks_above(
    scaled: Scaled, starts: Sequence[Floats], put_back: Callable[[Floats], Floats]
) -> dict[int, Peak]:
    """The modes above points, by the number of each that has one, about zero."""
    tops = in_lockstep(scaled, [mode_above(start) for start in starts])
    return {number: replace(top, v=put_back(top.v)) for number, top in tops if top}


def valley(scaled: Scaled, one: Peak, other: Peak) -> float:
    """How far the log density falls below the lower of two modes on the straight way between them."""
    shares = np.linspace(0, 1, MODE_SEARCH.places_between)[:, None]
    lowest = np.nan_to_num(scaled.log_densities(one.v + shares * (other.v - one.v)), nan=-np.inf).min()
    return float(min(one.height, other.height) - lowest)


def modes_near(
    scaled: Scaled,
    near: Sequence[Gaussian],
    own: Peak | None,
    centre: Gaussian | None,
    known: Sequence[Mode],
    put_back: Callable[[Floats], Floats] = as_they_are,
) -> Iterator[Mode]:
    """The modes above Gaussians, or these themselves where there is none, which have a share of the mass.

    That is by their heights, since few draws of many dimensions tell nothing.
    """
    standard = Gaussian(np.zeros(scaled.dim), np.ones(scaled.dim))
    tops = peaks_above(scaled, [each.mean for each in near if own], put_back)
    for number, each in enumerate(near):
        peak = tops.get(number)
        local = curved(scaled, peak) if peak else None
        if own and centre and peak and local:
            others = (own, *(mode.peak for mode in known))
            apart = all(valley(scaled, peak, other) > MODE_SEARCH.valley_depth for other in others)
            share, is_symmetric = share_by_heights(peak, local, own, centre), alike(peak, local, own, centre)
        else:
            heights = scaled.log_densities(np.stack([each.mean, standard.mean]))
            peak, first = (Peak(at.mean, float(h)) for at, h in zip((each, standard), heights, strict=True))
            local, apart, is_symmetric = each, True, False
            share = share_by_heights(peak, each, first, standard)
        if apart and share > MODE_SEARCH.mode_mass:
            yield Mode(local, peak, share, is_symmetric)


def share_by_heights(peak: Peak, local: Gaussian, own: Peak, centre: Gaussian) -> float:
    """The share of the mass of both modes that another has beside q's own, by Laplace's approximation."""
    odds = own.height + centre.half_log_det - peak.height - local.half_log_det
    return float(1 / (1 + np.exp(odds)))


def alike(peak: Peak, local: Gaussian, own: Peak, centre: Gaussian) -> bool:
    """Whether a mode is as high and as curved as q's own."""
    off = abs(peak.height - own.height), abs(local.half_log_det - centre.half_log_det)
    return max(off) < MODE_SEARCH.symmetry_tolerance


def curved(scaled: Scaled, peak: Peak) -> Gaussian | None:
    """The Gaussian with the curvature at a mode."""
    try:
        return gaussian_at(scaled, peak.v, np.ones(scaled.dim))[0]
    except (np.linalg.LinAlgError, ValueError):
        return None


def outside(q: Proposal, wide: Sequence[Gaussian], distant: Sequence[Proposal]) -> Iterator[Gaussian]:
    """Those of the widened Gaussians that see mass which q does not."""
    if not missed(q, *distant) > MODE_SEARCH.missed_mass:
        return
    totals = [np.logaddexp.reduce(each) for each in log_weights([q, *distant])]
    shares = np.exp(totals - np.logaddexp.reduce(totals))
    yield from (each for each, share in zip(wide, shares[1:], strict=True) if share > MODE_SEARCH.missed_mass)
