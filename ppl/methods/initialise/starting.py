"""Where the loop begins: a point as it is, or the best Gaussian near the L-BFGS paths from several.

The Gaussians of Pathfinder's paths come first; where the dimension allows, the Hessian at the best of them
then replaces L-BFGS's guess of it, if that raises the ELBO.
"""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.low_rank import LowRank
from ppl.kernel.advi.gaussian import MOST_DENSE, Gaussian, gaussian_at
from ppl.kernel.advi.outcome import Listener, Outcome, Phase, Progress, interrupted
from ppl.kernel.advi.start import Warm
from ppl.kernel.advi.target import Target
from ppl.methods.initialise.pathfinder import NO_GAUSSIAN, PATHFINDING, Pathfinder, pathfinders
from ppl.records import dataclass, replace

DRAWS_A_START = 50
"""Draws that Gaussians at the end of the best path are compared on."""
WIDE_TARGET = 4096
"""Numbers that an evaluation works through for it to be a waste to follow four paths to one end."""


@dataclass(frozen=True)
class Start:
    """Where and in which coordinates a fit begins.

    `point` (dim,) is where it came from, `target` the target in those coordinates and `params` (size,) the
    first q there. `metric` (dim, dim) is the Cholesky factor of a guess at its covariance there, None where
    there is none. `note` is for the user; `outcome` is how the run ended, where it ended here.
    """

    point: Floats
    target: Target
    family: Family
    params: Floats
    metric: Floats | None = None
    note: str = ""
    outcome: Outcome | None = None

    @property
    def scaled(self) -> bool:
        """Whether Pathfinder found it."""
        return isinstance(self.target, Scaled)

    @property
    def state(self) -> "StartState":
        """The part of it that a journal stores."""
        at = (self.target.centre, self.target.factor) if isinstance(self.target, Scaled) else ()
        return StartState(self.point, at, self.params, self.metric, self.note, self.outcome)

    def back(self, params: Floats) -> Floats:
        """Those params in the coordinates of the model."""
        if isinstance(self.target, Scaled):
            return self.family.push_forward(params, self.target.centre, self.target.factor)
        return params


class StartState(NamedTuple):
    """A start without its target and family; `scaled_by` is the centre and the factor of its coordinates."""

    point: Floats
    scaled_by: tuple[Floats, ...]
    params: Floats
    metric: Floats | None
    note: str
    outcome: Outcome | None

    def start(self, target: Target, family: Family) -> Start:
        """The start that it was; ValueError where its arrays have sizes of no start here."""
        dim, metric = target.dim, self.metric
        shapes = self.params.shape, self.point.shape, (dim, dim) if metric is None else metric.shape
        if shapes != ((family.size,), (dim,), (dim, dim)):
            raise ValueError(f"a start with arrays of shapes {shapes} in {dim} dimensions")
        seen = Scaled(target, *self.scaled_by) if self.scaled_by else target
        return Start(self.point, seen, family, self.params, self.metric, self.note, self.outcome)


def at_random(target: Target, family: Family, point: Floats, scale: float = 1.0, note: str = "") -> Start:
    """Begin at `point` (dim,) with equal scales, which are one in the ADVI paper."""
    return Start(point, target, family, family.start(point, scale), note=note)


def from_paths(
    target: Target, family: Family, points: Sequence[Floats], rng: np.random.Generator, listen: Listener
) -> Start:
    """Begin at the Gaussian with the best ELBO that is found along the paths from `points`, (dim,) each.

    Where there is none, the first point is the start and the note says so. Ctrl-C leaves the best so far.
    """
    paths: list[Pathfinder] = []

    def on_the_way(path: Progress) -> None:
        listen(replace(path, elbo=max((one.elbo for one in paths), default=nan), note=""))

    try:
        wide = target.width >= WIDE_TARGET
        pathfinders(target, points, rng, paths, PATHFINDING.rough_elbo_draws, on_the_way, prune=wide)
        if not paths:
            note = f"Started at random, since Pathfinder failed: {NO_GAUSSIAN}"
            return at_random(target, family, points[0], note=note)
        best = max(paths, key=lambda path: path.elbo)
        n = len(points)
        listen(Progress(Phase.PATHFINDER, n, n, best.elbo, note=f"best of {n} paths"))
        if target.dim > MOST_DENSE:
            return _by_factors(target, family, points[0], best)
        return _in_shape(target, family, points[0], _refine(target, best, rng))
    except KeyboardInterrupt:
        stopped = interrupted("in the search for a start")
        if not paths:
            return replace(at_random(target, family, points[0]), outcome=stopped)
        best = max(paths, key=lambda path: path.elbo)
        return replace(_by_factors(target, family, points[0], best), outcome=stopped)


