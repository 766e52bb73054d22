"""Functions that JAX cannot trace, and the watch that emitted code is traced under."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ppl.errors import Rejection
from ppl.jax_backend.branches import Branches, and_then, or_then
from ppl.jax_backend.namespace import JAX, is_traced
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.jax_backend.solve import solve
from ppl.kernel.emit.runtime import results
from ppl.kernel.emit.text import Binding
from ppl.records import dataclass, field
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD


class TraceLimits(NamedTuple):
    """How much code a trace may become."""

    most_steps: int = 256
    """How often the body of a loop may be traced: every step is code to compile. A gradient of 250 steps that
    carry a seasonal effect takes 6 to 50 s to compile and then 1 ms; left to Python it takes 75.
    """

    most_calls: int = 2000
    """How many calls of the library may become code; a millisecond or more goes into compiling each."""


TRACE = TraceLimits()


@dataclass
class TracedRun:
    """Functions in place of those of `lib` and of Python, for one run of emitted code under JAX.

    `valid` collects whether transformed parameters keep their constraints; `steps` counts those of each loop,
    known by its line in the emitted text.
    """

    valid: list[Any] = field(default_factory=list)
    branches: Branches = field(default_factory=Branches)
    steps: Counter[int] = field(default_factory=Counter)
    calls: int = 0

    def counted(self, name: str, binding: Binding, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the library that adds to the code with every call."""

        def call(*args: Any) -> Any:
            self.calls += 1
            if self.calls > TRACE.most_calls:
                raise NotTraceable(f"it would be unrolled into more than {TRACE.most_calls} calls")
            return f(*args)

        return call

    def range(self, *bounds: int) -> range:
        whole = range(*bounds)
        self._unroll(len(whole))
        return whole

    def _unroll(self, steps: int) -> None:
        line = sys._getframe(2).f_lineno
        self.steps[line] += steps
        if self.steps[line] > TRACE.most_steps:
            raise NotTraceable(f"a loop would be unrolled into more than {TRACE.most_steps} steps")

    def each(self, f: Callable[..., Any], lifted: tuple[bool, ...], *args: Any) -> Any:
        """As runtime.each: f once for each entry of a batch, all at once where f can be traced so."""
        # vmap hands arrays of NumPy on as they are, which functions with their own derivatives do not take.
        mapped = [jax.numpy.asarray(a) if m else a for a, m in zip(args, lifted, strict=True)]
        try:
            with self.branches.within(self.branches.depth, mapped=True):
                return jax.vmap(f, in_axes=tuple(0 if m else None for m in lifted))(*mapped)
        except (NotTraceable, jax.errors.JAXIndexError, TypeError, ValueError):
            self._unroll(len(next(a for a, m in zip(args, lifted, strict=True) if m)))
            return JAX.np.array(results(f, lifted, args))

    def join(self, f: Callable[..., Any], lifted: tuple[bool, ...], *args: Any) -> Any:
        """As runtime.join."""
        self._unroll(len(next(a for a, m in zip(args, lifted, strict=True) if m)))
        return JAX.np.concatenate(results(f, lifted, args))

    def check(self, constraint: str, name: str, x: Any, shape: tuple[int, ...], *args: Any) -> None:
        """As runtime.check, but the verdict is known only when the compiled code runs."""
        if is_traced([x, *args]):
            values = (jax.lax.stop_gradient(jnp.asarray(a)) for a in (x, *args))
            self.valid.append(jnp.all(CONSTRAINT_BY_KEYWORD[constraint].contains(JAX, *values)))
        elif CONSTRAINT_BY_KEYWORD[constraint].check(np.asarray(x), shape, *args):
            raise Rejection(f"`{name}` breaks its constraint.")

    def guarded(self, density: Any) -> Any:
        """The density, and -inf where a constraint was broken."""
        return jnp.where(jnp.all(jnp.stack(self.valid)), density, -jnp.inf) if self.valid else density


def readable(fixed: Sequence[Any]) -> list[Any]:
    """As runtime.readable: reals as JAX's own, which take an index that is traced; ints may be sizes."""
    return [jnp.asarray(a) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in fixed]


def cannot_print(*args: Any) -> None:
    raise NotTraceable("it prints")


def replacements(trace: TracedRun) -> dict[str, Callable[..., Any]]:
    """The replacements for functions of `lib`, by name."""
    return {
        "branch": trace.branches.branch,
        "loop": trace.branches.loop,
        "and_then": and_then,
        "or_then": or_then,
        "readable": readable,
        "each": trace.each,
        "join": trace.join,
        "check": trace.check,
        "print": cannot_print,
        "solve": solve,
    }
