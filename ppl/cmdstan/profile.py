"""`profile("name") { ... }` timed, and the file that CmdStan writes of it (CmdStan Guide, "Profiling").

The forward time of a block is that of running it; its reverse time that of turning the adjoints of what it
recorded on the tape into those of their arguments. A block within another counts for both.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from ppl.arrays import AUTOGRAD, Array, Namespace, TapeNode, Vjp, nodes_around
from ppl.files import write_whole
from ppl.kernel.emit.library import Wrap
from ppl.kernel.emit.load import Module
from ppl.model import Model
from ppl.optimise.forms import Form
from ppl.records import dataclass, field

HEADER = (
    "name,thread_id,total_time,forward_time,reverse_time,chain_stack,no_chain_stack,"
    "autodiff_calls,no_autodiff_calls\n"
)


@dataclass(eq=False)
class Timing:
    """Seconds in a block, entries of the tape recorded there, and runs with and without derivatives.

    One run at many points at once is one.
    """

    forward: float = 0.0
    reverse: float = 0.0
    nodes: int = 0
    autodiff_calls: int = 0
    plain_calls: int = 0


@dataclass
class Clock:
    """The timing of each block by name, and those of the blocks that are being run, outermost first."""

    timings: dict[str, Timing] = field(default_factory=dict)
    running: tuple[Timing, ...] = ()

    def profile(self, autodiff: bool) -> Callable[[str], AbstractContextManager[None]]:
        """The replacement of `profile` in emitted code; a block within itself is not timed again."""

        @contextmanager
        def block(name: str) -> Iterator[None]:
            timing, outer = self.timings.setdefault(name, Timing()), self.running
            if timing in outer:
                yield
                return
            self.running, began = (*outer, timing), perf_counter()
            try:
                yield
            finally:
                timing.forward += perf_counter() - began
                timing.autodiff_calls += autodiff
                timing.plain_calls += not autodiff
                self.running = outer

        return block

    def timed(self, vjp: Vjp) -> Vjp:
        """The vjp of an entry that is being recorded, its seconds added to the blocks it is recorded in."""
        blocks = self.running
        for timing in blocks:
            timing.nodes += 1

        def adjoints(g: Array) -> list[Array]:
            began = perf_counter()
            results = list(vjp(g))  # autograd gives a generator, which would do its work later
            seconds = perf_counter() - began
            for timing in blocks:
                timing.reverse += seconds
            return results

        return adjoints if blocks else vjp


@dataclass(frozen=True, repr=False)
class Profiled(Model):
    """A model whose `profile` blocks keep time by `clock`."""

    keeps_time: ClassVar[bool] = True
    clock: Clock = field(default_factory=Clock)

    def bind(self, form: Form, xp: Namespace, wrap: Wrap | None = None, **replaced: Any) -> Module:
        return super().bind(form, xp, wrap, profile=self.clock.profile(xp is AUTOGRAD), **replaced)

    @cached_property
    def nodes(self) -> type[TapeNode]:
        return nodes_around(self.clock.timed)


@contextmanager
def profiled(model: Model, file: str | Path | None) -> Iterator[Model]:
    """The model itself where no file is asked for, else one that leaves its timings in that file."""
    if file is None:
        yield model
        return
    timed = Profiled(model.compilation)
    yield timed
    write_whole(file, _lines(timed.clock.timings))


def _lines(timings: dict[str, Timing]) -> Iterator[str]:
    """Every entry of the tape takes part in the reverse pass, so that no_chain_stack is 0."""
    yield HEADER
    for name, t in timings.items():
        seconds = (f"{s:.6g}" for s in (t.forward + t.reverse, t.forward, t.reverse))
        yield f"{name},1,{','.join(seconds)},{t.nodes},0,{t.autodiff_calls},{t.plain_calls}\n"
