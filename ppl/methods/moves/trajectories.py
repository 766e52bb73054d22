"""Hamiltonian trajectories of many chains in lockstep, each of which leaves the target as it is.

Neal (2011), "MCMC using Hamiltonian dynamics", section 5.3.2.1. Where a trajectory is as good as sure to be
rejected, a shorter step is tried: the delayed rejection of Modi, Barnett and Carpenter (2024), "Delayed
rejection Hamiltonian Monte Carlo for sampling multiscale distributions", Bayesian Analysis 19.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.target import AtPoints, Target
from ppl.methods.moves.metric import Metric


class TrajectoryLimits(NamedTuple):
    """The step sizes of a trajectory, and when it has failed."""

    shortest_log_step: float = -0.7
    """The log of the shortest step size, in units of the common one: each chain draws one of its own, for a
    funnel needs many.
    """

    longest_log_step: float = 0.3
    """The log of the longest one."""

    rejected_log_chance: float = -3.0
    """The log of the chance to be accepted below which a trajectory is tried again with a shorter step."""

    shortening: tuple[float, ...] = (4.0, 16.0, 64.0)
    """How many times shorter that step is, each as often as the others."""

    divergent_energy: float = -1000.0
    """A trajectory with an energy error of so many nats has diverged, as in Stan."""


TRAJECTORY = TrajectoryLimits()


class Chains(NamedTuple):
    """Chains at u (n, dim), with the log density (n,) and its gradient (n, dim) there.

    Where the target has no density its logarithm is -inf and its gradient is taken as zero.
    """

    u: Floats
    log_p: Floats
    slope: Floats

    def at(self, places: NDArray[np.intp]) -> "Chains":
        """Those chains."""
        return Chains(*(part[places] for part in self))

    def put(self, places: NDArray[np.intp], by: "Chains") -> None:
        """Those of `by` at the places, in place of these chains."""
        for own, new in zip(self, by, strict=True):
            own[places] = new

    def replaced(self, where: NDArray[np.bool_], by: "Chains") -> "Chains":
        """These chains, but those of `by` where (n,) that is true."""
        which = (where if part.ndim == 1 else where[:, None] for part in self)
        return Chains(*map(np.where, which, by, self))


def chains_at(target: Target, u: Floats) -> Chains:
    """Chains that begin at u (n, dim)."""
    log_p, slope = target.log_density_gradients(u)
    bad = ~(np.isfinite(log_p) & np.isfinite(slope).all(axis=1))
    return Chains(u, np.where(bad, -np.inf, log_p), np.where(bad[:, None], 0.0, slope))


class Trajectory(NamedTuple):
    """Where trajectories end, the momentum (n, dim) there, and the log chance (n,) to be accepted, not cut at
    0: the loss of energy."""

    end: Chains
    momentum: Floats
    log_chance: Floats


def trajectories(
    target: Target, chains: Chains, metric: Metric, momentum: Floats, steps: Floats, count: int
) -> Trajectory:
    """`count` leapfrog steps of sizes `steps` (n, 1), in sds of the metric.

    A trajectory is rejected, as its way back is, where it meets a point without a finite gradient, or has
    more kinetic energy than a fall from its beginning to the best of the chains explains. Its chain waits
    where it began: points further out are of no use, and may be dear.
    """
    u, ahead = chains.u, momentum + 0.5 * steps * metric.force(chains.slope)
    begin, most = kinetic(momentum) - chains.log_p, kinetic(ahead)
    height = chains.log_p.max(initial=-np.inf) - TRAJECTORY.divergent_energy
    for _ in range(count - 1):
        lost = np.isnan(most) | (most > begin + height)
        u = np.where(lost[:, None], chains.u, u + steps * metric.velocity(ahead))
        ahead = ahead + steps * metric.force(target.gradients_alone(u))
        most = np.maximum(most, kinetic(ahead))
    lost = np.isnan(most) | (most > begin + height)
    end = chains_at(target, np.where(lost[:, None], chains.u, u + steps * metric.velocity(ahead)))
    ahead = ahead + 0.5 * steps * metric.force(end.slope)
    energy = kinetic(ahead) - end.log_p
    lost |= ~(most <= energy + height) | np.isnan(begin - energy)
    return Trajectory(end, ahead, np.where(lost, -np.inf, begin - energy))


def kinetic(momentum: Floats) -> Floats:
    """The kinetic energy (n,) of each row."""
    return 0.5 * (momentum**2).sum(axis=1)


class Move(NamedTuple):
    """Chains after a trajectory each of `length` steps.

    `chance` (n,) is that of the first attempt to be accepted, `steps` (n,) its step sizes, `energy` (n,) the
    negative log density and kinetic energy where the chains are now. `divergent` (n,) are those that diverged
    twice. `gradients` is the number of points that were evaluated.
    """

    chains: Chains
    chance: Floats
    steps: Floats
    energy: Floats
    divergent: NDArray[np.bool_]
    length: int
    gradients: int

    @property
    def accepted(self) -> float:
        """The mean chance."""
        return float(self.chance.mean())

    @property
    def rejected(self) -> NDArray[np.bool_]:
        """Which (n,) first attempts were as good as sure to be rejected."""
        return self.chance < np.exp(TRAJECTORY.rejected_log_chance)


def move(
    target: Target, chains: Chains, metric: Metric, step: float, count: int, rng: np.random.Generator
) -> Move:
    """Every chain moved along a trajectory of `count` steps, or left where that is rejected."""
    n, dim = chains.u.shape
    steps = step * np.exp(rng.uniform(TRAJECTORY.shortest_log_step, TRAJECTORY.longest_log_step, (n, 1)))
    momentum = rng.standard_normal((n, dim))
    first = trajectories(target, chains, metric, momentum, steps, count)
    chance = np.exp(np.minimum(0.0, first.log_chance))
    accepted = rng.random(n) < chance
    moved = chains.replaced(accepted, first.end)
    energy = kinetic(momentum) - chains.log_p - np.where(accepted, first.log_chance, 0.0)
    rejected = np.flatnonzero(~accepted & (first.log_chance < TRAJECTORY.rejected_log_chance))
    divergent = np.zeros(n, dtype=bool)
    if len(rejected):
        starts = chains.at(rejected), metric.at(rejected), momentum[rejected]
        first_tried = steps[rejected], first.log_chance[rejected]
        own = target.view(AtPoints(rejected)) or target
        again, loss, divergent[rejected] = _shorter(own, *starts, *first_tried, count, rng)
        moved.put(rejected, again)
        energy[rejected] -= loss
    spent = count * (n + 2 * len(rejected))
    return Move(moved, chance, steps[:, 0], energy, divergent, count, spent)


def _shorter(
    target: Target,
    chains: Chains,
    metric: Metric,
    momentum: Floats,
    steps: Floats,
    loss: Floats,
    count: int,
    rng: np.random.Generator,
) -> tuple[Chains, Floats, NDArray[np.bool_]]:
    """Chains whose trajectories ended in that loss, moved with a shorter step, or left; the loss of energy
    (n,), and which diverged.

    The way back must fail at first as the way there did, for both to be as probable.
    """
    shorter = steps / rng.choice(TRAJECTORY.shortening, steps.shape)
    second = trajectories(target, chains, metric, momentum, shorter, count)
    back = trajectories(target, second.end, metric, -second.momentum, steps, count).log_chance
    fails = back < TRAJECTORY.rejected_log_chance
    odds = second.log_chance + np.log1p(-np.exp(np.where(fails, back, -np.inf))) - np.log1p(-np.exp(loss))
    moved = fails & (np.log(rng.random(len(odds))) < odds)
    diverged = second.log_chance < TRAJECTORY.divergent_energy
    return chains.replaced(moved, second.end), np.where(moved, second.log_chance, 0.0), diverged
