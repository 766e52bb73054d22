"""Whether the outer coordinates, or the rest given these, have another mode than that which was found."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.nested.marginal import Marginal, Peak, newton
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

    points_between: int = 5
    """Points between two modes at which the marginal is looked at."""

    shallow: float = 1.0
    """How many nats it may fall there below the lower mode, for chains and draws to come from one to the
    other."""


BESIDE = BesideLimits()


def highest(peak: Peak, elsewhere: Iterable[Marginal | None]) -> Peak | None:
    """The highest mode of the outer coordinates that climbs from elsewhere end at, whose last points these
    are; None where another has mass, too.
    """
    modes, costly = [peak], peak.marginal.inner.is_costly
    for near in filter(None, elsewhere):
        other = None if any(mode.is_near(near.centre) for mode in modes) else newton(near, peak)
        if other is None or any(mode.is_near(other.marginal.centre) for mode in modes):
            if costly:
                break
            continue
        modes.append(other)
    heights = [mode.marginal.log_density(mode.marginal.centre) for mode in modes]
    top = max(heights)
    best = modes[heights.index(top)]
    with_mass = [
        (mode, height) for mode, height in zip(modes, heights, strict=True) if top - height < BESIDE.lower
    ]
    return best if all(mode is best or are_one(best, mode, height) for mode, height in with_mass) else None


def are_one(peak: Peak, other: Peak, lower: float) -> bool:
    """Whether the marginal between two modes falls little below the `lower` one: they are one region."""
    shares = np.linspace(0, 1, BESIDE.points_between + 2)[1:-1, None]
    outer = (1 - shares) * peak.marginal.centre + shares * other.marginal.centre
    return bool((peak.marginal.log_densities(outer) > lower - BESIDE.shallow).all())


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
