"""Walks over the IR: what is inside a node, which names it uses or sets, and rewriting from the leaves up.

Nodes are frozen dataclasses, so one generic walk serves every kind. New nodes are calls of operators, with
names that no program has.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from itertools import count
from operator import attrgetter, is_
from typing import Any, get_args, get_type_hints

from ppl.kernel.ir import nodes as ir
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import Type

EXPRESSIONS = get_args(ir.Expr)
OPAQUE = (ir.Callee,)
KINDS = tuple(
    kind
    for kind in vars(ir).values()
    if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == ir.__name__ and kind not in OPAQUE
)


STATEMENTS = frozenset(get_args(ir.Stmt))
BODIES = (*STATEMENTS, ir.Function)
"""Kinds of nodes that are statements or hold them."""


def holds(annotation: Any, kinds: Collection[Any]) -> bool:
    """Whether a field of this type may hold a node of these kinds, itself or in tuples."""
    return annotation in kinds or any(holds(inner, kinds) for inner in get_args(annotation))


def fields_of(kind: type, kinds: Collection[Any]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes of these kinds, in the order they are evaluated."""
    return tuple(name for name, t in get_type_hints(kind).items() if name != "span" and holds(t, kinds))


def values_of(names: tuple[str, ...]) -> Callable[[Any], Any] | None:
    """A function that reads fields: a tuple, or the value of a single field; None if there are none."""
    return attrgetter(*names) if names else None


PartNames = Mapping[type, tuple[str, ...]]
PART_NAMES: PartNames = {kind: fields_of(kind, KINDS) for kind in KINDS}
SURE_PART_NAMES: PartNames = {
    **PART_NAMES,
    **{ir.If: ("condition",), ir.Select: ("condition",), ir.Logical: ("left",)},
    **{ir.For: ("lower", "upper"), ir.While: ()},
}
"""The same without what may not be evaluated although the node is."""
PARTS = {kind: values_of(names) for kind, names in PART_NAMES.items()}
BLOCKS = {kind: values_of(fields_of(kind, BODIES)) for kind in (*BODIES, ir.Program)}
"""The blocks of statements in a statement, function or program; expressions hold none."""
USERS = frozenset({ir.Var, ir.Update, ir.Scatter, ir.CheckDeclared})
"""Nodes that read or change a variable."""


def is_node(value: Any) -> bool:
    return type(value) in PART_NAMES


def parts_of(node: Any, names: PartNames = PART_NAMES) -> tuple[Any, ...]:
    """The children of a node, or the items of a tuple; nothing of anything else."""
    if isinstance(node, tuple):
        return node
    return tuple([getattr(node, name) for name in names.get(type(node), ())])


def walk(node: Any) -> Iterator[Any]:
    """The node and everything inside, outermost first; a tuple stands for its items."""
    return nodes_in(node, PARTS, PARTS)


def walk_statements(node: Any) -> Iterator[Any]:
    """The statements that `walk` finds, in its order, without a look into expressions."""
    return nodes_in(node, STATEMENTS, BLOCKS)


def nodes_in(
    node: Any, kinds: Container[type], inside: Mapping[type, Callable[[Any], Any] | None]
) -> Iterator[Any]:
    """The nodes of some kinds, outermost first; `inside` reads what is looked into."""
    ahead = [node]
    while ahead:
        here = ahead.pop()
        kind = type(here)
        if kind in kinds:
            yield here
        if kind in inside:
            if parts := inside[kind]:
                ahead.append(parts(here))
        elif isinstance(here, tuple):
            ahead += here[::-1]


def used_names(node: Any) -> set[str]:
    """Variables that are read or changed."""
    return {n.name for n in nodes_in(node, USERS, PARTS)}


def functions_where(functions: Sequence[ir.Function], test: Callable[[Any], bool]) -> frozenset[str]:
    """Those for which a test holds of a node in their body, or in that of a function that they call."""
    chosen: frozenset[str] = frozenset()

    def is_one(n: Any) -> bool:
        return test(n) or (isinstance(n, ir.CallUser) and n.name in chosen)

    while (more := frozenset(f.name for f in functions if any(map(is_one, walk(f.body))))) > chosen:
        chosen = more
    return chosen


def set_by(s: Any) -> tuple[str, ...]:
    """Variables that a statement itself sets, wholly or in part, its loop variable included."""
    match s:
        case ir.Declare(name=name) | ir.Assign(name=name) | ir.Update(name=name) | ir.Scatter(name=name):
            return (name,)
        case ir.For(variable=name):
            return (name,)
        case ir.Scan(after=after):
            return after
        case _:
            return ()


def assigned_names(body: Sequence[ir.Stmt]) -> set[str]:
    """Variables that the statements set, wholly or in part, loop variables included."""
    return {name for s in walk_statements(tuple(body)) for name in set_by(s)}


