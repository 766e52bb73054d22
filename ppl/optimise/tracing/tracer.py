"""Values that record what is computed of them; whatever depends on a value by other ways is untraceable.

A tracer holds the value at which it was traced, so that shapes are known. Its numbers are never shown to
Python: a branch, a loop bound or a printed number of it raises `Untraceable`, and so does a function of
NumPy that does not know of tracers. What was traced is therefore the same at every point.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import autograd.numpy as anp
import numpy as np
from autograd.core import primitive_vjps
from autograd.numpy.numpy_boxes import ArrayBox

from ppl.arrays import AUTOGRAD, NUMPY, Array, Forward, Node, Traced

MOST_TRACED = 20_000
"""Operations of a trace: compiling it takes two or three gradients of a tape, and seconds then."""


class Untraceable(Exception):
    """The computation may differ from point to point."""


@dataclass(frozen=True, eq=False)
class Operation:
    """A function of constants and tracers: a `Node`, a primitive of autograd or a `Forward`."""

    function: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]

    def tracers(self) -> "list[Tracer]":
        return [a for a in self.args if isinstance(a, Tracer)]


@dataclass
class Trace:
    """The tracers of one run, in the order in which they were computed."""

    tracers: "list[Tracer]" = field(default_factory=list)
    checks: list[Operation] = field(default_factory=list)
    """Calls of functions that raise an error at some points, and give nothing."""

    def tracer(self, value: Array, operation: Operation | None, parents: "Sequence[Tracer]") -> "Tracer":
        if np.iscomplexobj(value):
            raise Untraceable("complex numbers")
        if len(self.tracers) >= MOST_TRACED:
            raise Untraceable("more operations than are worth compiling")
        self.tracers.append(Tracer(self, len(self.tracers), value, operation, tuple(parents)))
        return self.tracers[-1]

    def depending_on(self, roots: "Sequence[Tracer]") -> "set[Tracer]":
        """Those that have a derivative in one of some, these included."""
        reached = set(roots)
        for x in self.tracers:
            if not reached.isdisjoint(x.parents):
                reached.add(x)
        return reached


def refuse(*args: Any, **keywords: Any) -> NoReturn:
    """Where a number of a tracer would be looked at."""
    raise Untraceable("the program looks at the value of a parameter")


@dataclass(eq=False, repr=False, slots=True)
class Tracer(Traced):
    """A number or array that depends on the point; `parents` are those that it has a derivative in."""

    trace: Trace
    number: int
    value: Array
    operation: Operation | None
    parents: "tuple[Tracer, ...]"
    __array_ufunc__: ClassVar[None] = None  # NumPy's arrays leave arithmetic with a tracer to it
    __array__ = __bool__ = __complex__ = __float__ = __index__ = __int__ = refuse
    __hash__ = object.__hash__

    shape = property(lambda self: np.shape(self.value))
    ndim = property(lambda self: np.ndim(self.value))
    size = property(lambda self: np.size(self.value))
    dtype = property(lambda self: self.value.dtype)
    T = property(lambda self: applied(anp.transpose, self))

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: Any) -> Any:
        if traced_in(index):
            refuse()
        return applied(ArrayBox.__getitem__, self, index)

    def reshape(self, *shape: Any) -> Any:
        return applied(anp.reshape, self, shape[0] if len(shape) == 1 else shape)


OPERATORS = {
    "add": anp.add,
    "sub": anp.subtract,
    "mul": anp.multiply,
    "truediv": anp.true_divide,
    "pow": anp.power,
    "mod": anp.mod,
    "matmul": anp.matmul,
}
COMPARISONS = {
    "lt": anp.less,
    "le": anp.less_equal,
    "gt": anp.greater,
    "ge": anp.greater_equal,
    "eq": anp.equal,
    "ne": anp.not_equal,
}
LOGICAL = {"and": anp.logical_and, "or": anp.logical_or, "invert": anp.logical_not}
"""Of truth values alone, as comparisons give them."""
UNARY = {"neg": anp.negative, "abs": anp.abs}
WITHOUT_DERIVATIVE = (
    *COMPARISONS.values(),
    *(anp.isfinite, anp.isinf, anp.isnan, anp.floor, anp.ceil, anp.rint, anp.trunc, anp.sign),
    *(anp.logical_and, anp.logical_or, anp.logical_not, anp.any, anp.all),
    *(anp.argmax, anp.argmin, anp.argsort, anp.zeros_like, anp.ones_like, anp.full_like),
)
"""Those of which the shape of the answer depends on shapes alone."""


def _of_truths(function: Callable[..., Array]) -> Callable[..., Any]:
    return lambda *xs: applied(function, *xs) if all(x.dtype.kind == "b" for x in xs) else refuse()


def _operator(function: Callable[..., Array], swapped: bool = False) -> Callable[..., Any]:
    return lambda *operands: applied(function, *(reversed(operands) if swapped else operands))


for _name, _function in (OPERATORS | COMPARISONS | UNARY).items():
    setattr(Tracer, f"__{_name}__", _operator(_function))
for _name, _function in LOGICAL.items():
    setattr(Tracer, f"__{_name}__", _of_truths(_function))
    setattr(Tracer, f"__r{_name}__", _of_truths(_function))
for _name, _function in OPERATORS.items():
    setattr(Tracer, f"__r{_name}__", _operator(_function, swapped=True))


def traced_in(x: Any) -> bool:
    """Whether a value is a tracer or a list or tuple with one in it."""
    return isinstance(x, Tracer) or (isinstance(x, list | tuple) and any(map(traced_in, x)))


def tracers_of(args: Sequence[Any], keywords: dict[str, Any]) -> list[Tracer]:
    """The arguments that are tracers; those inside lists, and by keyword, are untraceable."""
    others = (a for a in args if not isinstance(a, Tracer))
    if any(map(traced_in, (*others, *keywords.values()))):
        raise Untraceable("a list with a parameter in it")
    return [a for a in args if isinstance(a, Tracer)]


def plain(args: Sequence[Any]) -> list[Any]:
    return [a.value if isinstance(a, Tracer) else a for a in args]


def applied(function: Any, *args: Any, **keywords: Any) -> Any:
    """A primitive of autograd's, recorded where an argument is a tracer."""
    if not (tracers := tracers_of(args, keywords)):
        return function(*args, **keywords)
    if not (has_derivative := function in primitive_vjps) and function not in WITHOUT_DERIVATIVE:
        raise Untraceable(f"{getattr(function, '__name__', function)} is not a primitive")
    value = function(*plain(args), **keywords)
    parents = tracers if has_derivative else ()
    return tracers[0].trace.tracer(value, Operation(function, args, keywords), parents)