def from_q(target: Target, family: Family, warm: Warm, scaled: bool) -> Start:
    """Begin at the member of the family nearest to an earlier q, in coordinates made of it if `scaled`.

    A family of the same kind takes all of q, full rank its covariance, any other its scales.
    """
    q, mean, zeros = warm.family, warm.mean, np.zeros(target.dim)
    scales = q.scales(warm.params)
    if not scales.all():
        return at_random(target, family, mean)
    full = isinstance(family, FullRank)
    factor = np.asarray(np.linalg.cholesky(q.covariance(warm.params)), dtype=float) if full else scales
    same = q == family and not full
    params = family.push_forward(warm.params, -mean / scales, 1 / scales) if same else family.start(zeros)
    if scaled:
        return Start(mean, Scaled(target, mean, factor), family, params)
    return Start(mean, target, family, family.push_forward(params, mean, factor))


def _by_factors(target: Target, family: Family, origin: Floats, path: Pathfinder) -> Start:
    """Centred on the Gaussian of a path, as near to it as the family can be by L-BFGS's factors alone.

    No Hessian is formed, and a matrix (dim, dim) only for full rank, which is made of one.
    """
    mean, curvature, zeros = path.mean, path.curvature, np.zeros(target.dim)
    match family:
        case FullRank():
            factor = np.asarray(np.linalg.cholesky(curvature.dense()), dtype=float)
            params = family.start(zeros)
        case LowRank():
            factor, params = np.sqrt(curvature.alpha), family.like(curvature.widening())
        case _:  # the conditional sds are those of the mean-field q nearest to a Gaussian
            factor, params = curvature.precisions**-0.5, family.start(zeros)
    return Start(origin, Scaled(target, mean, factor), family, params)


def _in_shape(target: Target, family: Family, origin: Floats, gaussian: Gaussian) -> Start:
    """Where a Gaussian is standard, or as near to that as the family can see."""
    zeros = np.zeros(target.dim)
    if isinstance(family, FullRank):
        return Start(origin, Scaled(target, gaussian.mean, gaussian.factor), family, family.start(zeros))
    # In units of the conditional sds, those of the mean-field q nearest to a Gaussian.
    sds = gaussian.precisions**-0.5
    scaled = Scaled(target, gaussian.mean, sds)
    metric = gaussian.factor / sds[:, None]
    first = family.near(metric @ metric.T) if isinstance(family, LowRank) else family.start(zeros)
    return Start(origin, scaled, family, first, metric=metric)


def _refine(target: Target, path: Pathfinder, rng: np.random.Generator) -> Gaussian:
    """The best of the path's Gaussian and those with the Hessian at its mean, on the same noise."""
    z = rng.standard_normal((DRAWS_A_START, target.dim))
    try:
        guesses = [Gaussian.with_covariance(path.mean, path.curvature.dense())]
    except np.linalg.LinAlgError:
        guesses = [Gaussian.with_covariance(path.mean, np.diag(path.curvature.variances))]
    guesses += _by_hessian(target, path.mean, np.sqrt(path.curvature.variances))
    return max(guesses, key=lambda guess: _elbo(target, guess, z))


def _by_hessian(target: Target, mean: Floats, units: Floats) -> list[Gaussian]:
    """The Gaussian with the Hessian there, and that a Newton step on; none where it is flat to rounding."""
    gradient = target.log_density_gradient(mean)[1]
    try:
        local, _ = gaussian_at(target, mean, units)
    except (np.linalg.LinAlgError, ValueError):
        return []
    on = local.with_mean(mean + local.factor @ (local.factor.T @ gradient))
    return [local, on] if np.isfinite(gradient).all() else []


def _elbo(target: Target, guess: Gaussian, z: Floats) -> float:
    """The ELBO of a Gaussian up to a constant; -inf where a draw leaves the support."""
    elbo = float(target.log_densities(guess.draws(z)).mean()) + guess.half_log_det
    return elbo if np.isfinite(elbo) else -np.inf
