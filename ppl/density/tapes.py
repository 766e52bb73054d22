"""Values and gradients of a form: by a compiled tape where the program can be traced, else by autograd's."""

from collections.abc import Callable, Sequence
from typing import Any

from ppl.arrays import AUTOGRAD, Array, Namespace, TapeNode, values_and_grads
from ppl.errors import Rejection
from ppl.kernel.emit.runtime import DrawsRejected
from ppl.optimise.tracing.namespace import TRACING
from ppl.optimise.tracing.tape import Gradient, compiled_gradient
from ppl.records import dataclass, field

MOST_SHAPES = 32
"""Compiled tapes that are held at a time, of as many different numbers of points."""
CALLS_BEFORE = 2
"""Gradients by autograd before a first tape is compiled: that takes as long as two of them, and halves
others. Of other numbers of points one, for where many gradients are taken of one number they are of others.
"""


@dataclass
class Tapes:
    """The gradient of a function of several arrays; of the same shapes it is compiled after some calls.

    `function(xp)` is the function in a namespace; all ways give the same bits. Where only gradients are asked
    for, the value is left out; `with_value` then has tapes with it, which will do. If some arrays are
    `moving`, by position, gradients in the others are 0 or what they are.
    """

    function: Callable[[Namespace], Callable[[Sequence[Any]], Array]]
    with_value: "Tapes | None" = None
    moving: tuple[int, ...] | None = None
    calls: dict[tuple[int, ...], int] = field(default_factory=dict)
    compiled: dict[tuple[int, ...], Gradient | None] = field(default_factory=dict)
    traceable: bool = True

    def __call__(self, xs: Sequence[Array], nodes: type[TapeNode] = TapeNode) -> tuple[Any, list[Array]]:
        """The value, and the gradient of the sum of its elements in each of `xs`.

        Entries of another kind than `TapeNode` ask for a tape.
        """
        gradient = self.of_shape(xs) if nodes is TapeNode and self.traceable and xs else None
        if gradient is not None:
            try:
                return gradient(*xs)
            except (DrawsRejected, Rejection, MemoryError):
                raise
            except Exception:  # the tape meets it again, where it is located in the program
                self.traceable = False
        return values_and_grads(self.function(AUTOGRAD), xs, nodes)

    def of_shape(self, xs: Sequence[Array]) -> Gradient | None:
        """The compiled tape for arrays of these shapes, None before it is worth compiling."""
        shape = xs[self.moving[0] if self.moving else 0].shape
        if shape not in self.compiled:
            self.calls[shape] = self.calls.get(shape, 0) + 1
            if self.calls[shape] <= (1 if self.compiled else CALLS_BEFORE):
                return self.with_value and self.with_value.compiled.get(shape)
            while len(self.compiled) >= MOST_SHAPES:
                self.compiled.pop(next(iter(self.compiled)))
            found = compiled_gradient(self.function(TRACING), xs, self.with_value is None, self.moving)
            self.compiled[shape], self.traceable = found, found is not None
        return self.compiled[shape]
