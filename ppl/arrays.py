"""The namespace `xp` that emitted code and the standard library compute with.

`NUMPY` is for what depends on data alone, for draws and for tests; `AUTOGRAD` records a tape; the one of JAX
is in jax_backend/namespace.py.  A function of the standard library takes the namespace first and never asks
which one it got:

    def log1p_exp(xp, x):
        return xp.np.logaddexp(0.0, x)

`with_partials` makes an elementwise function one node of the tape, `with_vjps` any function: the value is
computed in plain NumPy and the derivatives are the given formulas.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import autograd.numpy as anp
import autograd.numpy.linalg as anp_linalg
import numpy as np
from autograd.core import VJPNode, add_outgrads
from autograd.extend import SparseObject, defvjp, defvjp_argnums, primitive, vspace
from autograd.numpy.numpy_vjps import unbroadcast, untake
from autograd.tracer import box_types, getval, isbox, new_box, notrace_primitives, trace_stack
from autograd.util import toposort

from ppl.late import LateModule, linalg, special
from ppl.records import dataclass, replace
from ppl.triangular import solve_lower

Array = Any  # an ndarray, a NumPy scalar, or a tracer of the namespace in use
ScanState = tuple[Array, ...]
Adjoints = Callable[[Array], list[Array]]
Forward = Callable[[Sequence[Array], Sequence[int]], tuple[Array, Adjoints]]
Joint = Callable[[Forward, Sequence[Array]], Array]
ScanStep = Callable[..., tuple[ScanState, Array]]


@dataclass(frozen=True)
class Namespace:
    """The arrays and functions that a density computes with: NumPy's, autograd's or JAX's.

    - `np`, `special`, `linalg` (NumPy's) and `slinalg` (SciPy's) are the modules; `solve_lower` is that of
      ppl/triangular.py. `gammaln` and `digamma` are
      required to be right for positive numbers only.
    - `put(x, index, value)` returns `x` with the entries set. Use its result and not `x`, which may change.
    - `own(x)` returns a value that a later `put` on another name cannot change.
    - `plain(x)` strips the tracer, for control flow.
    - `add_all(*scalars)` is their sum in one step. `node(f, args)` applies a `Node`.
    - `rarely(condition, value, otherwise)` is value() if the condition holds anywhere, else `otherwise`, of
      the same shape. It cannot be differentiated.
    - `settle(steps, start, most)` applies the steps in turn to a state. step(m, *state), in round m = 0, 1,
      ..., returns the next state and which entries have not converged. It ends when all have converged, or
      after `most` steps. It cannot be differentiated.
    - `scan(step, start, entries)`, or None, runs step(*state, *entry) over the entries of arrays.
    - `joint_vjp(forward, args)`, or None, is a function with all adjoints computed together, one entry of the
      tape: forward(plain, traced), with the arguments and the positions of the traced ones, returns the
      answer and the function from its adjoint to theirs.
    - `mask(x)` is an array of truth values that Python may look at; a compiled tape raises an error at points
      where it differs. Under JAX it stays abstract.
    """

    name: str
    np: Any
    special: Any
    linalg: Any
    slinalg: Any
    solve_lower: Callable[..., Array]
    put: Callable[[Array, Any, Array], Array]
    own: Callable[[Array], Array]
    plain: Callable[[Array], Array]
    add_all: Callable[..., Array]
    node: Callable[["Node", tuple[Array, ...]], Array]
    rarely: Callable[[Array, Callable[[], Array], Array], Array]
    settle: Callable[[Sequence["ScanStep"], "ScanState", int], "ScanState"]
    scan: Callable[..., tuple[Array, ...]] | None = None
    joint_vjp: Joint | None = None
    mask: Callable[[Array], Array] = lambda x: x


class Traced:
    """A value that records what is computed of it (ppl/optimise/tracing)."""

    __slots__ = ()


def is_traced(x: Array) -> bool:
    """Whether a value is on a tape of autograd's, or recorded to compile one."""
    return isbox(x) or isinstance(x, Traced)


def is_basic(index: Any) -> bool:
    """Whether an index picks one entry, or a range, of each axis, so that none is picked twice."""
    items = index if isinstance(index, tuple) else (index,)
    return all(isinstance(i, int | np.integer | slice) for i in items)


