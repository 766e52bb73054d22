"""A trace as one Python function: the operations in their order, then the adjoints in reverse.

Its text holds numbered names and numbers alone; constants and functions are bound to names beside it. It
gives the same bits as autograd's tape of the same operations (arrays.py, `backward`): the same functions, and
adjoints added in the same order.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.core import primitive_vjps
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.util import toposort

from ppl.arrays import NUMPY, Array, Node, add_all, along, is_basic, last_written, put_copy, summed_to
from ppl.kernel.emit.entries import picked, put_back
from ppl.optimise.tracing.tracer import Operation, Together, Trace, Tracer, Untraceable, plain, refuse
from ppl.records import dataclass, field

Gradient = Callable[..., tuple[Any, list[Array]]]
ITEM = ArrayBox.__getitem__
PICKS = (ITEM, picked)
"""Functions of an array and an index."""

ARITHMETIC = {
    anp.add: ("{0} + {1}", "{g}", "{g}"),
    anp.subtract: ("{0} - {1}", "{g}", "-{g}"),
    anp.multiply: ("{0} * {1}", "{1} * {g}", "{0} * {g}"),
    anp.true_divide: ("{0} / {1}", "{g} / {1}", "-{g} * {0} / {1} ** 2"),
    anp.negative: ("-{0}", "-{g}"),
}
"""The value and the adjoint of each operand, as autograd has them."""


def compiled_gradient(
    f: Callable[[list[Array]], Array],
    xs: Sequence[Array],
    with_value: bool = True,
    moving: Sequence[int] | None = None,
) -> Gradient | None:
    """The value of `f` at arrays shaped as `xs`, and the gradient of the sum of its elements in each.

    Without the value, None stands in its place, and what only it needs is not computed. If some are `moving`,
    by position, the others are constants, with a gradient of 0. None where `f`, which computes with
    `TRACING`, may take another way at another point.
    """
    if (traced := traced_at(f, xs, moving)) is None:
        return None
    trace, roots, end, active = traced
    return TapeWriter(active, with_value).function(roots, end, trace.checks)


def numbers_depending_on(
    f: Callable[[list[Array]], Array], xs: Sequence[Array], moving: Sequence[int]
) -> int | None:
    """How many numbers the largest array has that depends on some of the arrays `xs`, by position.

    None where `compiled_gradient` is None.
    """
    traced = traced_at(f, xs, moving)
    return None if traced is None else max(x.size for x in traced.active)


class ActiveTrace(NamedTuple):
    """A trace from its roots to its end, and those that have a derivative in the roots that are moving."""

    trace: Trace
    roots: list[Tracer]
    end: Tracer
    active: set[Tracer]


def traced_at(
    f: Callable[[list[Array]], Array], xs: Sequence[Array], moving: Sequence[int] | None
) -> ActiveTrace | None:
    trace = Trace()
    roots = [trace.tracer(x, None, ()) for x in xs]
    try:
        end = f(list(roots))
    except Exception:  # whatever it is, the tape will meet it too, where it can be located
        return None
    if not isinstance(end, Tracer):
        return None
    active = trace.depending_on(roots if moving is None else [roots[k] for k in moving])
    return ActiveTrace(trace, roots, end, active)


class Unseen:
    """Stands for an answer that a derivative does not need; raises an error wherever one looks at it."""

    __array_ufunc__ = None
    __array__ = __bool__ = __float__ = __index__ = refuse


UNSEEN = Unseen()


def needs_answer(vjp: Callable[..., Array], g: Array, args: Sequence[Array]) -> bool:
    """Whether an adjoint is computed of the answer of the function, and not of its arguments alone."""
    try:
        vjp(NUMPY, g, UNSEEN, *args)
    except Exception:  # whatever an adjoint does with what it cannot look at
        return True
    return False


@dataclass
class TapeWriter:
    """The lines of a function, and what its names are bound to; `active` are those that have an adjoint."""

    active: set[Tracer]
    with_value: bool = True
    lines: list[str] = field(default_factory=list)
    bound: dict[str, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    """Of constants and functions, by identity."""
    found: dict[tuple[int, int], Array | None] = field(default_factory=dict)
    """Where the entries at an index lie, by the number of the array and the identity of the index; None for
    those of which that is not used.
    """
    adjoints: dict[Tracer, bool] = field(default_factory=dict)
    """Those that have one so far, and whether it may be changed in place."""
    used: set[Tracer] = field(default_factory=set)
    """Those whose values are in the lines so far."""
    overwritten: set[Tracer] = field(default_factory=set)
    """Those whose numbers nothing reads after some entries are set: these are set in place."""

    def function(self, roots: Sequence[Tracer], end: Tracer, checks: Sequence[Operation] = ()) -> Gradient:
        """Values come first in the text; they are written last, when it is known which are used."""
        self.pull(roots, end)
        pulling = self.taken()
        for check in checks:
            self.line(self.call(check.function, *check.args))
        checking, value = self.taken(), self.name(end) if self.with_value else "None"
        operations = operations_of(self.used)
        self.overwritten = last_reads(operations) - self.used
        for x in operations:
            self.line(f"{self.target(x)} = {self.value(x)}")
        arguments = ", ".join(f"v{r.number}" for r in roots)
        answer = f"{value}, [{', '.join(f'g{r.number}' for r in roots)}]"
        lines = [*self.taken(), *checking, *pulling]
        text = "\n    ".join([f"def gradient({arguments}):", *lines, f"return {answer}"])
        exec(compile(text, "<compiled tape>", "exec"), self.bound)
        return self.bound["gradient"]

    def pull(self, roots: Sequence[Tracer], end: Tracer) -> None:
        """Lines that take the adjoint of the end back to the roots."""
        self.line(f"g{end.number} = {self.name(np.ones(end.shape)[()])}")
        self.adjoints[end] = False
        for x in toposort(end):
            if x not in self.active:
                continue
            if x.operation and x.operation.function in PICKS:
                self.scatter(x, *x.operation.args)
            elif x.operation and x.operation.function is put_copy:
                self.gather(x, *x.operation.args)
            elif x.parents:
                for parent, part in zip(filter(self.is_active, x.parents), self.parts(x), strict=True):
                    self.add(parent, part)
            if x.operation:
                self.line(f"del g{x.number}")
        for root in roots:
            if root not in self.adjoints:
                self.line(f"g{root.number} = {self.name(np.zeros(root.shape))}")

    def is_active(self, x: Any) -> bool:
        return isinstance(x, Tracer) and x in self.active

    def taken(self) -> list[str]:
        """The lines so far, after which others begin."""
        lines, self.lines = self.lines, []
        return lines

    def line(self, text: str) -> None:
        self.lines.append(text)

    def name(self, x: Any) -> str:
        """The text of a tracer, a constant or a function."""
        if isinstance(x, Tracer):
            self.used.add(x)
            return f"v{x.number}"
        if type(x) is int:
            return f"({x})"
        if id(x) not in self.names:
            self.names[id(x)] = f"c{len(self.names)}"
            self.bound[self.names[id(x)]] = x
        return self.names[id(x)]

    def call(self, function: Any, *args: Any) -> str:
        return f"{self.name(function)}({', '.join(map(self.name, args))})"

    # --- Values ---

    def target(self, x: Tracer) -> str:
        assert x.operation is not None
        return f"v{x.number}, a{x.number}" if isinstance(x.operation.function, Together) else f"v{x.number}"

    def value(self, x: Tracer) -> str:
        match x.operation:
            case Operation(Node() as node, args):
                each = self.call(node.value, NUMPY, *args)
                if node.leading_axes is None:
                    return each
                self.line(f"e{x.number} = {each}")
                return f"{self.name(node.reduced)}({self.name(NUMPY)}, e{x.number})"
            case Operation(Together(forward, traced), args):
                arguments = ", ".join(map(self.name, args))
                return f"{self.name(forward)}([{arguments}], {self.name(traced)})"
            case Operation(function, args, keywords):
                return self.primitive(function, args, keywords)
        raise Untraceable("a value without an operation")

    def primitive(self, function: Any, args: Sequence[Any], keywords: dict[str, Any]) -> str:
        if function in ARITHMETIC:
            return ARITHMETIC[function][0].format(*map(self.name, args))
        if function is put_copy and isinstance(args[0], Tracer) and args[0] in self.overwritten:
            return self.call(NUMPY.put, *args)
        if function is ITEM:
            x, index = args
            places = self.places(x, index)
            # Sums of what lies in memory in another order have other bits.
            if places is not None and np.ndim(places) and x.value[index].flags.c_contiguous:
                return self.call(np.take, x, places)
            return f"{self.name(x)}[{self.name(index)}]"
        if keywords:
            return f"{self.call(function.fun, *args)[:-1]}, **{self.name(keywords)})"
        return self.call(function.fun, *args)

    # --- Adjoints ---

    def parts(self, x: Tracer) -> Iterator[str]:
        """The contribution of the adjoint of `x` to that of each of its active parents."""
        g = f"g{x.number}"
        match x.operation:
            case Operation(Node() as node, args):
                yield from self.of_node(node, args, x)
            case Operation(Together(), _):
                self.used.add(x)
                self.line(f"p{x.number} = tuple(a{x.number}({g}))")
                yield from (f"p{x.number}[{k}]" for k, a in enumerate(x.parents) if self.is_active(a))
            case Operation(function, args, _) if function in ARITHMETIC:
                for text, parent in zip(ARITHMETIC[function][1:], args, strict=True):
                    if self.is_active(parent):
                        part = text.format(*map(self.name, args), g=g)
                        yield part if parent.shape == x.shape else self.narrowed(part, parent)
            case Operation(function, args, keywords) if function is add_all:
                some = filter(self.is_active, x.parents)
                yield from (g if a.shape == x.shape else self.narrowed(g, a) for a in some)
            case Operation(function, args, keywords):
                positions = tuple(i for i, a in enumerate(args) if self.is_active(a))
                given = f"({', '.join(map(self.name, args))},)"
                maker = f"{self.name(primitive_vjps[function])}({self.name(positions)}, {self.name(x)}"
                self.line(f"p{x.number} = tuple({maker}, {given}, {self.name(keywords)})({g}))")
                yield from (f"p{x.number}[{k}]" for k in range(len(positions)))

    def of_node(self, node: Node, args: Sequence[Any], x: Tracer) -> Iterator[str]:
        g, values = f"g{x.number}", plain(args)
        like = None if self.with_value else np.broadcast_to(1.0, np.shape(node.value(NUMPY, *values)))
        if node.leading_axes is not None:
            g, elements = f"s{x.number}", self.elements(node, x) if like is None else self.name(like)
            self.line(f"{g} = {self.name(node.spread)}({self.name(NUMPY)}, g{x.number}, {elements})")
        for vjp, a in zip(node.vjps, args, strict=False):
            if self.is_active(a) and vjp is not None:
                alone = like is not None and not needs_answer(vjp, like, values)
                answer = self.name(UNSEEN) if alone else self.elements(node, x)
                given = ", ".join([self.name(NUMPY), g, answer, *map(self.name, args)])
                yield f"{self.name(summed_to)}({self.name(a)}, {self.name(vjp)}({given}))"

    def elements(self, node: Node, x: Tracer) -> str:
        """The text of the value of a node, of a sum for its elements."""
        self.used.add(x)
        return f"{'v' if node.leading_axes is None else 'e'}{x.number}"

    def narrowed(self, part: str, parent: Tracer) -> str:
        return f"{self.name(unbroadcast)}({part}, {self.name(parent.shape)})"

    def add(self, parent: Tracer, part: str) -> None:
        """Add to the adjoint of a value, in place where it is a sum already."""
        g = f"g{parent.number}"
        texts = {None: f"{g} = {part}", False: f"{g} = {g} + {part}", True: f"{g} += {part}"}
        self.line(texts[self.adjoints.get(parent)])
        self.adjoints[parent] = parent in self.adjoints

    def places(self, x: Tracer, index: Any) -> Array | None:
        """Where entries lie in `x` from end to end, found once; None where an index is no slower or safer.

        Of an entry that is picked twice the adjoints are added in the order that NumPy takes.
        """
        if not isinstance(index, tuple) or not any(isinstance(i, np.ndarray) for i in index):
            return None
        key = x.number, id(index)
        if key not in self.found:
            positions = np.arange(x.size).reshape(x.shape)[index]
            once = np.bincount(positions.ravel()).max(initial=0) <= 1
            self.found[key] = positions if once else None
        return self.found[key]

    def gather(self, x: Tracer, parent: Any, index: Any, value: Any) -> None:
        """Give the adjoint of entries that were set to what they were set to, and 0 to what was there."""
        g, at = f"g{x.number}", self.name(index)
        if self.is_active(value):
            self.line(f"p{x.number} = {self.name(np.array)}({g}[{at}])")
            if (written := last_written(index, x.shape)) is not None:
                self.line(f"p{x.number} *= {self.name(written)}")
            part = f"p{x.number}"
            self.add(value, part if np.shape(x.value[index]) == value.shape else self.narrowed(part, value))
        if self.is_active(parent):
            if not self.adjoints[x]:
                self.line(f"{g} = {self.name(np.array)}({g})")
            self.line(f"{g}[{at}] = 0.0")
            self.add(parent, g)
            self.adjoints[parent] = True

    def scatter(self, x: Tracer, parent: Tracer, index: Any) -> None:
        """Add the adjoint of an entry or entries to that of the whole."""
        g, to, places = f"g{x.number}", f"g{parent.number}", self.places(parent, index)
        if parent not in self.adjoints and counts(parent, index):
            self.line(f"{to} = {self.name(np.bincount)}({self.name(index)}, {g}, {parent.size})")
        elif places is None and x.operation and x.operation.function is picked and not is_basic(index):
            given = f"{self.name(NUMPY)}, {g}, {self.name(index)}, {self.name(parent.shape)}"
            self.add(parent, f"{self.name(put_back.value)}({given})")
        else:
            before = to if parent in self.adjoints else "0.0"
            if not self.adjoints.get(parent):
                self.line(f"{to} = {self.name(np.zeros)}({self.name(parent.shape)}) + {before}")
            if places is not None:
                self.line(f"{self.name(add_at)}({to}, {self.name(places)}, {g})")
            elif is_basic(index):
                self.line(f"{to}[{self.name(index)}] += {g}")
            else:
                self.line(f"{self.name(np.add.at)}({to}, {self.name(index)}, {g})")
        self.adjoints[parent] = True


def last_reads(operations: Sequence[Tracer]) -> set[Tracer]:
    """Copies with some entries set, whose last reader sets others, and none before it keeps a view."""
    readers: dict[Tracer, list[Tracer]] = {}
    for x in operations:
        assert x.operation is not None
        for a in x.operation.tracers():
            readers.setdefault(a, []).append(x)
    return {
        x
        for x in operations
        if x.operation
        and x.operation.function is put_copy
        and (by := readers.get(x))
        and sets_entries_of(by[-1], x)
        and all(is_copy(each) for each in by[:-1])
    }


def sets_entries_of(x: Tracer, of: Tracer) -> bool:
    """Whether it is a copy of another with some entries set, to what is not that."""
    return bool(
        x.operation
        and x.operation.function is put_copy
        and x.operation.args[0] is of
        and x.operation.args[2] is not of
    )


def is_copy(x: Tracer) -> bool:
    """Whether none of its numbers lie where those of an operand do."""
    match x.operation:
        case Operation(function, (_, index)) if function in PICKS:
            items = index if isinstance(index, tuple) else (index,)
            return any(isinstance(i, np.ndarray) and i.ndim for i in items)
        case Operation(function, _):
            return function in ARITHMETIC
    return False


def add_at(to: Array, places: Array, g: Array) -> None:
    """Add at some places of an array, counted from end to end, none of them twice."""
    if to.flags.c_contiguous:
        to.reshape(-1)[places] += g
    else:
        to[np.unravel_index(places, to.shape)] += g


def counts(x: Tracer, index: Any) -> bool:
    """Whether entries of a vector are added up by `bincount`, which is faster than `add.at`."""
    is_list = isinstance(index, np.ndarray) and index.ndim == x.ndim == 1 and index.dtype.kind == "i"
    return bool(is_list and index.size and index.min() >= 0)


def operations_of(ends: Iterable[Tracer]) -> list[Tracer]:
    """The nodes that the ends are computed from, in order."""
    operations: dict[int, Tracer] = {}
    waiting = list(ends)
    while waiting:
        x = waiting.pop()
        if x.operation is not None and x.number not in operations:
            operations[x.number] = x
            waiting.extend(x.operation.tracers())
    return [operations[number] for number in sorted(operations)]


def unbroadcast(g: Array, shape: tuple[int, ...]) -> Array:
    """The sum over the axes along which an operand of this shape was broadcast, as autograd takes it."""
    while np.ndim(g) > len(shape):
        g = along(np.add, g, 0)[0]
    for axis, size in enumerate(shape):
        if size == 1 != np.shape(g)[axis]:
            g = along(np.add, g, axis)
    return g
