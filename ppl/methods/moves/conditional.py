"""Draws of some coordinates given others that stay, which differ from draw to draw.

Each draw has two chains, begun at two draws. The difference of the two does not depend on what both share:
its spread is the metric, and where it no longer correlates with the difference at the start, the chains have
forgotten where they began.
"""

from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.target import AtPoints, Forwarding, Target, View
from ppl.methods.moves.sampler import Sampler
from ppl.methods.moves.trajectories import chains_at
from ppl.records import dataclass, replace


class ConditionalLimits(NamedTuple):
    """How many moves are made."""

    moves_a_round: int = 4
    """Moves between two looks at the chains."""

    tuning_rounds: int = 5
    """Rounds after which metric and step size stay."""

    most_rounds: int = 100
    """Rounds until the moves end without an answer."""

    forgotten: float = 4.0
    """The largest correlation with the start, in standard errors of one of independent pairs."""


CONDITIONAL_MOVES = ConditionalLimits()


@dataclass(frozen=True)
class GivenFirst(Forwarding):
    """The target over its last coordinates; the `first` (n, k) are fixed, a row for each of n points."""

    target: Target
    first: Floats

    @property
    def dim(self) -> int:
        return int(self.target.dim - self.first.shape[1])

    def view(self, view: View) -> "GivenFirst | None":
        return replace(self, first=self.first[view.places]) if isinstance(view, AtPoints) else None

    def whole(self, us: Floats) -> Floats:
        return np.concatenate([self.first, us], axis=1)

    def log_densities(self, us: Floats) -> Floats:
        return self.target.log_densities(self.whole(us))

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        values, slopes = self.target.log_density_gradients(self.whole(us))
        return values, slopes[:, -self.dim :]

    def gradients_alone(self, us: Floats) -> Floats:
        return self.target.gradients_alone(self.whole(us))[:, -self.dim :]


class Conditional(NamedTuple):
    """Points (n, dim), and whether they have forgotten where they began."""

    points: Floats
    forgotten: bool


def conditional(
    target: Target, given: Floats, first: Floats, second: Floats, rng: np.random.Generator
) -> Conditional:
    """A draw of the last coordinates for each of `given` (n, k), from two starts (n, dim) of each."""
    limits = CONDITIONAL_MOVES
    own = GivenFirst(target, np.repeat(given, 2, axis=0))
    with np.errstate(all="ignore"):  # a trajectory too far overflows, and is rejected
        try:
            chains = chains_at(own, np.stack([first, second], axis=1).reshape(-1, own.dim))
            sampler = Sampler(own, chains, rng, of_pairs)
            for _ in range(limits.tuning_rounds):
                sampler.stage(limits.moves_a_round)
            start = difference(sampler.chains.u)
            for _ in range(limits.tuning_rounds, limits.most_rounds):
                sampler.stage(limits.moves_a_round, rate=0.0)
                if correlation(start, difference(sampler.chains.u)) < limits.forgotten:
                    return Conditional(sampler.chains.u[::2], True)
        except np.linalg.LinAlgError:  # no chain moves
            return Conditional(first, False)
    return Conditional(sampler.chains.u[::2], False)


def difference(u: Floats) -> Floats:
    """Of the two chains of each draw, neighbours, in units of one; u (..., 2 n, dim), the result
    (..., n, dim)."""
    return np.asarray((u[..., ::2, :] - u[..., 1::2, :]) / np.sqrt(2))


def of_pairs(u: Floats) -> Floats:
    """Differences both ways, whose mean is 0."""
    one = difference(u).reshape(-1, u.shape[-1])
    return np.concatenate([one, -one])


def correlation(start: Floats, now: Floats) -> float:
    """The largest correlation of a coordinate with its start, in standard errors."""
    along = (start * now).mean(axis=0) / np.sqrt((start**2).mean(axis=0) * (now**2).mean(axis=0))
    return float(np.abs(along).max() * np.sqrt(len(start)))
