"""What a gradient costs, by statement of the program: measured line by line while the emitted code runs."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from timeit import repeat
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ppl.arrays import AUTOGRAD, values_and_grads
from ppl.density.log_density import LogDensity
from ppl.floats import Floats
from ppl.optimise.forms import GRADIENT
from ppl.records import dataclass, field
from ppl.source import Span


@dataclass(frozen=True)
class Effort:
    """How a gradient is measured."""

    points: int = 10
    """Points to try until one has a finite density."""

    repeats: int = 20
    """Gradients, of which the fastest counts, and then again line by line."""

    least_share: float = 0.01
    """The least share of a line that is shown."""


EFFORT = Effort()


class Costs(NamedTuple):
    """Seconds of a gradient, and the share of its forward pass that each statement takes, largest first."""

    gradient: float
    shares: tuple[tuple[Span, float], ...]


def statement_costs(posterior: LogDensity, u: Floats) -> Costs:
    """The costs of a gradient by automatic differentiation at u (dim,), where the density is finite.

    The reverse pass goes over what the forward pass has recorded, and takes about as long for each statement.
    """
    module = posterior.model.load(GRADIENT, AUTOGRAD)
    blocks = posterior.prepared.blocks(u)

    with np.errstate(all="ignore"):
        times = repeat(lambda: posterior.log_density_gradient(u), "pass", perf_counter, EFFORT.repeats, 1)
        clock = LineClock(module.file)
        with clock.watching():
            for _ in range(EFFORT.repeats):
                values_and_grads(lambda v: module.log_joint(posterior.prepared, v, True), blocks)
    spans = posterior.model.code_of(GRADIENT).emitted.spans
    by_span: dict[Span, float] = defaultdict(float)
    for line, took in clock.seconds.items():
        if line and (span := spans[line - 1]):
            by_span[span] += took
    whole = sum(by_span.values()) or 1.0
    largest = sorted(((span, took / whole) for span, took in by_span.items()), key=lambda one: -one[1])
    return Costs(min(times), tuple(largest))


def point_of(posterior: LogDensity) -> Floats | None:
    """A random point of finite density; None where none of a few is."""
    points = np.random.default_rng(0).uniform(-1, 1, (EFFORT.points, posterior.param_unc_num()))
    return next((u for u in points if np.isfinite(posterior.log_density(u))), None)


@dataclass
class LineClock:
    """Seconds in each line of one file's code, what it calls in other files included; line 0 is all else."""

    file: str
    seconds: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    lines: list[int] = field(default_factory=lambda: [0])
    """The line that is run, of each function of the file that is under way."""
    since: float = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While it lasts; another tracer, as a debugger's, waits."""
        before, self.since = sys.gettrace(), perf_counter()
        sys.settrace(self.trace)
        try:
            yield
        finally:
            sys.settrace(before)

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """What Python calls for each new function, and of those of the file for each line and at the end.

        The time since the last event is put down to the line that was run.
        """
        if frame.f_code.co_filename != self.file:
            return None
        self.seconds[self.lines[-1]] += perf_counter() - self.since
        match event:
            case "call":
                self.lines.append(frame.f_lineno)
            case "return":
                self.lines.pop()
            case "line":
                self.lines[-1] = frame.f_lineno
        self.since = perf_counter()
        return self.trace


def cost_lines(posterior: LogDensity) -> Iterator[str]:
    """The costs in words, as the end of a plan."""
    u = point_of(posterior) if posterior.param_unc_num() else None
    if u is None:
        yield "No gradient was measured: no parameters, or no point of finite density was found."
        return
    costs = statement_costs(posterior, u)
    took = f"{1e6 * costs.gradient:,.0f} microseconds"
    yield f"A gradient by autograd takes {took}. Shares of its forward pass:"
    for span, share in costs.shares:
        if share >= EFFORT.least_share:
            yield f"  {share:4.0%}  {span.source.name}:{span.line}: {span.source.line(span.line).strip()}"