def entry(x: Array, index: Any) -> Array:
    """x[index] of a traced x at a basic index; the adjoint is sparse, and added without `np.add.at`."""
    return _entry(x, index) if isbox(x) else x[index]


@primitive  # type: ignore[untyped-decorator]
def _entry(x: Array, index: Any) -> Array:
    return x[index]


def _entry_vjp(ans: Array, x: Array, index: Any) -> Callable[[Array], Array]:
    space = vspace(x)

    def vjp(g: Array) -> Array:
        if isbox(g):
            return untake(g, index, space)

        def added(to: Array) -> Array:
            to[index] += g
            return to

        return SparseObject(space, added)

    return vjp


defvjp(_entry, _entry_vjp, None)


def _put_in_place(x: Array, index: Any, value: Array) -> Array:
    x[index] = value
    return x


@primitive  # type: ignore[untyped-decorator]
def put_copy(x: Array, index: Any, value: Array) -> Array:
    out = np.array(x)
    out[index] = value
    return out


def _put_vjp_value(ans: Array, x: Array, index: Any, value: Array) -> Callable[[Array], Array]:
    meta = anp.metadata(value)
    written = last_written(index, np.shape(ans))
    return lambda g: unbroadcast(g[index] if written is None else g[index] * written, meta)


def last_written(index: Any, shape: tuple[int, ...]) -> Array | None:
    """Which of the values assigned at an index stay, 1 or 0; None where all do, as no entry is set twice.

    Of an index that repeats an entry the last value counts.
    """
    items = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(i, np.ndarray) and i.size > 1 for i in items):
        return None
    numbers = np.empty(shape, dtype=np.intp)
    mine = np.arange(numbers[index].size).reshape(numbers[index].shape)
    numbers[index] = mine
    stay = numbers[index] == mine
    return None if stay.all() else stay.astype(float)


defvjp(put_copy, lambda ans, x, index, value: lambda g: put_copy(g, index, 0.0), None, _put_vjp_value)


def _unbox(x: Array) -> Array:
    """The plain value under any number of tracers."""
    while (inner := getval(x)) is not x:
        x = inner
    return x


def _sum_of(*scalars: Array) -> Array:
    return sum(scalars)


def _add_all_vjps(argnums: Sequence[int], ans: Array, args: Sequence[Array], kwargs: Any) -> Adjoints:
    """A term may be one number for all entries of the others."""
    if np.ndim(ans) == 0:
        return lambda g: [g] * len(argnums)
    return lambda g: [summed_to(args[i], g) for i in argnums]


add_all = primitive(_sum_of)
defvjp_argnums(add_all, _add_all_vjps)


@primitive  # type: ignore[untyped-decorator]
def stack(axis: int, *items: Array) -> Array:
    """Arrays of one shape side by side along a new axis, plain or on a tape."""
    return np.stack(items, axis=axis)


def _stack_vjp(argnums: Sequence[int], ans: Array, args: Any, kwargs: Any) -> Adjoints:
    before = (slice(None),) * args[0]
    return lambda g: [g[(*before, i - 1)] for i in argnums]


defvjp_argnums(stack, _stack_vjp)


@primitive  # type: ignore[untyped-decorator]
def concatenate(axis: int, *items: Array) -> Array:
    return np.concatenate(items, axis=axis)


def _concatenate_vjp(argnums: Sequence[int], ans: Array, args: Any, kwargs: Any) -> Adjoints:
    axis, *items = args
    before = (slice(None),) * axis
    ends = [0, *np.cumsum([np.shape(x)[axis] for x in items])]
    return lambda g: [g[(*before, slice(ends[i - 1], ends[i]))] for i in argnums]


defvjp_argnums(concatenate, _concatenate_vjp)


class _AutogradNumpy(LateModule):
    """autograd.numpy with its faults replaced.

    It does not sum over axes that were broadcast to no entry; its derivatives of `concatenate` and `stack`
    take time quadratic in the number of items.
    """

    def where(self, condition: Array, x: Array, y: Array) -> Array:
        return where(AUTOGRAD, condition, x, y)

    def broadcast_to(self, x: Array, shape: tuple[int, ...]) -> Array:
        return broadcast(AUTOGRAD, x, shape)

    def concatenate(self, items: Sequence[Array], axis: int = 0) -> Array:
        return concatenate(axis % np.ndim(items[0]), *items)

    def stack(self, items: Sequence[Array], axis: int = 0) -> Array:
        return stack(axis % (np.ndim(items[0]) + 1), *items)

    def clip(self, x: Array, lower: Array, upper: Array) -> Array:
        return anp.minimum(anp.maximum(x, lower), upper)


