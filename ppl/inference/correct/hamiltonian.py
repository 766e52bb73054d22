"""Hamiltonian moves of many points at once, each of which leaves q^(1-beta) p^beta as it is.

Neal (2011), "MCMC using Hamiltonian dynamics", section 5.3.2.1; Buchholz, Chopin and Jacob (2021), Bayesian
Analysis 16, for its use within sequential Monte Carlo.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.inference.correct.reference import Reference
from ppl.inference.numerics.triangular import diagonal_of, times, transposed_times
from ppl.inference.objective.target import Array, Target, gradients, log_density_gradients


class HMCLimits(NamedTuple):
    """The trajectories of an HMC move."""

    leapfrog_steps: int = 6
    """Leapfrog steps of a trajectory."""

    shortest_log_step: float = -1.0
    """The log of the shortest step size, in units of the common one: each point draws one of its own, for a
    funnel needs many.
    """

    longest_log_step: float = 0.3
    """The log of the longest one."""

    refused_log_chance: float = -3.0
    """The log of the chance to be accepted below which a trajectory is tried again with a shorter step."""

    shortening: tuple[float, ...] = (4.0, 16.0)
    """How many times shorter that step is, either as often as the other."""

    divergent_energy: float = -1000.0
    """A trajectory whose energy is off by so many nats has diverged, as in Stan."""


HMC = HMCLimits()


class Particles(NamedTuple):
    """Points u (n, dim) with the log densities (n,) and gradients (n, dim) of p and of q there.

    Where p has no density its logarithm is -inf and its gradient is taken as zero.
    """

    u: Array
    log_p: Array
    slope_p: Array
    log_q: Array
    slope_q: Array

    def log_path(self, beta: float) -> Array:
        return np.where(self.log_p > -np.inf, (1 - beta) * self.log_q + beta * self.log_p, -np.inf)

    def slope(self, beta: float) -> Array:
        return (1 - beta) * self.slope_q + beta * self.slope_p

    def at(self, places: NDArray[np.intp]) -> "Particles":
        """Those points."""
        return Particles(*(part[places] for part in self))

    def rescaled(self, factor: Array, inverse: Array) -> "Particles":
        """The same over x, where u = factor x and x = inverse u, for lower-triangular matrices (dim, dim)
        or their diagonals."""
        change = float(np.log(diagonal_of(factor)).sum())
        slope_p, slope_q = (transposed_times(factor, slope) for slope in (self.slope_p, self.slope_q))
        return Particles(times(inverse, self.u), self.log_p + change, slope_p, self.log_q + change, slope_q)

    def put(self, places: NDArray[np.intp], by: "Particles") -> None:
        """Those of `by` at the places, in place of these points."""
        for own, new in zip(self, by, strict=True):
            own[places] = new

    def replaced(self, where: NDArray[np.bool_], by: "Particles") -> "Particles":
        """These points, but those of `by` where (n,) that is true."""
        which = (where if part.ndim == 1 else where[:, None] for part in self)
        return Particles(*map(np.where, which, by, self))


def particles_at(target: Target, reference: Reference | None, u: Array) -> Particles:
    """Both densities at u (n, dim); q counts as flat where there is no reference, as where beta is 1."""
    log_p, slope = log_density_gradients(target, u)
    bad = ~(np.isfinite(log_p) & np.isfinite(slope).all(axis=1))
    log_p, slope = np.where(bad, -np.inf, log_p), np.where(bad[:, None], 0.0, slope)
    flat = np.zeros(len(u)), np.zeros(u.shape)
    log_q, slope_q = reference.log_density_gradients(u) if reference else flat
    return Particles(u, log_p, slope, log_q, slope_q)


@dataclass(frozen=True)
class Flow:
    """Trajectories of particles under q^(1-beta) p^beta, of q flat where there is none, as where beta is 1.

    The coordinates are taken to be uncorrelated, of sd 1 or about.
    """

    target: Target
    reference: Reference | None
    beta: float
    leapfrog_steps: int = HMC.leapfrog_steps

    def trajectory(
        self, particles: Particles, momentum: Array, steps: Array
    ) -> tuple[Particles, Array, Array]:
        """Where so many leapfrog steps (n, 1) lead, the momentum there, and the loss of energy (n,).

        The loss is the log of the chance at which it would be accepted, before that is cut at 1.
        """
        u, ahead = particles.u, momentum + 0.5 * steps * particles.slope(self.beta)
        for _ in range(self.leapfrog_steps - 1):
            u = u + steps * ahead
            ahead = ahead + steps * self.slope(u)
        now = particles_at(self.target, self.reference, u + steps * ahead)
        ahead = ahead + 0.5 * steps * now.slope(self.beta)
        kinetic = 0.5 * ((momentum**2).sum(axis=1) - (ahead**2).sum(axis=1))
        loss = now.log_path(self.beta) - particles.log_path(self.beta) + kinetic
        return now, ahead, np.where(np.isnan(loss), -np.inf, loss)

    def slope(self, u: Array) -> Array:
        """The gradients (n, dim) on the way, where no density is asked for."""
        slope = gradients(self.target, u)
        slope = self.beta * np.where(np.isfinite(slope).all(axis=1, keepdims=True), slope, 0.0)
        if self.reference is None:
            return slope
        return slope + (1 - self.beta) * self.reference.log_density_gradients(u)[1]


def move(
    flow: Flow, particles: Particles, step: float, rng: np.random.Generator
) -> tuple[Particles, float, float]:
    """Every point moved along a trajectory, or left where that is refused.

    Also the share that a first trajectory moved, and the share that diverged twice.

    Where it was as good as sure to be refused, a shorter step is tried: the delayed rejection of Modi,
    Barnett and Carpenter (2024), "Delayed rejection Hamiltonian Monte Carlo for sampling multiscale
    distributions", Bayesian Analysis 19.
    """
    n, dim = particles.u.shape
    steps = step * np.exp(rng.uniform(HMC.shortest_log_step, HMC.longest_log_step, (n, 1)))
    momentum = rng.standard_normal((n, dim))
    there, _, loss = flow.trajectory(particles, momentum, steps)
    chance = np.exp(np.minimum(0.0, loss))
    accepted = rng.random(n) < chance
    new = particles.replaced(accepted, there)
    refused, divergent = np.flatnonzero(~accepted & (loss < HMC.refused_log_chance)), 0
    if len(refused):
        some = (particles.at(refused), momentum[refused], steps[refused], loss[refused])
        again, divergent = _shorter(flow, *some, rng)
        new.put(refused, again)
    return new, float(chance.mean()), divergent / n


def _shorter(
    flow: Flow, particles: Particles, momentum: Array, steps: Array, loss: Array, rng: np.random.Generator
) -> tuple[Particles, int]:
    """Points whose trajectories ended in that loss, moved with a shorter step, or left; how many diverged.

    The way back must fail at first as the way there did, for both to be as probable.
    """
    shorter = steps / rng.choice(HMC.shortening, steps.shape)
    there, ahead, gain = flow.trajectory(particles, momentum, shorter)
    _, _, back = flow.trajectory(there, -ahead, steps)
    fails = back < HMC.refused_log_chance
    odds = gain + np.log1p(-np.exp(np.where(fails, back, -np.inf))) - np.log1p(-np.exp(loss))
    accepted = np.log(rng.random(len(odds))) < odds
    return particles.replaced(fails & accepted, there), int((gain < HMC.divergent_energy).sum())
