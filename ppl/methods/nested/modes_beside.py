"""Whether the outer coordinates, or the rest given these, have another mode than that which was found."""

from itertools import chain
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.nested.marginal import Marginal, Peak, ascended, newton
from ppl.methods.nested.modes import MODES


class BesideLimits(NamedTuple):
    """Where other modes are looked for."""

    outer_points: int = 4
    """Draws of the outer coordinates, at which the rest is looked at."""

    distances: tuple[float, ...] = (6.0, -6.0, 3.0, -3.0)
    """How far from the modes these are begun from, in sds of what meets none of the others."""

    few: int = 2
    """Distances where Hessians take many gradients."""

    same: float = 0.1
    """Two modes nearer than this are one, in sds."""

    lower: float = 10.0
    """A mode so many nats lower has next to no mass."""


BESIDE = BesideLimits()


def has_other_peaks(peak: Peak, starts: list[Marginal]) -> bool:
    """Whether a climb from elsewhere ends at another mode of the outer coordinates."""

    climbs = 0
    height = peak.marginal.log_density(peak.marginal.centre)
    together = [[start] for start in starts] if peak.marginal.inner.is_costly else [starts]
    for near in filter(None, chain.from_iterable(map(ascended, together))):
        other = None if peak.is_near(near.centre) else newton(near, peak)
        climbs += other is not None
        if other is None or peak.is_near(other.marginal.centre):
            if climbs and near.inner.is_costly:
                break
            continue
        if other.marginal.log_density(other.marginal.centre) > height - BESIDE.lower:
            return True
    return False


def has_other_modes(marginal: Marginal, outer: Floats, rng: np.random.Generator) -> bool:
    """Whether the rest has another mode at one of the outer points (n, d)."""
    inner = marginal.inner.exact
    here = inner.modes(outer, marginal.start(outer), MODES.near)
    if not here.found.any():
        return True
    outer, at = outer[here.found], here.at[here.found]
    for distance in BESIDE.distances[: BESIDE.few if inner.is_costly else None]:
        start = inner.beside(outer, at, distance, rng)
        other = inner.modes(outer, start, MODES.near)
        off = inner.distances(outer, at, other.at)
        if (off[other.found] > BESIDE.same).any():
            return True
    return False
