"""Local arrays of a known size whose entries are set one by one, as literals of variables for each entry.

`array[2] real dydt; dydt[1] = ...; dydt[2] = ...`, as in most systems of differential equations, would copy
the array for every entry: scalar replacement (Muchnick 1997, section 12.2), here of whole arrays.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from math import prod

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import Fresh, fresh_names, mentions, rewrite, with_blocks
from ppl.types import Type, indexed_type, is_tuple

MOST_IN_LITERAL = 64
"""Of an array that becomes a literal."""

Place = tuple[int, ...]
"""The indices of an entry."""
EntryVariables = dict[Place, ir.Var]


def entries(p: ir.Program) -> ir.Program:
    """A local array whose entries are set one by one is made of variables for these."""
    inside = partial(with_literals, fresh=fresh_names("_entry"))
    return p.with_bodies(inside, inside)


def with_literals(body: Sequence[ir.Stmt], fresh: Fresh, outputs: frozenset[str] = frozenset()) -> ir.Stmts:
    """The statements of a block, and of the blocks inside, with such arrays set as a whole."""
    left, out = list(body), list[ir.Stmt]()
    for k, s in enumerate(left):  # a literal takes the place of what follows
        if isinstance(s, ir.Declare) and (literal := as_literal(s, places_of(s), left[k + 1 :], fresh)):
            left[k + 1 :] = literal
        else:
            out.append(with_blocks(s, partial(with_literals, fresh=fresh)))
    return tuple(out)


def places_of(s: ir.Declare) -> list[Place]:
    """The places of the entries of an array with constant sizes, as far as these are few; [] of others."""
    if not isinstance(s.shape, tuple) or is_tuple(s.type):
        return []
    sizes = [size.value for size in s.shape if isinstance(size, ir.Const)]
    if not sizes or len(sizes) < len(s.shape) or not 0 < prod(sizes) <= MOST_IN_LITERAL:
        return []
    return list(product(*(range(1, size + 1) for size in sizes)))


def as_literal(
    declared: ir.Declare, places: Sequence[Place], following: Sequence[ir.Stmt], fresh: Fresh
) -> ir.Stmts | None:
    """The statements after the declaration of an array, with variables for its entries until all are set.

    None where it is used in another way before, or has no places.
    """
    if not places:
        return None
    name, variables, out = declared.name, EntryVariables(), list[ir.Stmt]()
    for k, s in enumerate(following):
        if mentions(s, name):
            s = rewrite(s, partial(entry_read, name=name, variables=variables))
            if isinstance(s, ir.Update) and s.name == name and (at := place(s.path)) in places:
                variables[at] = ir.Var(fresh(name), s.value.type)
                s = ir.Assign(variables[at].name, s.value, s.span, declares=True)
            if mentions(s, name):
                return None
        out.append(s)
        if len(variables) == len(places):
            whole = made_of(declared.type, variables)
            return (*out, ir.Assign(name, whole, s.span, declares=True), *following[k + 1 :])
    return None


def place(path: Sequence[ir.PathStep]) -> Place:
    """The place that indices pick which are constants; () of others."""
    items = [item for step in path if isinstance(step, tuple) for item in step]
    at = [i.index.value for i in items if isinstance(i, ir.At) and isinstance(i.index, ir.Const)]
    return tuple(at) if len(at) == len(items) else ()


def entry_read(n: object, name: str, variables: EntryVariables) -> object:
    """The variable of an entry that is read."""
    match n:
        case ir.Index(base=ir.Var(name=base), items=items) if base == name:
            return variables.get(place((items,)), n)
        case _:
            return n


def made_of(t: Type, variables: EntryVariables, row: Place = ()) -> ir.Expr:
    """The array, or a row of it, made of its entries."""
    if row in variables:
        return variables[row]
    size = max(at[len(row)] for at in variables if at[: len(row)] == row)
    inner = indexed_type(t, (False,))
    return ir.MakeArray(tuple(made_of(inner, variables, (*row, k)) for k in range(1, size + 1)), t)
