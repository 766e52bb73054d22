"""One trajectory of the No-U-Turn sampler, and the point drawn from it.

Hoffman and Gelman (2014), JMLR 15, Algorithm 3, with the multinomial draws and the criterion of Betancourt
(2017), arXiv:1701.02434, appendix A. Where two subtrees are joined the criterion is held across the seam too.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, isfinite, log, log1p

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.target import Target


@dataclass(frozen=True, eq=False)
class Metric:
    """`inverse` is the inverse metric: its diagonal (dim,), or the whole (dim, dim)."""

    inverse: Floats

    @cached_property
    def root(self) -> Floats:
        """R with R R' the metric: its diagonal (dim,), or (dim, dim).

        Raises:
            numpy.linalg.LinAlgError: the inverse metric is not positive definite.
        """
        if self.inverse.ndim == 1:
            return np.asarray(self.inverse**-0.5)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.inverse)).T)

    def momentum(self, rng: np.random.Generator) -> Floats:
        """A draw (dim,) from the normal that has the metric as its covariance."""
        z = rng.standard_normal(len(self.inverse))
        return self.root * z if self.inverse.ndim == 1 else self.root @ z

    def velocity(self, momentum: Floats) -> Floats:
        """The change of the position (dim,) in a unit of time."""
        return self.inverse * momentum if self.inverse.ndim == 1 else self.inverse @ momentum


MOST_ENERGY_ERROR = 1000.0
"""A trajectory whose energy rises by more than this diverges."""


@dataclass(frozen=True, eq=False, slots=True)
class Position:
    """A point (dim,) with its log density and gradient; -inf off the support."""

    u: Floats
    value: float
    gradient: Floats


@dataclass(frozen=True, eq=False, slots=True)
class PhasePoint:
    """A position in phase space: its momentum (dim,), velocity (dim,) and energy."""

    at: Position
    momentum: Floats
    velocity: Floats
    energy: float


@dataclass(frozen=True, eq=False, slots=True)
class TrajectoryTree:
    """A stretch of a trajectory: its ends in time, its momenta summed (dim,), and what became of its states.

    `chosen` is drawn from them by weight, `log_weight` the log of all their weights, `acceptance` the sum of
    their Metropolis probabilities. A tree that has `turned` or `diverged` is not part of the trajectory.
    """

    first: PhasePoint
    last: PhasePoint
    momenta: Floats
    chosen: PhasePoint
    log_weight: float
    acceptance: float
    steps: int
    diverged: bool = False
    turned: bool = False

    @property
    def ended(self) -> bool:
        return self.diverged or self.turned


@dataclass(frozen=True, eq=False, slots=True)
class Transition:
    """The state drawn, and the statistics of the trajectory it is from."""

    state: PhasePoint
    acceptance: float
    depth: int
    steps: int
    diverged: bool


@dataclass(frozen=True, eq=False)
class Hamiltonian:
    """The energy of a target and a metric, and how it moves a state."""

    target: Target
    metric: Metric

    def position(self, u: Floats) -> Position:
        value, gradient = self.target.log_density_gradient(u)
        inside = isfinite(value) and np.isfinite(gradient).all()
        return Position(u, float(value) if inside else -inf, gradient)

    def state(self, at: Position, momentum: Floats) -> PhasePoint:
        velocity = self.metric.velocity(momentum)
        return PhasePoint(at, momentum, velocity, 0.5 * float(momentum @ velocity) - at.value)

    def refreshed(self, at: Position, rng: np.random.Generator) -> PhasePoint:
        """The position with a new momentum."""
        return self.state(at, self.metric.momentum(rng))

    def leapfrog(self, state: PhasePoint, step: float) -> PhasePoint:
        """One step of the leapfrog integrator; a negative one goes back in time."""
        half = state.momentum + 0.5 * step * state.at.gradient
        at = self.position(state.at.u + step * self.metric.velocity(half))
        if at.value == -inf:
            return PhasePoint(at, half, state.velocity, inf)
        return self.state(at, half + 0.5 * step * at.gradient)


@dataclass(frozen=True, eq=False)
class Walk:
    """A trajectory that is being built: `energy` is that of its first state."""

    system: Hamiltonian
    energy: float
    step: float
    rng: np.random.Generator

    def build(self, start: PhasePoint, depth: int, ahead: bool) -> TrajectoryTree:
        """The 2^depth states before or after `start`, fewer where they turn or diverge."""
        if depth == 0:
            return self.leaf(self.system.leapfrog(start, self.step if ahead else -self.step))
        near = self.build(start, depth - 1, ahead)
        if near.ended:
            return near
        far = self.build(near.last if ahead else near.first, depth - 1, ahead)
        total = log_sum(near.log_weight, far.log_weight)
        takes_far = chance(far.log_weight - total, self.rng)
        return joined(near, far, ahead, far.chosen if takes_far else near.chosen, total)

    def leaf(self, state: PhasePoint) -> TrajectoryTree:
        weight = self.energy - state.energy
        diverged = not weight >= -MOST_ENERGY_ERROR
        return TrajectoryTree(state, state, state.momentum, state, weight, exp(min(weight, 0.0)), 1, diverged)


def joined(
    near: TrajectoryTree, far: TrajectoryTree, ahead: bool, chosen: PhasePoint, log_weight: float
) -> TrajectoryTree:
    """Two stretches as one: `far` comes after `near` in time, or before it if not `ahead`."""
    before, after = (near, far) if ahead else (far, near)
    momenta = before.momenta + after.momenta
    return TrajectoryTree(
        before.first,
        after.last,
        momenta,
        chosen,
        log_weight,
        near.acceptance + far.acceptance,
        near.steps + far.steps,
        far.diverged,
        far.turned or (not far.diverged and turns(before, after, momenta)),
    )


def turns(before: TrajectoryTree, after: TrajectoryTree, momenta: Floats) -> bool:
    """Whether the ends of the whole stretch, or those of a half and the next state, approach each other."""
    return (
        approach(before.first, after.last, momenta)
        or approach(before.first, after.first, before.momenta + after.first.momentum)
        or approach(before.last, after.last, after.momenta + before.last.momentum)
    )


def approach(first: PhasePoint, last: PhasePoint, momenta: Floats) -> bool:
    return not (float(first.velocity @ momenta) > 0 and float(last.velocity @ momenta) > 0)


def transition(
    system: Hamiltonian, start: PhasePoint, step: float, max_depth: int, rng: np.random.Generator
) -> Transition:
    """A state drawn from a trajectory through `start`, which doubles until it turns or diverges."""
    walk = Walk(system, start.energy, step, rng)
    tree = TrajectoryTree(start, start, start.momentum, start, 0.0, 0.0, 0)
    depth = 0
    while depth < max_depth and not tree.ended:
        ahead = rng.random() < 0.5
        far = walk.build(tree.last if ahead else tree.first, depth, ahead)
        takes_far = not far.ended and chance(far.log_weight - tree.log_weight, rng)
        depth += not far.ended
        total = log_sum(tree.log_weight, far.log_weight)
        tree = joined(tree, far, ahead, far.chosen if takes_far else tree.chosen, total)
    return Transition(tree.chosen, tree.acceptance / max(tree.steps, 1), depth, tree.steps, tree.diverged)


def chance(log_probability: float, rng: np.random.Generator) -> bool:
    """True with a probability of which the log is given, or above 1 always."""
    return log_probability >= 0 or log1p(-rng.random()) < log_probability


def log_sum(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high + log1p(exp(low - high)) if low > -inf else high


FIRST_ACCEPTANCE = 0.8
"""The acceptance of one leapfrog that the first step size is found by."""
STEPS_TRIED = (1e-300, 1e7)
"""The least and the largest step size that the search for the first one tries."""


def first_step(system: Hamiltonian, at: Position, step: float, rng: np.random.Generator) -> float:
    """A step doubled or halved until the acceptance of one leapfrog crosses 0.8, as Stan finds its first.

    Hoffman and Gelman (2014), Algorithm 4.
    """
    towards = 0
    while STEPS_TRIED[0] < step < STEPS_TRIED[1]:
        start = system.refreshed(at, rng)
        before, change = towards, start.energy - system.leapfrog(start, step).energy
        towards = 1 if change > log(FIRST_ACCEPTANCE) else -1
        if before and towards != before:
            break
        step *= 2.0**towards
    return step
