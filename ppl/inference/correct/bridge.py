"""The evidence by annealed points: a bridge to them from Gaussians that are fitted to some of them.

Meng and Wong (1996), Statistica Sinica 6; Overstall and Forster (2010), Comput. Stat. Data Anal. 54, for the
Gaussians and for keeping the points of the fit apart from those of the bridge. The log weights of the
temperatures would do only where the start reaches the tails, and without temperatures there are none.
"""

import numpy as np
from numpy.typing import NDArray

from ppl.inference.correct.annealing import ANNEALING, Annealed, metric_of
from ppl.inference.correct.evidence import Evidence, bridge
from ppl.inference.correct.reference import Reference
from ppl.inference.numerics.gaussian import Gaussian
from ppl.inference.objective.target import Array, Target, finite, log_densities

BRIDGE_DRAWS = 2048
"""Draws of the Gaussians that a bridge begins at; a power of two."""


def of_annealed(
    target: Target, reference: Reference, found: Annealed, rng: np.random.Generator
) -> Evidence | None:
    """By a bridge from Gaussians at the modes of the reference to annealed points.

    The Gaussians are fitted to every other particle, and the bridge ends at the others. None where there are
    too few particles to fit one.
    """
    fitted = found.particles % 2 == 0
    start = gaussians_at(found.u[fitted], reference.nearest(found.u[fitted]))
    if start is None:
        return None
    u, ends = start.draws(BRIDGE_DRAWS, rng), ~fitted
    with np.errstate(all="ignore"):
        log_p = finite(log_densities(target, u))
    of_ends = found.log_p[ends] - start.log_density_gradients(found.u[ends])[0]
    return bridge(log_p - start.log_density_gradients(u)[0], of_ends, found.particles[ends])


def gaussians_at(u: Array, modes: NDArray[np.intp]) -> Reference | None:
    """Gaussians with the moments of points u (n, dim) by mode (n,); None where no mode has enough points."""
    parts = []
    for mode in range(int(modes.max(initial=0)) + 1):
        own = u[modes == mode]
        if len(own) > min(u.shape[1], ANNEALING.most_correlated):
            try:
                parts.append(Gaussian(own.mean(axis=0), metric_of(own)))
            except np.linalg.LinAlgError:  # they fell together
                continue
    return Reference(tuple(parts), len(parts)) if parts else None