def checking(function: Callable[..., None]) -> Callable[..., None]:
    """A function that raises an error or gives nothing, called again at every point."""

    def check(*args: Any) -> None:
        if tracers := tracers_of(args, {}):
            function(*plain(args))
            tracers[0].trace.checks.append(Operation(function, args, {}))
        else:
            function(*args)

    return check


def applied_node(node: Node, args: tuple[Any, ...]) -> Any:
    """A node, recorded where an argument is a tracer."""
    if not (tracers := tracers_of(args, {})):
        return AUTOGRAD.node(node, args)  # a recurrence has tapes of its own
    value = NUMPY.node(node, tuple(plain(args)))
    vjps = (*node.vjps, *[None] * len(args))
    parents = [a for a, vjp in zip(args, vjps, strict=False) if isinstance(a, Tracer) and vjp is not None]
    return tracers[0].trace.tracer(value, Operation(node, args, {}), parents)


def applied_together(forward: Forward, args: Sequence[Any]) -> Any:
    """A function whose adjoints are computed together, as `Namespace.joint_vjp` takes it."""
    if not (tracers := tracers_of(args, {})):
        assert AUTOGRAD.joint_vjp is not None
        return AUTOGRAD.joint_vjp(forward, args)
    traced = [i for i, a in enumerate(args) if isinstance(a, Tracer)]
    value, _ = forward(plain(args), traced)
    return tracers[0].trace.tracer(
        value, Operation(Together(forward, tuple(traced)), tuple(args), {}), tracers
    )


@dataclass(frozen=True, eq=False)
class Together:
    """A `Forward` and the positions of its traced arguments."""

    forward: Forward
    traced: tuple[int, ...]