def _rarely(condition: Array, value: Callable[[], Array], otherwise: Array) -> Array:
    return value() if np.any(_unbox(condition)) else otherwise


def _settle(steps: Sequence[ScanStep], state: ScanState, most: int) -> ScanState:
    for i in range(most):
        state, unsettled = steps[i % len(steps)](i // len(steps), *state)
        if not np.any(unsettled):
            break
    return state


def _computed(node: "Node", args: tuple[Array, ...]) -> Array:
    return node.reduced(NUMPY, node.value(NUMPY, *args))


def _recorded(node: "Node", args: tuple[Array, ...]) -> Array:
    return node.record(args)[0]


def _joint(forward: Forward, args: Sequence[Array]) -> Array:
    """An entry of the tape; the arguments that are traced lie on one tape."""
    traced = [i for i, a in enumerate(args) if isbox(a)]
    answer, adjoints = forward([a._value if isbox(a) else a for a in args], traced)
    return record([args[i] for i in traced], answer, adjoints)


NUMPY = Namespace(
    "numpy",
    np,
    special,
    np.linalg,
    linalg,
    solve_lower,
    _put_in_place,
    np.array,
    lambda x: x,
    _sum_of,
    _computed,
    _rarely,
    _settle,
)
AUTOGRAD = replace(
    NUMPY,
    name="autograd",
    np=_AutogradNumpy("autograd.numpy"),
    special=LateModule("autograd.scipy.special"),
    linalg=anp_linalg,
    slinalg=LateModule("autograd.scipy.linalg"),
    put=put_copy,
    own=lambda x: x,
    plain=_unbox,
    add_all=add_all,
    node=_recorded,
    joint_vjp=_joint,
)

TapeNode: TypeAlias = VJPNode
"""An entry of a tape: `parents`, and the `vjp` that turns its adjoint into theirs."""
new_node = VJPNode.__new__

Value = Callable[..., Array]
Partial = Callable[..., Array]
Vjp = Callable[..., Array]


@dataclass(frozen=True)
class Slope:
    """A vjp that is the adjoint of the answer, as `spread` lays it out, times what does not depend on it.

    Compiled code takes `partial(xp, answer, *args)` together with the answer, of the same exponentials.
    What the answer does not count for has no adjoint either, even where the partial is infinite: so of a
    value with probability zero in a sum over the values of a discrete parameter.
    """

    partial: Partial
    spread: Callable[[Namespace, Array], Array] = lambda xp, g: g

    def __call__(self, xp: Namespace, g: Array, ans: Array, *args: Array) -> Array:
        g = self.spread(xp, g)
        return without_share(xp, g, g * self.partial(xp, ans, *args))


def total(x: Array) -> Array:
    """The sum of all elements, what NumPy's own function looks at before left out."""
    if isinstance(x, np.ndarray):
        return np.add.reduce(x, axis=None)
    return x if isinstance(x, np.generic) else np.sum(x)


def without_share(xp: Namespace, g: Array, adjoint: Array) -> Array:
    """An adjoint that `g` is a factor of, 0 where `g` is 0 though the other factor be infinite."""
    if xp is NUMPY and (whole := total(adjoint)) == whole:  # no nan in it
        return adjoint
    return xp.np.where(g == 0, 0.0, adjoint)


class Node:
    """A function with known derivatives, one entry of the tape; call it as `f(xp, *args)`.

    It writes autograd's tape itself: `autograd.extend.primitive` looks through the arguments twice and
    keeps tables that a function with a fixed argument list does not need.
    """

    def __init__(
        self,
        value: Value,
        vjps: tuple[Vjp | None, ...],
        leading_axes: int | None = None,
        accept: Callable[[Array], Array] | None = None,
    ):
        self.value, self.vjps, self.leading_axes, self.accept = value, vjps, leading_axes, accept
        self.__name__, self.__doc__, self.__module__ = value.__name__, value.__doc__, value.__module__

    @cached_property
    def summed(self) -> "Node":
        """The sum over all elements of the answer, still one entry of the tape."""
        return self.summed_but(0)

    def summed_but(self, leading_axes: int) -> "Node":
        """The sum for each entry of the first `leading_axes`, still one entry of the tape."""
        return Node(self.value, self.vjps, leading_axes, self.accept)

    def accepting(self, accept: Callable[[Array], Array]) -> "Node":
        """The same function of `accept(argument)` for each argument, which must not change what is traced."""
        return Node(self.value, self.vjps, self.leading_axes, accept)

    def __call__(self, xp: Namespace, *args: Array) -> Array:
        return xp.node(self, args if self.accept is None else tuple(map(self.accept, args)))

    def reduced(self, xp: Namespace, each: Array) -> Array:
        """The sum that is asked for: `leading_axes` is how many leading axes it leaves."""
        match self.leading_axes:
            case None:
                return each
            case 0:
                return total(each) if xp is NUMPY else xp.np.sum(each)
            case _:
                return xp.np.sum(each, axis=tuple(range(self.leading_axes, np.ndim(each))))

    def record(self, args: tuple[Array, ...]) -> tuple[Array, Array]:
        """The answer and, for a sum, its elements; boxed when an argument is."""
        boxed = [i for i, a in enumerate(args) if type(a) in box_types]
        if not boxed:
            each = self.value(NUMPY, *args)
            return self.reduced(NUMPY, each), each
        trace = max(args[i]._trace for i in boxed)
        boxed = [i for i in boxed if args[i]._trace == trace]
        plain = list(args)
        for i in boxed:
            plain[i] = args[i]._value
        answer, each = self._below(tuple(plain))
        differentiated = [i for i in boxed if i < len(self.vjps) and self.vjps[i] is not None]
        node = new_node(type(args[boxed[0]]._node))
        node.parents = [args[i]._node for i in differentiated]
        node.vjp = lambda g: [self._adjoint(i, g, each, plain) for i in differentiated]
        return new_box(answer, trace, node), each

    def _below(self, args: tuple[Array, ...]) -> tuple[Array, Array]:
        """The result of `record`; where the elements are differentiated again, they stay on their tape."""
        if self.leading_axes is None or not any(map(isbox, args)):
            answer, each = self.record(args)
            return answer, answer if self.leading_axes is None else each
        each = Node(self.value, self.vjps, None, self.accept).record(args)[0]
        return self.reduced(AUTOGRAD, each), each

    def _adjoint(self, i: int, g: Array, each: Array, args: Sequence[Array]) -> Array:
        """The adjoint of argument i, computed in plain NumPy unless it is itself to be differentiated."""
        xp = AUTOGRAD if isbox(g) or any(map(isbox, args)) else NUMPY
        vjp = self.vjps[i]
        assert vjp is not None
        return summed_to(args[i], vjp(xp, self.spread(xp, g, each), each, *args))

    def spread(self, xp: Namespace, g: Array, each: Array) -> Array:
        """The adjoint of the elements of the answer from that of their sum."""
        if self.leading_axes is None:
            return g
        if self.leading_axes:
            g = xp.np.reshape(g, np.shape(g) + (1,) * (np.ndim(each) - self.leading_axes))
        shape = np.shape(each)
        return g * np.ones(shape) if math.prod(shape) < MOST_COPIED else xp.np.broadcast_to(g, shape)


SLICED_ENTRIES, SLICED_NUMBERS = 5, 1024
"""An axis of so few entries, of so many numbers, is faster as operands of one operation after the other."""


def along(operation: np.ufunc, x: Array, axis: int) -> Array:
    """operation.reduce(x, axis, keepdims=True) to the last bit; of few entries up to twenty times as fast."""
    size = np.shape(x)[axis]
    if not 1 < size <= SLICED_ENTRIES or np.size(x) < SLICED_NUMBERS or x.dtype == bool:
        return np.asarray(operation.reduce(x, axis=axis, keepdims=True))
    at = (slice(None),) * (axis % np.ndim(x))
    whole = operation(x[(*at, slice(0, 1))], x[(*at, slice(1, 2))])
    for k in range(2, size):
        operation(whole, x[(*at, slice(k, k + 1))], out=whole)
    return np.asarray(whole)


def row_sums(xp: Namespace, x: Array) -> Array:
    """Sums along the last axis."""
    return along(np.add, x, -1)[..., 0] if xp is NUMPY else xp.np.sum(x, axis=-1)


def row_maxima(xp: Namespace, x: Array) -> Array:
    """Maxima along the last axis, which has one entry at least."""
    return along(np.maximum, x, -1)[..., 0] if xp is NUMPY else xp.np.max(x, axis=-1)


MOST_COPIED = 4096
"""Numbers of which a view is made sooner than a copy."""


def summed_to(target: Array, adjoint: Array) -> Array:
    """The adjoint summed over the axes along which `target` was broadcast."""
    shape, own = np.shape(target), np.shape(adjoint)
    extra = len(own) - len(shape)
    if shape == own or extra < 0:
        return adjoint
    narrow = [extra + k for k, size in enumerate(shape) if size == 1 and own[extra + k] != 1]
    axes = (*range(extra), *narrow)
    if isbox(adjoint):
        return anp.reshape(anp.sum(adjoint, axis=axes), shape)
    total = along(np.add, adjoint, axes[0]) if len(axes) == 1 else np.add.reduce(adjoint, axis=axes)
    return np.reshape(total, shape)


def with_vjps(*vjps: Vjp | None) -> Callable[[Value], Node]:
    """Make `value(xp, *args)`, whose derivative is no elementwise product, one node of the tape.

    `vjps[i](xp, g, answer, *args)` is the adjoint of argument i when `g` is that of the answer, written
    against `xp`; axes along which argument i was broadcast are summed afterwards.  None as in
    `with_partials`.

    Example:
        >>> @with_vjps(lambda xp, g, ans, x: xp.np.matrix_transpose(g))
        ... def transpose(xp, x):
        ...     return xp.np.matrix_transpose(x)
    """
    return lambda value: Node(value, vjps)


def no_derivative(xp: Namespace, g: Array, ans: Array, *args: Array) -> Array:
    """The vjp of a derivative that is a series: it is not differentiated again."""
    raise NotImplementedError("second derivatives of this function are not implemented")


def with_partials(*partials: Partial | None) -> Callable[[Value], Node]:
    """Make `value(xp, *args)`, elementwise with broadcasting, one node of the tape.

    `partials[i](xp, answer, *args)` is the derivative with respect to argument i, elementwise and
    itself written against `xp` so that second derivatives work; None for an argument that is never a
    parameter (a count, say).

    Example:
        >>> @with_partials(lambda xp, ans, x: ans)
        ... def exp(xp, x):
        ...     return xp.np.exp(x)
    """
    return with_vjps(*[p and Slope(p) for p in partials])


@with_vjps(
    None,
    lambda xp, g, ans, condition, x, y: xp.np.where(condition, g, 0.0),
    lambda xp, g, ans, condition, x, y: xp.np.where(condition, 0.0, g),
)
def where(xp: Namespace, condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition, x, y)


@with_vjps(lambda xp, g, ans, x, shape: g, None)
def broadcast(xp: Namespace, x: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(x, shape)


ONE = np.float64(1.0)


def _flip_adjoint(xp: Namespace, g: Array, ans: Array, x: Array, axis: int) -> Array:
    return flip(xp, g, axis)


@with_vjps(_flip_adjoint)
def flip(xp: Namespace, x: Array, axis: int) -> Array:
    """The entries along an axis from the last to the first."""
    return xp.np.flip(x, axis=axis)


def inexact(x: Any) -> np.ndarray:
    """As floats, or as complex numbers where there are such."""
    return np.asarray(x, dtype=complex if np.iscomplexobj(x) else float)


def as_pairs(values: np.ndarray) -> np.ndarray:
    """Complex numbers as reals along one more axis, the last, of length two."""
    return np.stack([values.real, values.imag], axis=-1)


def value_and_grad(f: Callable[[Array], Array], x: np.ndarray) -> tuple[float, np.ndarray]:
    """The value and gradient of a scalar function at `x`, of any shape, by one tape."""
    value, (gradient,) = values_and_grads(lambda parts: f(parts[0]), [x])
    return float(value), gradient


def values_and_grads(
    f: Callable[[list[Array]], Array], xs: Sequence[np.ndarray], nodes: type[TapeNode] = TapeNode
) -> tuple[Array, list[np.ndarray]]:
    """The value of `f` and the gradient of the sum of its elements in each of several arrays, by one tape."""
    value, pull = pullback(f, xs, nodes)
    return value, pull(np.ones(np.shape(value))[()])


def combs(block: int, shape: tuple[int, ...]) -> Iterator[Array]:
    """Ones at one place of every block of the last axis, and zeros.

    A matrix times them is a column of every block at once, of one block as long as the axis a single column.
    """
    for i in range(block):
        v = np.zeros(shape)
        v[..., i::block] = 1.0
        yield v


def pullback(
    f: Callable[[list[Array]], Array], xs: Sequence[np.ndarray], nodes: type[TapeNode] = TapeNode
) -> tuple[Array, Callable[[Array], list[np.ndarray]]]:
    """The value of `f`, and the function from its adjoint to those of several arrays, by one tape.

    `nodes` is the kind of its entries, see `nodes_around`.
    """
    with trace_stack.new_trace() as trace:
        roots = [nodes.new_root() for _ in xs]
        end = f([new_box(x, trace, root) for x, root in zip(xs, roots, strict=True)])
    if not isbox(end) or end._trace != trace:
        return end, lambda g: [np.zeros(np.shape(x)) for x in xs]

    def pull(g: Array) -> list[np.ndarray]:
        adjoints = backward(end._node, frozenset(roots), g)
        return [
            adjoints[root] if root in adjoints else np.zeros(np.shape(x))
            for x, root in zip(xs, roots, strict=True)
        ]

    return end._value, pull


def nodes_around(around: Callable[[Vjp], Vjp]) -> type[TapeNode]:
    """A kind of entries of a tape, for `pullback`: `around(vjp)`, asked as each is recorded, is its vjp.

    An entry is of the kind that its parents are; what a node computes by a tape of its own is one entry.

    Example:
        >>> recorded = []
        >>> nodes = nodes_around(lambda vjp: recorded.append(vjp) or vjp)
        >>> values_and_grads(lambda xs: xs[0] * xs[0], [np.float64(3.0)], nodes)
        (np.float64(9.0), [np.float64(6.0)])
        >>> len(recorded)  # that of the argument, and the product
        2
    """

    class Around(VJPNode):  # type: ignore[misc]
        __slots__ = ()
        vjp = property(VJPNode.vjp.__get__, lambda node, vjp: VJPNode.vjp.__set__(node, around(vjp)))

    notrace_primitives[Around] = notrace_primitives[VJPNode]  # such as comparisons, which have no derivative
    return Around


def record(boxes: Sequence[Array], answer: Array, adjoints: Callable[[Array], list[Array]]) -> Array:
    """The answer as an entry of the tape that `boxes`, all of one trace, are on.

    `adjoints(g)` gives theirs from that of the answer, in order.
    """
    node = new_node(type(boxes[0]._node))
    node.parents, node.vjp = [b._node for b in boxes], adjoints
    return new_box(answer, boxes[0]._trace, node)


def backward(end: VJPNode, roots: frozenset[VJPNode], adjoint: Array = ONE) -> dict[VJPNode, np.ndarray]:
    """The adjoint of each root that `end` depends on, when `adjoint` is that of `end`."""
    waiting: dict[VJPNode, Any] = {end: (adjoint, False)}
    adjoints = {}
    for node in toposort(end):
        adjoint = waiting.pop(node)[0]
        if node in roots:
            adjoints[node] = adjoint
        for parent, part in zip(node.parents, node.vjp(adjoint), strict=True):
            waiting[parent] = _added(waiting.get(parent), part)
    return adjoints


def _added(before: tuple[Array, bool] | None, part: Array) -> tuple[Array, bool]:
    """The sum of the adjoints of a node so far, and whether it may be changed in place."""
    if type(part) not in PLAIN or (before is not None and type(before[0]) not in PLAIN):
        return add_outgrads(before, part)
    if before is None:
        return part, False
    total, ours = before
    if ours and isinstance(total, np.ndarray):
        total += part
        return total, True
    return total + part, True


PLAIN = (np.ndarray, np.float64)
