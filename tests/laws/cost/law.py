"""The law of cost: of a program with more rows no run costs more than so many more rows allow.

A run has its cost counted at 2, 4 and 8 times the rows.  Numbers made and lines run are sums, of which
a constant part is left out: what the last doubling adds is compared with what the doubling before added.
The most numbers alive are a maximum, which may have been that of another line before: it is compared whole.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log2
from typing import Any
from unittest.mock import patch

import numpy as np
from laws.cost.counting import Cost, cost_of
from laws.cost.programs import Repeatable

from ppl.posterior import Posterior
from ppl.records import dataclass

TIMES = (2, 4, 8)
POINTS = 4
MOST = 1.3
"""What growth may be of that of the rows, to the power that is allowed."""
NOTICED = 0.05
"""The share of a cost below which what a doubling adds is taken for a choice between two ways."""


@dataclass(frozen=True)
class Growth:
    """What a run costs at each multiple of the rows; `of` is "numbers", "alive" or "lines"."""

    program: str
    way: tuple[str, ...]
    run: str
    of: str
    costs: tuple[int, ...]

    @property
    def whole_factor(self) -> float:
        """What the last doubling multiplies the cost by."""
        return self.costs[-1] / max(self.costs[-2], 1)

    @property
    def factor(self) -> float:
        """The same of what depends on the rows."""
        before, half, whole = self.costs[-3:]
        if self.of == "alive":
            return self.whole_factor
        return (whole - half) / max(half - before, 1) if whole - half > NOTICED * whole else 1.0

    @property
    def exponent(self) -> float:
        return log2(max(self.factor, 1.0))

    def breaks(self, exponent: float) -> bool:
        """Whether it is steeper; where another way was taken from some size on, the whole is not."""
        return self.factor > MOST * 2**exponent and self.whole_factor > 2**exponent

    def __str__(self) -> str:
        costs = ", ".join(map(str, self.costs))
        of = "lines" if self.of == "lines" else f"numbers {'alive' if self.of == 'alive' else 'made'}"
        return (
            f"{self.program} ({', '.join(self.way)}), {self.run}: {costs} {of}, exponent {self.exponent:.1f}"
        )


def points(p: Posterior) -> np.ndarray:
    return np.random.default_rng(0).normal(0.0, 0.3, (POINTS, p.param_unc_num()))


def variables(p: Posterior) -> Any:
    """Of all draws at once, where the program allows it."""
    rng = np.random.default_rng(1)
    if p.model.over_draws is None:
        return p.param_constrain(points(p)[0], include_tp=True, include_gq=True, rng=rng)
    return p.param_constrain_draws(points(p), rng)


Runs = Mapping[str, Callable[[Posterior], Any]]

RUNS: Runs = {
    "density": lambda p: p.log_density(points(p)[0]),
    "gradient": lambda p: p.log_density_gradient(points(p)[0]),
    "densities of many points": lambda p: p.log_densities(points(p)),
    "gradients of many points": lambda p: p.log_density_gradients(points(p)),
    "variables of draws": variables,
    "prepare": lambda p: p.model.prepared(p.d),
    "condition": lambda p: p.model.condition(p.data),
}
"""What is counted, of a posterior that has been run before: what is made once, as emitted code, is not."""


def growths(program: Repeatable, runs: Runs = RUNS, times: Sequence[int] = TIMES) -> list[Growth]:
    """Of every run, and all that is counted."""
    return [growth for way in program.ways for growth in growths_by(program, way, runs, times)]


def growths_by(program: Repeatable, way: Mapping[str, int], runs: Runs, times: Sequence[int]) -> list[Growth]:
    posteriors = [usable(program.posterior(way, each)) for each in times]
    return [
        Growth(program.name, tuple(way), name, of, tuple(getattr(c, of) for c in costs))
        for name, run in runs.items()
        for costs in [[cost_of_later(run, p) for p in posteriors]]
        for of in ("numbers", "alive", "lines")
    ]


def usable(p: Posterior) -> Posterior:
    """A posterior that has a density: a run that is rejected ends early, and costs nothing."""
    if not np.isfinite(p.log_density(points(p)[0])):
        raise ValueError(f"the density of {p!r} is not finite: its data cannot be repeated as they are")
    return p


def cost_of_later(run: Callable[[Posterior], Any], p: Posterior) -> Cost:
    """The cost of a run once everything is compiled."""
    with patch("ppl.density.tapes.CALLS_BEFORE", 0):
        run(p)
    return cost_of(lambda: run(p))


def broken(found: Sequence[Growth], exponent: float = 1.0) -> list[Growth]:
    """Those that grow by more than this power of the rows allows."""
    return [growth for growth in found if growth.breaks(exponent)]


AT_ONCE = {
    "densities": (lambda p, u: p.log_density(u), lambda p, us: p.log_densities(us)),
    "gradients": (lambda p, u: p.log_density_gradient(u), lambda p, us: p.log_density_gradients(us)),
}
"""What is had at a point, and at many."""


def dearer_at_once(p: Posterior) -> list[str]:
    """The runs at many points that take more lines than one by one, or make 1.3 times as many numbers.

    Points at once go through what any of them goes through, and are aligned with what they share.
    """
    us, found = points(p), []
    for name, (at_one, at_many) in AT_ONCE.items():
        alone = [cost_of_later(partial(at_one, u=u), p) for u in us]
        many = cost_of_later(partial(at_many, us=us), p)
        for of, times in ("numbers", MOST), ("lines", 1):
            whole, most = getattr(many, of), sum(getattr(cost, of) for cost in alone)
            if whole > times * most:
                found.append(f"{name} at {len(us)} points: {whole} {of}, one by one {most}")
    return found