def is_invariant(node: Any, body: Sequence[ir.Stmt]) -> bool:
    """Whether statements set no variable that a node reads."""
    return used_names(node).isdisjoint(assigned_names(body))


def implicit_arguments_of(node: Any) -> Collection[str]:
    """Implicit arguments of a call: "rng", "target", "jacobian"."""
    match node:
        case ir.Apply(callee=ir.Callee(implicit=implicit)):
            return (implicit,) if implicit else ()
        case ir.CallUser(implicit=implicit):
            return implicit
        case _:
            return ()


def has_effects(node: Any) -> bool:
    """Whether something in a node draws random numbers, or adds to the target."""
    return any(map(implicit_arguments_of, walk(node)))


def mentions(s: ir.Stmt, name: str) -> bool:
    """Whether a statement reads or sets a variable."""
    return name in used_names(s) or name in assigned_names((s,))


def leaves_early(body: Sequence[ir.Stmt]) -> bool:
    """Whether `break`, `continue` or `return` stands in the statements, those of inner loops included."""
    return any(isinstance(n, ir.Jump | ir.Return) for n in walk_statements(tuple(body)))


def backward_slice(
    body: Sequence[ir.Stmt], needed: Collection[str], criterion: Callable[[ir.Stmt], bool] = lambda s: False
) -> ir.Stmts:
    """The statements that meet the criterion, and all that set what these read or what is needed in the end.

    Variables that they set and do not declare are declared by one of them.
    """
    names, out = {*needed}, []
    for s in reversed(body):
        if criterion(s) or assigned_names((s,)) & names:
            names |= used_names(s) | set_outside((s,))
            out.append(s)
    return tuple(reversed(out))


def known_data(p: ir.Program) -> frozenset[str]:
    """Names that live in `d` once the data are there."""
    return frozenset({*p.data_names, *p.extra_data, *prepared_names(p)})


def prepared_names(p: ir.Program) -> set[str]:
    """Variables that the statements computed from the data leave behind."""
    return names_after(p.prepared)


def names_after(body: Sequence[ir.Stmt]) -> set[str]:
    """Variables that the statements set and that are still there after them."""
    names: set[str] = set()
    for s in body:
        match s:
            case ir.Profile(body=inner):
                names |= names_after(inner)
            case ir.If(then=then, otherwise=otherwise):
                names |= set_outside((*then, *otherwise))
            case ir.For(body=inner) | ir.While(body=inner):
                names |= set_outside(inner)
            case _:
                names |= {*set_by(s)}
    return names


def set_outside(body: Sequence[ir.Stmt]) -> set[str]:
    """Variables that statements set, wholly or in part, and do not declare."""
    return assigned_names(body) - declared_names(tuple(body))


def single_assignments(body: Sequence[ir.Stmt]) -> list[ir.Assign]:
    """Outermost assignments that hold to the end: neither the variable nor what its value reads changes."""
    changing = changing_names(body)
    return [
        s
        for s in body
        if isinstance(s, ir.Assign) and s.name not in changing and not used_names(s.value) & changing
    ]


def declared_names(node: Any) -> set[str]:
    """Variables that a node declares: locals, loop variables, and the states and inputs of scans."""
    names: set[str] = set()
    for n in walk_statements(node):
        match n:
            case ir.Declare(name=name) | ir.Assign(name=name, declares=True) | ir.For(variable=name):
                names.add(name)
            case ir.Scan(after=after, carried=carried, inputs=inputs):
                names |= {*after, *carried, *inputs}
    return names


def jumps(s: ir.Stmt, word: str = "") -> bool:
    """Whether `break` or `continue`, or one of them, of the loop around the statement stands in it."""
    match s:
        case ir.Jump():
            return word in ("", s.word)
        case ir.If(then=then, otherwise=otherwise):
            return any(jumps(inner, word) for inner in (*then, *otherwise))
        case ir.Profile(body=body):
            return any(jumps(inner, word) for inner in body)
        case _:
            return False


def with_blocks(s: ir.Stmt, change: ir.Change) -> ir.Stmt:
    """The statement with `change` applied to each block inside it; the steps of a scan do not change."""
    match s:
        case ir.If(then=then, otherwise=otherwise):
            return replace(s, then=change(then), otherwise=change(otherwise))
        case ir.For(body=body) | ir.While(body=body) | ir.Profile(body=body):
            return replace(s, body=change(body))
        case _:
            return s


class Rewriter(ABC):
    """A walk that replaces each statement by none, one or several."""

    def statements(self, body: Sequence[ir.Stmt]) -> ir.Stmts:
        return tuple(out for s in body for out in self.statement(s))

    @abstractmethod
    def statement(self, s: ir.Stmt) -> Sequence[ir.Stmt]:
        """The statements that replace a statement."""


