"""`profile("name") { ... }` timed, and the file that CmdStan writes of it (CmdStan Guide, "Profiling")."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from ppl.arrays import AUTOGRAD, Namespace
from ppl.backend.library import Wrap
from ppl.backend.load import Module
from ppl.files import write_whole
from ppl.ir.forms import Form
from ppl.model import Model

HEADER = (
    "name,thread_id,total_time,forward_time,reverse_time,chain_stack,no_chain_stack,"
    "autodiff_calls,no_autodiff_calls\n"
)


@dataclass
class Timing:
    """Seconds in a block, and how often it ran with and without derivatives."""

    seconds: float = 0.0
    autodiff_calls: int = 0
    plain_calls: int = 0


@dataclass(frozen=True)
class Profiled(Model):
    """A model whose `profile` blocks keep time in `timings`."""

    timings: dict[str, Timing] = field(default_factory=dict)

    def bind(self, form: Form, xp: Namespace, wrap: Wrap | None = None, **replaced: Any) -> Module:
        return super().bind(form, xp, wrap, **{"profile": self._clock(xp is AUTOGRAD), **replaced})

    def _clock(self, autodiff: bool) -> Callable[[str], AbstractContextManager[None]]:
        """What takes the place of `profile` in emitted code."""

        @contextmanager
        def profile(name: str) -> Iterator[None]:
            timing = self.timings.setdefault(name, Timing())
            began = perf_counter()
            yield
            timing.seconds += perf_counter() - began
            timing.autodiff_calls += autodiff
            timing.plain_calls += not autodiff

        return profile


@contextmanager
def profiled(model: Model, file: str | None) -> Iterator[Model]:
    """The model itself where no file is asked for, else one that leaves its timings in that file."""
    if file is None:
        yield model
        return
    timed = Profiled(model.source, model.lowered, model.softplus, model.without)
    yield timed
    write_whole(file, _lines(timed.timings))


def _lines(timings: dict[str, Timing]) -> Iterator[str]:
    """The reverse pass is one sweep over the whole tape, of which nothing tells the part of a block: nan."""
    yield HEADER
    for name, timing in timings.items():
        seconds, calls = f"{timing.seconds:.6g}", f"{timing.autodiff_calls},{timing.plain_calls}"
        yield f"{name},1,{seconds},{seconds},nan,0,0,{calls}\n"
