"""Jumps along coordinates of the program, to where one is many times as wide as elsewhere.

A parameter that the data do not inform given the others, as a slope beyond a knot that is beyond the data, is
as wide as its prior there. Trajectories in the metric of the rest drift into it, few of the chains at a time:
what is missing is lost in noise, so that no stage differs from the one before. Independent proposals of heavy
tails for one coordinate lead there at once, and back: Tierney (1994), "Markov chains for exploring posterior
distributions", Annals of Statistics 22.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.methods.moves.metric import folds
from ppl.methods.numerics.quantiles import quantiles


class JumpLimits(NamedTuple):
    """How often chains jump."""

    coordinates: int = 16
    """Coordinates, at random, along which chains jump one after the other."""

    most_dimensions: int = 100
    """Dimensions up to which chains jump: of more, each would be among those too seldom."""

    share: float = 0.1
    """The share of the gradients between them that jumps cost, at most."""

    most_more: float = 0.2
    """By how much more that share may be where rejections are uneven."""

    values_a_gradient: int = 3
    """Log densities that cost as much as a gradient, about."""

    def cost(self, dim: int) -> float:
        """Gradients of a chain for its jumps: a value for each, one before them, and a gradient after."""
        return 1 + (1 + min(self.coordinates, dim)) / self.values_a_gradient


JUMPING = JumpLimits()
QUARTILES_OF_CAUCHY = 0.74
"""The scale of proposals, as a share of the distance of quartiles: that of a Gaussian's is its sd."""


class JumpProposals(NamedTuple):
    """The centre and the scale (2, dim) of the Cauchy distribution of a coordinate, for either fold."""

    centre: Floats
    scale: Floats

    @staticmethod
    def of(u: Floats, second: int) -> "JumpProposals":
        """Those by positions u (moves, chains, dim) of the other fold, as the metric is."""
        others = [u[:, other] if u[:, other].size else u for other in folds(second)[::-1]]
        ends = [quantiles(each.reshape(-1, u.shape[-1]), [0.25, 0.5, 0.75]) for each in others]
        low, centre, high = np.swapaxes(ends, 0, 1)
        return JumpProposals(centre, QUARTILES_OF_CAUCHY * (high - low))

    def at(self, k: int, chains: int, second: int) -> tuple[Floats, Floats]:
        """The centre and the scale of coordinate k for each chain (chains,)."""
        fold = (np.arange(chains) >= second).astype(int)
        return self.centre[fold, k], self.scale[fold, k]


def jumped(
    target: Target, u: Floats, proposals: JumpProposals, second: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """Positions (chains, dim) after jumps from u (chains, dim), and which chains (chains,) have jumped."""
    u, jumps = u.copy(), np.zeros(len(u), dtype=bool)
    log_p = target.log_densities(u)
    for k in rng.permutation(u.shape[1])[: JUMPING.coordinates]:
        centre, scale = proposals.at(k, len(u), second)
        z = rng.standard_cauchy(len(u))
        there = u.copy()
        there[:, k] = centre + scale * z
        log_there = target.log_densities(there)
        with np.errstate(all="ignore"):  # a density that is not finite is not accepted
            back = (u[:, k] - centre) / scale
            odds = log_there - log_p + np.log1p(z**2) - np.log1p(back**2)
            accepted = (np.log(rng.random(len(u))) < odds) & np.isfinite(log_there)
        u[accepted], log_p[accepted] = there[accepted], log_there[accepted]
        jumps |= accepted
    return u, jumps
