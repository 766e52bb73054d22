"""A start for a variational fit: the point on an L-BFGS path whose Gaussian has the best ELBO.

Zhang, Carpenter, Gelman and Vehtari (2022), "Pathfinder", JMLR 23, Algorithm 1. The best ELBO, rather than
the mode, is what survives a funnel, whose mode lies where the scale is zero. Beside the paper's Gaussian,
centred one Newton step on, the one centred at the point itself is tried: in a funnel the step goes too far.
All of them are judged on the same noise. A path ends where it rises no more that matters, before L-BFGS has
the mode to its last digits.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.kernel.advi.target import Target
from ppl.methods.initialise.lbfgs_path import InverseHessian, PathPoint, PathWatch, curvatures, lbfgs_path
from ppl.methods.maximise.lockstep import Search, answered, in_lockstep
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.records import dataclass


class PathfinderLimits(NamedTuple):
    """How Pathfinder ranks the Gaussians of a path, and where it ends one."""

    elbo_draws: int = 25
    """Draws that the ELBO of a Gaussian is estimated from."""

    rough_elbo_draws: int = 10
    """Draws that rank the paths of a start or of a look for other modes, where a rough ELBO will do."""

    most_points: int = 40
    """Points of a path whose Gaussians are judged: one of hundreds is one down a funnel, of which half are
    judged all along it, and half about the best of these.
    """

    judged_on_all: int = 6
    """Points that are judged on all of the noise, those that are best on a part of it."""

    first_draws: int = 3
    """The draws of that part."""

    steps_without_gain: int = 20
    """A path ends where so many steps have raised the log density by less than `least_gain`."""

    least_gain: float = 0.1
    """That gain, in nats."""

    steps_between_looks: int = 20
    """Steps of a path after which the ELBO is looked at, on a part of the noise."""

    lower_in_turn: int = 3
    """A path ends where the ELBO was far lower than before so many times in turn: down a funnel, to where the
    density has no bound, it falls for hundreds of steps.
    """

    far_lower: float = 20.0
    """How many nats that is, or one for each dimension."""

    most_numbers: int = 1 << 20
    """Numbers in the draws by which Gaussians are judged together."""


PATHFINDING = PathfinderLimits()
NO_GAUSSIAN = (
    "No point on the L-BFGS path has a Gaussian whose draws all have a finite log density. "
    "Start from random values, or nearer to the posterior."
)


@dataclass(frozen=True)
class Pathfinder:
    """A Gaussian: its mean (dim,), its covariance, its estimated ELBO, and the length of the path.

    `draws` are draws from it with the log densities of the target and of the Gaussian at each.
    """

    mean: Floats
    curvature: InverseHessian
    elbo: float
    steps: int
    draws: Floats
    log_p: Floats
    log_q: Floats

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """n fresh draws, (n, dim)."""
        return self.mean + self.curvature.colour(rng.standard_normal((n, len(self.mean))))[0]

    def log_density(self, u: Floats) -> Floats:
        """Of this Gaussian at u (n, dim); (n,)."""
        return self.curvature.log_density(u - self.mean)

    def has_reached(self, u: Floats, log_p: float) -> bool:
        """Whether a point (dim,) with this log density lies as its draws do, no lower and no further out."""
        return bool(log_p >= self.middle and self.log_density(u[None])[0] >= self.log_q.min())

    @cached_property
    def middle(self) -> float:
        """The median of the log densities of its draws."""
        return float(np.median(self.log_p))


def pathfinder(
    target: Target, start: Floats, rng: np.random.Generator, elbo_draws: int = PATHFINDING.elbo_draws
) -> Pathfinder:
    """Climb from `start` (dim,) and return the Gaussian with the best ELBO along the way.

    Raises:
        InferenceError: no Gaussian on the path has a finite ELBO.
    """
    z = rng.standard_normal((elbo_draws, target.dim))
    best = answered(target.log_density_gradient, best_on_path(target, start, z))
    if best is None:
        raise InferenceError(NO_GAUSSIAN)
    return best


def best_on_path(
    target: Target, start: Floats, z: Floats, arrives: PathWatch = lambda point: False
) -> Search[Pathfinder | None]:
    """The same, judged on the noise z; None where there is none, or the path `arrives` where others ended."""
    heights, elbos = list[float](), list[float]()
    arrived = False

    def watch(point: PathPoint) -> bool:
        nonlocal arrived
        heights.append(point.log_density)
        before = heights[: -PATHFINDING.steps_without_gain]
        if point.steps % PATHFINDING.steps_between_looks == 0:
            elbos.extend(seen.elbo for _, seen in _judged(target, [point], z[: PATHFINDING.first_draws]))
        arrived = arrives(point)
        no_gain = bool(before and heights[-1] - before[-1] < PATHFINDING.least_gain)
        return arrived or no_gain or _falls(elbos, target.dim)

    path = yield from lbfgs_path(start, watch)
    return None if arrived else _best_of_path(target, path, z)


def _falls(elbos: Sequence[float], dim: int) -> bool:
    """Whether the last of these ELBOs are all far lower than one before."""
    before, last = elbos[: -PATHFINDING.lower_in_turn], elbos[-PATHFINDING.lower_in_turn :]
    return bool(before) and max(last) < max(before) - max(PATHFINDING.far_lower, dim)


def _best_of_path(target: Target, path: Sequence[PathPoint], z: Floats) -> Pathfinder | None:
    """The Gaussian with the best ELBO on a path: of a long one, among points all along, and then nearby."""
    if len(path) <= PATHFINDING.most_points:
        return _best(target, path, z)
    chosen = _evenly(0, len(path) - 1)
    best = _best(target, [path[k] for k in chosen], z)
    if best is None:
        return None
    at = chosen.index(best.steps - 1)
    near = _evenly(chosen[max(at - 1, 0)], chosen[min(at + 1, len(chosen) - 1)])
    nearby = _best(target, [path[k] for k in near], z)
    return max(filter(None, (best, nearby)), key=lambda gaussian: gaussian.elbo)


def _evenly(first: int, last: int) -> list[int]:
    """Half of the points that are judged, from the first to the last."""
    return [*dict.fromkeys(np.linspace(first, last, PATHFINDING.most_points // 2).astype(int).tolist())]


def mixture_log_density(paths: Sequence[Pathfinder], u: Floats) -> Floats:
    """Of the equal mixture of their Gaussians at u (n, dim); (n,).

    A draw of one of them is weighted against it: that bounds the weights where the Gaussians overlap.
    """
    each = [path.log_density(u) for path in paths]
    return np.asarray(log_sum_exp(each, axis=0) - np.log(len(paths)))


def pathfinders(
    target: Target,
    points: Sequence[Floats],
    rng: np.random.Generator,
    paths: list[Pathfinder],
    elbo_draws: int = PATHFINDING.elbo_draws,
    listen: Listener = silent,
    prune: bool = False,
) -> None:
    """Add the best Gaussian of the path from each point to `paths`, so that Ctrl-C leaves those so far.

    Paths run in lockstep; with `prune` one after the other, and one that comes to where an earlier one has
    led is left there.
    """

    def arrives(point: PathPoint) -> bool:
        return prune and any(path.has_reached(point.u, point.log_density) for path in paths)

    noise = [rng.standard_normal((elbo_draws, target.dim)) for _ in points]
    searches = [best_on_path(target, point, z, arrives) for point, z in zip(points, noise, strict=True)]
    rounds = [[search] for search in searches] if prune else [searches]
    listen(Progress(Phase.PATHFINDER, 0, len(points)))
    for k, (_, path) in enumerate(chain.from_iterable(in_lockstep(target, some) for some in rounds), start=1):
        if path is not None:
            paths.append(path)
            note = f"{path.steps} steps"
            listen(Progress(Phase.PATHFINDER, k, len(points), path.elbo, note=note))


class Guess(NamedTuple):
    """A point of a path, and two Gaussians with its curvature: means (2, dim), noise (n, dim) about them."""

    point: PathPoint
    curvature: InverseHessian
    means: Floats
    noise: Floats
    half_log_det: float


def _best(target: Target, points: Sequence[PathPoint], z: Floats) -> Pathfinder | None:
    """The Gaussian with the best ELBO at these points, judged on the noise z; None where none has one.

    A part of the noise tells which few of many points may have it.
    """
    if len(points) > PATHFINDING.judged_on_all:
        rough = _judged(target, points, z[: PATHFINDING.first_draws])
        points = [point for point, _ in rough[: PATHFINDING.judged_on_all]]
    return next((gaussian for _, gaussian in _judged(target, points, z)), None)


def _judged(target: Target, points: Sequence[PathPoint], z: Floats) -> list[tuple[PathPoint, Pathfinder]]:
    """The better of both Gaussians of each point, where one has an ELBO; the best point first."""
    at_once = max(1, PATHFINDING.most_numbers // (2 * z.size))
    some = (points[i : i + at_once] for i in range(0, len(points), at_once))
    each = chain.from_iterable(_judged_at_once(target, part, z) for part in some)
    return sorted(each, key=lambda judged: -judged[1].elbo)


def _judged_at_once(
    target: Target, points: Sequence[PathPoint], z: Floats
) -> Iterator[tuple[PathPoint, Pathfinder]]:
    guesses = _guesses(points, z)
    if not guesses:
        return
    draws = np.array([guess.means[:, None] + guess.noise for guess in guesses])
    log_p = target.log_densities(draws.reshape(-1, target.dim)).reshape(draws.shape[:-1])
    standard = -0.5 * ((z**2).sum(axis=1) + target.dim * LOG_2PI)
    for (point, curvature, means, _, half_log_det), own, own_p in zip(guesses, draws, log_p, strict=True):
        log_q = standard - half_log_det
        elbos = np.where(np.isfinite(own_p).all(axis=-1), (own_p - log_q).mean(axis=-1), -np.inf)
        k = elbos.argmax()
        if elbos[k] > -np.inf:
            at = own[k], own_p[k], log_q
            yield point, Pathfinder(means[k], curvature, float(elbos[k]), point.steps, *at)


def _guesses(points: Sequence[PathPoint], z: Floats) -> list[Guess]:
    """Those at the points; none where the covariance is not positive definite."""
    try:
        all_of = curvatures(points)
        noise, half_log_dets = all_of.colour(z)
    except np.linalg.LinAlgError:
        return [g for point in points for g in _guesses([point], z)] if len(points) > 1 else []
    us = np.array([point.u for point in points])
    newton = us + all_of.times(np.array([point.gradient for point in points]))
    means = np.stack([newton, us], axis=1)
    return list(map(Guess, points, all_of.each, means, noise, half_log_dets.tolist()))
