"""Where the loop begins: a point as it is, or the best Gaussian near the L-BFGS paths from several.

The Gaussians of Pathfinder's paths come first; where the dimension allows, the Hessian at the best of them
then replaces L-BFGS's guess of it, if that raises the ELBO.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.coordinates import Scaled
from ppl.inference.families.family import Family
from ppl.inference.families.full_rank import FullRank
from ppl.inference.families.low_rank import LowRank
from ppl.inference.gaussian import Gaussian, made_positive
from ppl.inference.hessian import hessian
from ppl.inference.pathfinder import Pathfinder, pathfinder
from ppl.inference.progress import Listener, Progress
from ppl.inference.target import Array, Target, log_densities

MOST_DENSE = 1000
ELBO_DRAWS = 50
PATH_ELBO_DRAWS = 10


@dataclass(frozen=True)
class Start:
    """Where and in which coordinates a fit begins.

    `point` (dim,) is where it came from, `target` the target in those coordinates and `params` (size,) the
    first q there. `metric` (dim, dim) is the Cholesky factor of a guess at its covariance there, None where
    there is none. `note` is for the user.
    """

    point: Array
    target: Target
    family: Family
    params: Array
    metric: Array | None = None
    note: str = ""

    @property
    def scaled(self) -> bool:
        """Whether Pathfinder found it."""
        return isinstance(self.target, Scaled)

    def back(self, params: Array) -> Array:
        """Those params in the coordinates of the model."""
        if isinstance(self.target, Scaled):
            return self.family.carry(params, self.target.centre, self.target.factor)
        return params


def at_random(target: Target, family: Family, point: Array, scale: float = 1.0, note: str = "") -> Start:
    """Begin at `point` (dim,) with equal scales, which are one in the ADVI paper."""
    return Start(point, target, family, family.start(point, scale), note=note)


def from_paths(
    target: Target, family: Family, points: Sequence[Array], rng: np.random.Generator, listen: Listener
) -> Start:
    """Begin at the Gaussian with the best ELBO that is found along the paths from `points`, (dim,) each.

    Where there is none, the first point is the start and the note says so.
    """
    paths, error = _climb(target, points, rng)
    origin, zeros = points[0], np.zeros(target.dim)
    if not paths:
        note = f"Started at random, since Pathfinder failed: {error}"
        return at_random(target, family, origin, note=note)
    best = max(paths, key=lambda path: path.elbo)
    listen(Progress("start", best.steps, best.steps, best.elbo, note=f"best of {len(points)} paths"))
    if target.dim > MOST_DENSE:
        scaled = Scaled(target, best.mean, best.curvature.precisions**-0.5)
        return Start(origin, scaled, family, family.start(zeros))
    found = _refine(target, best, rng)
    if isinstance(family, FullRank):
        return Start(origin, Scaled(target, found.mean, found.factor), family, family.start(zeros))
    # In units of the conditional sds, those of the mean-field q nearest to a Gaussian.
    sds = found.precisions**-0.5
    scaled = Scaled(target, found.mean, sds)
    metric = found.factor / sds[:, None]
    first = family.near(metric @ metric.T) if isinstance(family, LowRank) else family.start(zeros)
    return Start(origin, scaled, family, first, metric=metric)


def _climb(
    target: Target, points: Sequence[Array], rng: np.random.Generator
) -> tuple[list[Pathfinder], InferenceError | None]:
    """The best Gaussian of each path, and the last error where there was one."""
    paths, last = [], None
    for point in points:
        try:
            paths.append(pathfinder(target, point, rng, PATH_ELBO_DRAWS))
        except InferenceError as error:
            last = error
    return paths, last


def _refine(target: Target, path: Pathfinder, rng: np.random.Generator) -> Gaussian:
    """The best of the path's Gaussian and those with the Hessian at its mean, on the same noise."""
    z = rng.standard_normal((ELBO_DRAWS, target.dim))
    try:
        guesses = [Gaussian.with_covariance(path.mean, path.curvature.dense())]
    except np.linalg.LinAlgError:
        guesses = [Gaussian.with_covariance(path.mean, np.diag(path.curvature.variances))]
    units = np.sqrt(path.curvature.variances)
    gradient = target.log_density_gradient(path.mean)[1]
    curve = hessian(target, path.mean, units)
    if np.isfinite(curve).all() and np.isfinite(gradient).all():
        precision, _ = made_positive(-curve * np.outer(units, units))
        local = Gaussian.with_precision(path.mean, precision, units)
        step = local.factor @ (local.factor.T @ gradient)
        guesses += [local, local.moved(path.mean + step)]
    return max(guesses, key=lambda guess: _elbo(target, guess, z))


def _elbo(target: Target, guess: Gaussian, z: Array) -> float:
    """The ELBO of a Gaussian up to a constant; -inf where a draw leaves the support."""
    elbo = float(log_densities(target, guess.draws(z)).mean()) + guess.half_log_det
    return elbo if np.isfinite(elbo) else -np.inf
