"""A chain of the No-U-Turn sampler as Stan runs it: its warmup and its metrics, or no adaptation at all."""

from collections.abc import Callable, Iterator
from math import exp, log, nan

import numpy as np

from ppl.cmdstan.nuts.trajectory import Hamiltonian, Metric, Position, Transition, first_step, transition
from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.methods.nuts.chain import STATISTICS, Chain, NutsDraws
from ppl.records import dataclass, field
from ppl.results.fits.metric import covariance_of

FEWEST_FOR_METRIC = 20
"""Iterations of a warmup below which the metric stays as it is."""


@dataclass(frozen=True)
class Schedule:
    """Iterations before the first window, of the first window, and after the last."""

    init_buffer: int = 75
    window: int = 25
    term_buffer: int = 50

    def ends(self, warmup: int) -> Iterator[int]:
        """After how many iterations the metric is estimated anew.

        A warmup that is too short for the buffers has 15% before the windows and 10% after them, all in one.
        """
        if warmup < FEWEST_FOR_METRIC:
            return
        if self.init_buffer + self.window + self.term_buffer > warmup:
            yield warmup - int(0.1 * warmup)
            return
        start, width, last = self.init_buffer, self.window, warmup - self.term_buffer
        while start < last:
            start = start + width if start + 3 * width <= last else last
            yield start
            width *= 2

    def start(self, warmup: int) -> int:
        """The iteration at which the first window starts."""
        fits = self.init_buffer + self.window + self.term_buffer <= warmup
        return self.init_buffer if fits else int(0.15 * warmup)


@dataclass(frozen=True)
class DualAveraging:
    """The settings of the search for a step size with acceptance `delta`.

    Hoffman and Gelman (2014), JMLR 15, section 3.2.
    """

    delta: float = 0.8
    gamma: float = 0.05
    kappa: float = 0.75
    t0: float = 10.0


@dataclass(frozen=True)
class StepSearch:
    """The state of that search after `count` iterations."""

    rule: DualAveraging
    centre: float
    count: int = 0
    error: float = 0.0
    log_mean: float = 0.0

    @classmethod
    def around(cls, rule: DualAveraging, step: float) -> "StepSearch":
        """A search that prefers ten times `step`."""
        return cls(rule, log(10.0 * step))

    def after(self, acceptance: float) -> tuple["StepSearch", float]:
        """The next state, and the step size to go on with."""
        count = self.count + 1
        share = 1.0 / (count + self.rule.t0)
        error = (1.0 - share) * self.error + share * (self.rule.delta - min(acceptance, 1.0))
        log_step = self.centre - error * count**0.5 / self.rule.gamma
        weight = count**-self.rule.kappa
        mean = (1.0 - weight) * self.log_mean + weight * log_step
        return StepSearch(self.rule, self.centre, count, error, mean), exp(log_step)

    @property
    def mean(self) -> float:
        """The step size to keep: a weighted mean of those tried."""
        return exp(self.log_mean)


@dataclass(frozen=True, eq=False)
class Plan:
    """How a chain is run; `metric` is the inverse metric it starts with, (dim,) or (dim, dim).

    The warmup adapts the step size if `engaged`, and then the metric too with `adapts_metric`. `jitter` is
    how far the step of a trajectory may be from `stepsize`, as a share of it.
    """

    warmup: int
    draws: int
    metric: Floats
    stepsize: float = 1.0
    jitter: float = 0.0
    max_depth: int = 10
    engaged: bool = True
    adapts_metric: bool = True
    averaging: DualAveraging = field(default_factory=DualAveraging)
    schedule: Schedule = field(default_factory=Schedule)


@dataclass(frozen=True, eq=False)
class Sampled:
    """A chain, and the momenta and gradients (draws, dim) at its draws, warmup included."""

    chain: Chain
    momenta: Floats
    gradients: Floats


@dataclass(eq=False)
class Sampler:
    """A chain under way: where it is, what moves it, and the transitions so far with their steps."""

    plan: Plan
    system: Hamiltonian
    at: Position
    step: float
    rng: np.random.Generator
    made: Callable[[int], None]
    past: list[tuple[Transition, float]] = field(default_factory=list)

    def next(self) -> Transition:
        """One transition from where the chain is."""
        spread = self.plan.jitter * (2.0 * self.rng.random() - 1.0) if self.plan.jitter else 0.0
        step = self.step * (1.0 + spread)
        start = self.system.refreshed(self.at, self.rng)
        new = transition(self.system, start, step, self.plan.max_depth, self.rng)
        self.at = new.state.at
        self.past.append((new, step))
        self.made(len(self.past))
        return new

    def search(self) -> StepSearch:
        """A search for the step size that starts anew."""
        self.step = first_step(self.system, self.at, self.step, self.rng)
        return StepSearch.around(self.plan.averaging, self.step)

    def warm_up(self) -> None:
        """The warmup, with as much adaptation as is planned."""
        plan, search = self.plan, self.search()
        start = plan.schedule.start(plan.warmup)
        ends = {*plan.schedule.ends(plan.warmup)} if plan.adapts_metric else set()
        for count in range(1, plan.warmup + 1):
            search, self.step = search.after(self.next().acceptance)
            if count in ends:
                us = np.array([each.state.at.u for each, _ in self.past[start:count]])
                inverse = covariance_of(us, dense=plan.metric.ndim == 2)
                self.system, start = Hamiltonian(self.system.target, Metric(inverse)), count
                search = self.search()
        self.step = search.mean if search.count else self.step

    def sampled(self) -> Sampled:
        """The draws of the chain so far."""
        states = [each.state for each, _ in self.past]
        us, momenta, gradients = (
            np.array(rows, dtype=float).reshape(len(states), self.system.target.dim)
            for rows in (
                [state.at.u for state in states],
                [state.momentum for state in states],
                [state.at.gradient for state in states],
            )
        )
        statistics = np.array([_statistics(*each) for each in self.past], dtype=float)
        every = NutsDraws(us, statistics.reshape(len(states), len(STATISTICS)))
        parts = every.first(self.plan.warmup), every.after(self.plan.warmup)
        return Sampled(Chain(*parts, self.system.metric.inverse, self.step), momenta, gradients)


def _statistics(new: Transition, step: float) -> tuple[float, ...]:
    """The row of `Draws.statistics`."""
    state = new.state
    return state.at.value, new.acceptance, step, new.depth, new.steps, new.diverged, state.energy


def sample(
    target: Target,
    start: Floats,
    plan: Plan,
    rng: np.random.Generator,
    report: Callable[[int], None] = lambda count: None,
) -> Sampled:
    """A chain from `start` (dim,), a point with a finite log density.

    `report` is called with the number of each draw, warmup included. Without parameters there is nothing to
    adapt, and the step size is nan, as in CmdStan.
    """
    system = Hamiltonian(target, Metric(plan.metric))
    step = plan.stepsize if target.dim else nan
    sampler = Sampler(plan, system, system.position(start), step, rng, report)
    if plan.engaged and plan.warmup and target.dim:
        sampler.warm_up()
    for _ in range(len(sampler.past), plan.warmup + plan.draws):
        sampler.next()
    return sampler.sampled()