def in_branches(body: Sequence[ir.Stmt], change: Callable[[ir.Stmt], Sequence[ir.Stmt]]) -> ir.Stmts:
    """The statements with each, those in branches too, as `change` has it; a loop is one statement."""
    out: list[ir.Stmt] = []
    for s in body:
        branches = isinstance(s, ir.If | ir.Profile)
        out += [with_blocks(s, lambda inner: in_branches(inner, change))] if branches else change(s)
    return tuple(out)


def bottom_up(body: Sequence[ir.Stmt], change: Callable[[ir.Stmt], Sequence[ir.Stmt]]) -> ir.Stmts:
    """The statements as `change` has each, those inside of it first; the steps of a scan do not change."""
    return tuple(out for s in body for out in change(with_blocks(s, lambda inner: bottom_up(inner, change))))


def without(body: Sequence[ir.Stmt], drops: Callable[[ir.Stmt], bool]) -> ir.Stmts:
    """The statements, those in blocks too, without some; the steps of a scan do not change."""
    return bottom_up(body, lambda s: () if drops(s) else (s,))


def changing_names(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """Names that are changed in part, run through by a loop, or set in more than one place."""
    seen: set[str] = set()
    again: set[str] = set()
    for n in walk_statements(tuple(body)):
        match n:
            case ir.Assign(name=name) | ir.Declare(name=name):
                (again if name in seen else seen).add(name)
            case ir.Update(name=name) | ir.Scatter(name=name):
                again.add(name)
            case ir.For(variable=name):
                again.add(name)
            case ir.Scan(carried=carried, inputs=inputs, step=step, batch=batch):
                again |= {*carried, *inputs} | assigned_names((*step, *batch))
    return frozenset(again)


def surely(node: Any) -> Iterator[Any]:
    """The node and all that is evaluated whenever it is, outermost first; nothing of a `while`."""
    if is_node(node):
        yield node
    for part in parts_of(node, SURE_PART_NAMES):
        yield from surely(part)


def rewrite(node: Any, change: Callable[[Any], Any]) -> Any:
    """The node with `change` applied to every node inside it and then to itself; what stays is shared."""
    return change(with_parts(node, lambda part: rewrite(part, change)))


def substituted(node: Any, values: Mapping[str, ir.Expr]) -> Any:
    """The node with variables replaced by expressions."""
    return rewrite(node, lambda n: values.get(n.name, n) if isinstance(n, ir.Var) else n)


def with_parts(node: Any, change: Callable[[Any], Any], names: PartNames = PART_NAMES) -> Any:
    """The node with `change` applied to every node directly inside it; what stays is shared."""
    changes = {}
    for name in names[type(node)]:
        old = getattr(node, name)
        new = changed(old, change)
        if new is not old:
            changes[name] = new
    return replace(node, **changes) if changes else node


def with_sure_parts(node: Any, change: Callable[[Any], Any]) -> Any:
    """The same for what is evaluated whenever the node is: of a ternary the condition, of `&&` the left."""
    return with_parts(node, change, SURE_PART_NAMES)


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """A node changed, a tuple with its items changed, anything else as it is."""
    if isinstance(value, tuple):
        items = tuple([changed(item, change) for item in value])
        return value if all(map(is_, items, value)) else items
    return change(value) if is_node(value) else value


def ends_in(body: Sequence[ir.Stmt], is_end: Callable[[ir.Stmt], bool]) -> bool:
    """Whether the last statement is such a one, whichever way branches go."""
    if body and isinstance(last := body[-1], ir.If):
        return ends_in(last.then, is_end) and ends_in(last.otherwise, is_end)
    return bool(body) and is_end(body[-1])


def is_end(s: ir.Stmt) -> bool:
    """Whether the function ends in a statement."""
    return isinstance(s, ir.Return) or (isinstance(s, ir.Message) and s.what != "print")


Fresh = Callable[[str], str]
"""Makes a name of a hint."""


def fresh_names(suffix: str = "") -> Fresh:
    """A function that makes names of hints; the suffix sets a pass's names apart from those of others."""
    numbers = count(1)
    return lambda hint: f"{hint.rstrip('_')}_{next(numbers)}{suffix}__"


def binary(op: str, left: ir.Expr, right: ir.Expr, t: Type) -> ir.Apply:
    """An operator of two values of one type, which gives a value of that type: `binary("-", n, one, INT)`."""
    overload = next(o for o in OPERATORS[op].overloads if o.signature == f"({t}, {t}) => {t}")
    return ir.Apply(ir.Callee(OPERATORS[op].name, overload.impl, overload.batch), (left, right), t)
