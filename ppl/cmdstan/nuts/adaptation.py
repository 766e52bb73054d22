"""Stan's warmup: the step size by dual averaging, the metric over windows that double in length.

Stan Reference Manual, "HMC algorithm parameters".
"""

from collections.abc import Iterator
from math import exp, log

from ppl.records import dataclass

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
