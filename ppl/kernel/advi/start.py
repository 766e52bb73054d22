"""Where a run begins on R^dim."""

from typing import TYPE_CHECKING

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.target import Target, blame
from ppl.records import dataclass

if TYPE_CHECKING:
    from ppl.kernel.advi.families.family import Family


START_TRIES = 100
"""Random points that are tried for one with a finite log density and gradient."""
START_PATHS = 4
"""Points that paths begin at, where none was given."""


@dataclass(frozen=True, eq=False)
class Warm:
    """An earlier q to begin at: a family and its params (size,)."""

    family: "Family"
    params: Floats

    @property
    def mean(self) -> Floats:
        return self.family.mean(self.params)


# A radius, a point (dim,), or an earlier q.
Init = float | Floats | Warm


def start_points(
    target: Target, init: Init, rng: np.random.Generator, paths: int = START_PATHS
) -> list[Floats]:
    """Where paths may begin: the point of `start_point`, and others as random unless it was given."""
    fixed = isinstance(init, Warm) or np.ndim(init) > 0 or init == 0
    return [start_point(target, init, rng) for _ in range(1 if fixed else paths)]


def start_point(target: Target, init: Init, rng: np.random.Generator) -> Floats:
    """A point (dim,) at which the log density and its gradient are finite.

    Args:
        init: a radius r for uniform(-r, r) in each coordinate, tried 100 times; 0 for the origin; or a vector
            (dim,), whose nan entries are drawn from uniform(-2, 2); or an earlier q, for its mean.

    Raises:
        InferenceError: no such point was found; names the statement to blame.
    """
    centre, radius = _box(target.dim, init.mean if isinstance(init, Warm) else init)
    tries, u = START_TRIES if radius.any() else 1, centre
    for _ in range(tries):
        u = centre + rng.uniform(-1.0, 1.0, target.dim) * radius
        value, gradient = target.log_density_gradient(u)
        if np.isfinite(value) and np.isfinite(gradient).all():
            return u
    where = f"{tries} random starting points" if tries > 1 else "the given starting point"
    why = f"The log density or its gradient is not finite at {where}.\n{blame(target, u)}"
    raise InferenceError(why, "PPL971")


def _box(dim: int, init: float | Floats) -> tuple[Floats, Floats]:
    """Centre and half-width (dim,) of the box in which the start is drawn."""
    point = np.asarray(init, dtype=float)
    if point.ndim == 0:
        if not 0 <= point < np.inf:
            raise InferenceError(f"init is a radius of {point:g}; expected a finite number of at least 0.")
        return np.zeros(dim), np.full(dim, float(point))
    if point.shape != (dim,):
        raise InferenceError(f"init has shape {point.shape}; expected ({dim},), one value a coordinate.")
    missing = np.isnan(point)
    return np.where(missing, 0.0, point), np.where(missing, 2.0, 0.0)
