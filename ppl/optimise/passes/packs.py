"""Packs: scalar parameters of one constraint as one list, which the log joint takes from `u` as a whole."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import fresh_names, walk
from ppl.optimise.passes.reroll import kinds_of
from ppl.records import replace
from ppl.types import INT, REAL, array_of

MOST_READS = 100
"""How often a pack's parameters are read beside: the gradient of each read is as long as the pack."""
LIST = array_of(REAL, 1)


def pack(p: ir.Program) -> ir.Program:
    """Lists of scalar parameters of one constraint are read from one list of all of them."""
    kinds = kinds_of(p)
    lists = {id(s): names for s in p.model if (names := names_listed(s)) and is_of_one_kind(names, kinds)}
    listed, members = {name for names in lists.values() for name in names}, defaultdict[Any, list[str]](list)
    for name, kind in kinds.items():
        if name in listed:
            members[kind].append(name)
    others = tuple(s for s in p.model if id(s) not in lists)
    bounds = tuple(d.arguments for d in p.parameters)
    read = Counter(
        n.name for n in walk((*p.transformed_parameters, *others, bounds)) if isinstance(n, ir.Var)
    )
    fresh = fresh_names("_pack")
    packs = {
        kind: (fresh("of"), tuple(names))
        for kind, names in members.items()
        if sum(read[name] for name in names) <= MOST_READS
    }
    if not packs:
        return p
    model = [packed(s, packs.get(kinds[lists[id(s)][0]])) if id(s) in lists else s for s in p.model]
    first = [whole(name, names, p.model[0]) for name, names in packs.values()]
    return replace(p, model=(*first, *model), packs=tuple(packs.values()))


def names_listed(s: ir.Stmt) -> tuple[str, ...]:
    """The scalar variables of which a statement makes a list; () of other statements."""
    if not isinstance(s, ir.Assign) or not isinstance(s.value, ir.MakeArray) or s.value.type != LIST:
        return ()
    names = [n.name for n in s.value.items if isinstance(n, ir.Var)]
    return tuple(names) if len(names) == len(s.value.items) else ()


def is_of_one_kind(names: Sequence[str], kinds: dict[str, Any]) -> bool:
    """Whether they are parameters that one list may hold."""
    return names[0] in kinds and all(kinds.get(name) == kinds[names[0]] for name in names)


def whole(name: str, members: Sequence[str], at: ir.Stmt) -> ir.Assign:
    """The statement that makes a pack, which the emitter takes from `u`."""
    items = tuple(ir.Var(each, REAL) for each in members)
    return ir.Assign(
        name, ir.MakeArray(items, LIST), at.span, declares=True, shape=(ir.Const(len(items), INT),)
    )


def packed(s: ir.Stmt, pack: tuple[str, tuple[str, ...]] | None) -> ir.Stmt:
    """A list of parameters, read from the pack that has all of them."""
    if pack is None or not isinstance(s, ir.Assign):
        return s
    name, members = pack
    position = {each: k for k, each in enumerate(members, 1)}
    at = [position[each] for each in names_listed(s)]
    value: ir.Expr = ir.Var(name, LIST)
    if at != [*position.values()]:
        ints = [ir.Const(k, INT) for k in at]
        is_range = at == [*range(at[0], at[-1] + 1)]
        item = (
            ir.Between(ints[0], ints[-1]) if is_range else ir.At(ir.MakeArray(tuple(ints), array_of(INT, 1)))
        )
        value = ir.Index(value, (item,), LIST)
    return replace(s, value=value)
