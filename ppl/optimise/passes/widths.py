"""Values of different size in one batch: ranges of indices, and the sizes of variables.

Entries for which all of these are of one size are arrays together.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import is_invariant, surely, walk
from ppl.optimise.passes.batch import Batch
from ppl.optimise.passes.lift import differs, may_fail, reduced_span
from ppl.types import INT

Size = ir.Between | ir.Expr
"""A range of indices, or an int that is a size."""


def sizes_to_group_by(b: Batch, body: Sequence[ir.Stmt]) -> tuple[Size, ...]:
    """The sizes that entries must have in common for the first statement to run as arrays, or none.

    Where there is one, those that the statements behind it are sure to ask for come with it.
    """
    first = tuple(sizes_in(b, body[0]))
    if not first or not is_invariant(first, body):
        return ()
    later = (n for n in reached(tuple(body[1:])) if is_size(b, n) and is_invariant(n, body))
    return tuple(dict.fromkeys((*first, *later)))


def sizes_in(b: Batch, s: ir.Stmt) -> Iterator[Size]:
    """Those that a statement itself asks for, not those of branches inside it."""
    certain = set(reached(s))
    for n in ranges_in(walk(head(s))):
        if is_size(b, n) and (n in certain or not any(map(may_fail, n.ends))):
            yield n
    yield from (size for size in declared_sizes(s) if is_size(b, size))


def ranges_in(nodes: Iterable[Any]) -> Iterator[ir.Between]:
    """The ranges of indices among nodes but those that are reduced to a number each."""
    every = list(nodes)
    reduced = {id(span[1]) for n in every if isinstance(n, ir.Apply) and (span := reduced_span(n))}
    return (n for n in every if isinstance(n, ir.Between) and id(n) not in reduced)


def head(s: ir.Stmt) -> Any:
    """Expressions that a statement evaluates itself, and the iterations of an inner loop."""
    match s:
        case ir.If(condition=condition):
            return condition
        case ir.While() | ir.Profile():
            return ()
        case _:
            return s


def declared_sizes(s: ir.Stmt) -> tuple[ir.Expr, ...]:
    return s.shape if isinstance(s, ir.Declare) and isinstance(s.shape, tuple) else ()


def is_size(b: Batch, n: Any) -> bool:
    """Whether it is a range of indices, or a size, that may differ from entry to entry."""
    if n in b.ranges:
        return False
    if isinstance(n, ir.Between):
        return n.is_closed and differs(b, n)
    return n.type == INT and differs(b, n)


def reached(node: Any) -> Iterator[Size]:
    """The ranges, and the sizes of variables, that every iteration comes to."""
    sure = list(surely(node))
    yield from ranges_in(sure)
    for n in sure:
        if isinstance(n, ir.Declare):
            yield from declared_sizes(n)
