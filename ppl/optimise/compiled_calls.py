"""The compiled form of a function that a solver calls often: its values, and the pull of its adjoints.

A round of a solver is of the draws that are not done, often few: a call costs its lines. The points are
filled up to a power of two, by the last of them, so that few functions are compiled.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ppl.arrays import Array
from ppl.optimise.tracing.namespace import TRACING
from ppl.optimise.tracing.tape import compiled_gradient, compiled_value
from ppl.records import dataclass, field


class CompilationLimits(NamedTuple):
    """Which calls are compiled."""

    most_points: int = 1 << 10
    """Of a call; more take longer than its lines."""

    calls_before: int = 3
    """Steps of one kind by the function as it is emitted."""


LIMITS = CompilationLimits()
Compiled = Callable[..., Any]
OfInputs = Callable[[Sequence[Array]], Any]


@dataclass
class CompiledCalls:
    """The compiled forms of `function`, which computes with `TRACING`, by the kind of its inputs."""

    function: Callable[..., Any]
    compiled: dict[Any, Compiled | None] = field(default_factory=dict)
    calls: dict[Any, int] = field(default_factory=dict)

    def value(self, kind: Any, run: OfInputs, inputs: Sequence[Array]) -> Compiled | None:
        """`run` as it is compiled for inputs of a kind; None where it is not, as yet or at all."""
        return self._found(("value", kind), lambda: compiled_value(run, inputs))

    def pull(
        self, kind: Any, run: OfInputs, inputs: Sequence[Array], shape: tuple[int, ...], moving: Sequence[int]
    ) -> Compiled | None:
        """From weights of this shape and the inputs the adjoints of both, 0 but of inputs that are moving.

        The weights are those of the values of `run`.
        """

        def weighted(traced: list[Array]) -> Array:
            return TRACING.np.reshape(run(traced[1:]), shape) * traced[0]

        def make() -> Compiled | None:
            places = [k + 1 for k in moving]
            return compiled_gradient(weighted, (np.ones(shape), *inputs), with_value=False, moving=places)

        return self._found(("pull", kind, tuple(moving)), make)

    def _found(self, kind: Any, make: Callable[[], Compiled | None]) -> Compiled | None:
        if kind not in self.compiled:
            self.calls[kind] = self.calls.get(kind, 0) + 1
            if self.calls[kind] <= LIMITS.calls_before:
                return None
            self.compiled[kind] = make()
        return self.compiled[kind]


def filled(count: int) -> int:
    """The power of two that so many points are filled up to; 0 where there are too many."""
    return 1 << (count - 1).bit_length() if 0 < count <= LIMITS.most_points else 0


def filled_up(x: Array, size: int) -> Array:
    """x (m, ...) with its last repeated, (size, ...)."""
    if len(x) == size:
        return x
    out = np.empty((size, *x.shape[1:]), x.dtype)
    out[: len(x)] = x
    out[len(x) :] = x[-1]
    return out


def kind_of(x: Any) -> Any:
    """The key of a trace: the shape of real numbers, and integers themselves."""
    x = np.asarray(x)
    return x.shape if x.dtype.kind == "f" else (x.shape, x.tobytes())
