"""Whether there are modes that q does not know of: where paths that begin far from it end."""

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.coordinates import Scaled
from ppl.inference.gaussian import Gaussian
from ppl.inference.pathfinder import ROUGH_DRAWS, Pathfinder, pathfinder
from ppl.inference.target import Array

PATHS = 4
# Half of the paths begin so many sds of q away, half where runs may begin: uniform(-2, 2) in each coordinate.
AWAY, RADIUS = 3.0, 2.0
# A mode so many sds of q from its mean is another; with an ELBO so many nats lower it has hardly any mass.
FAR, LOWER = 3.0, 10.0
# Two Gaussians nearer than this, in sds of q, are one.
NEAR = 1.0


def other_modes(scaled: Scaled, elbo: float, rng: np.random.Generator) -> tuple[Gaussian, ...]:
    """Gaussians near other modes of the target in coordinates where q is standard and its ELBO is `elbo`.

    Each is the best of a path of Pathfinder, whose curvature need not be that of the mode. A funnel may give
    some too.
    """
    dim = scaled.dim
    uniform = rng.uniform(-RADIUS, RADIUS, (PATHS, dim)) - scaled.centre
    begin = [*(AWAY * rng.standard_normal((PATHS, dim))), *np.linalg.solve(scaled.factor, uniform.T).T]
    found: list[Gaussian] = []
    with np.errstate(all="ignore"):
        for path in filter(None, (_climb(scaled, point, rng) for point in begin)):
            far = np.linalg.norm(path.mean) > FAR
            if far and path.elbo > elbo - LOWER and not _among(path.mean, found):
                found.append(Gaussian.with_covariance(path.mean, path.curvature.dense()))
    return tuple(found)


def _climb(scaled: Scaled, point: Array, rng: np.random.Generator) -> Pathfinder | None:
    """The best Gaussian on the path from there, None where there is none."""
    if not np.isfinite(scaled.log_density(point)):
        return None
    try:
        return pathfinder(scaled, point, rng, ROUGH_DRAWS)
    except (InferenceError, np.linalg.LinAlgError):
        return None


def _among(mean: Array, found: list[Gaussian]) -> bool:
    return any(np.linalg.norm(mean - other.mean) < NEAR for other in found)
