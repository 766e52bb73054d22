"""Whether the outer coordinates, or a block given these, have another mode than that which was found."""

from dataclasses import dataclass

import numpy as np

from ppl.inference.nested.blocks import BLOCK_MODES, Blocks, lengths, modes
from ppl.inference.nested.outer import Marginal, Peak, climb
from ppl.inference.objective.target import Array


@dataclass(frozen=True)
class BesideLimits:
    """Where other modes are looked for."""

    outer_points: int = 4
    """Draws of the outer coordinates, at which blocks are looked at."""

    distances: tuple[float, ...] = (6.0, -6.0, 3.0, -3.0)
    """How far from the modes of all blocks these are begun from, in sds."""

    same: float = 0.1
    """Two modes nearer than this are one, in sds."""

    same_peak: float = 1.0
    """The same of the outer coordinates."""

    lower: float = 10.0
    """A mode so many nats lower has next to no mass."""


BESIDE = BesideLimits()


def has_other_peaks(peak: Peak, starts: list[Marginal]) -> bool:
    """Whether a climb from elsewhere ends at another mode of the outer coordinates."""
    height = peak.marginal.log_density(peak.marginal.centre)
    for start in starts:
        other = climb(start)
        if other is None:
            continue
        off = peak.gaussian.whitening @ (other.marginal.centre - peak.marginal.centre)
        apart = float(np.sqrt(off @ off)) > BESIDE.same_peak
        if apart and other.marginal.log_density(other.marginal.centre) > height - BESIDE.lower:
            return True
    return False


def has_other_modes(blocks: Blocks, marginal: Marginal, outer: Array, rng: np.random.Generator) -> bool:
    """Whether some block has another mode at one of the outer points (n, d)."""
    found = marginal.modes(outer)
    known = found.found
    if not known.any():
        return True
    at, factors, scales, outer = (each[known] for each in (found.at, found.factors, found.scales, outer))
    for distance in BESIDE.distances:
        direction = rng.standard_normal(at.shape)
        direction /= np.sqrt((direction**2).sum(axis=-1, keepdims=True))
        start = at + distance * (scales @ direction[..., None])[..., 0]
        other = modes(blocks, outer, start, BLOCK_MODES.near)
        off = lengths(factors, other.at - at).max(axis=1)
        if (off[other.found] > BESIDE.same).any():
            return True
    return False
