"""Values that a loop carries from one step to the next.

Two kinds of state are known: a variable that is changed as a whole (`m = F * m`), and the last entries of
one that is filled in order (`x[t] = phi * x[t - 1] + e[t]`).  Each becomes a local of the step, so that the
body reads its state by name and leaves the next one under names of its own.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import Linear, int_sum, is_numbered_by, linear, linear_index
from ppl.kernel.ir.walk import (
    Fresh,
    assigned_names,
    implicit_arguments_of,
    is_invariant,
    rewrite,
    substituted,
    used_names,
    walk,
    walk_statements,
)
from ppl.optimise.passes.batch import Dependent
from ppl.optimise.passes.loop_body import outer_writes, set_once, without_continue
from ppl.optimise.passes.sums import accumulated
from ppl.records import dataclass, replace
from ppl.types import (
    INT,
    REAL,
    Tuple,
    Type,
    core,
    element_type,
    indexed_type,
)

MOST_CARRIED = 32
"""Of a variable that is carried whole though its steps set single entries: the states of all are stored."""
EFFECTS = (
    *(ir.Message, ir.CallVoid, ir.While, ir.Jump),
    *(ir.Return, ir.TargetSoFar, ir.CheckDeclared, ir.Profile),
)


@dataclass(frozen=True)
class CarriedValue:
    """One carried value: its name in the step, where it starts, and what it is after the step."""

    var: ir.Var
    start: ir.Expr
    next: ir.Var
    outer: str = ""
    """The variable outside the loop that keeps the last value."""
    items: tuple[ir.IndexItem, ...] = ()
    """The entry of that variable, if not the whole."""


@dataclass(frozen=True)
class Filled:
    """A variable that every step gives one entry: `local` is the entry's name in the step."""

    store: ir.Update
    local: ir.Var


@dataclass(frozen=True)
class Recurrence:
    """A loop over steps; `body` reads and changes locals alone, but for what needs no order."""

    loop: ir.For
    body: ir.Stmts
    states: tuple[CarriedValue, ...]
    filled: tuple[Filled, ...]


def recurrence(s: ir.For, fresh: Fresh, of_few: Mapping[str, int], shared: Collection[str]) -> Recurrence:
    """The loop with its state named; increments of what is not `shared` by loops around are no states.

    What has few entries, a variable or its entry of as many indices as `of_few` says, may be carried
    whichever of them a step sets.

    Raises:
        Dependent: it does something else from step to step.
    """
    body = without_any_continue(s.body)
    refuse_effects(body)
    body = with_indices_written_out(body)
    written = sorted(outer_writes(replace(s, body=body)).keys() - accumulated(body).difference(shared))
    states: list[CarriedValue] = []
    filled: list[Filled] = []
    for name in written:
        window = entries_of(name, body, s.variable)
        if window is None and is_only_stored(name, body, s.variable):
            continue
        if window is None:
            entry = fixed_entry(name, body, s.variable)
            if len(entry) < of_few.get(name, len(entry) + 1):
                refuse_filled(name, body, s.variable)
            body = carry_same(name, entry, body, fresh, states)
        elif window.reads:
            body = carry_entries(window, body, s, fresh, states, filled)
    if not states:
        raise Dependent("no variable that the loop carries can be the state of a scan")
    return Recurrence(s, body, tuple(states), tuple(filled))


def without_any_continue(body: ir.Stmts) -> ir.Stmts:
    """The same statements, in inner loops too."""

    def change(n: Any) -> Any:
        return replace(n, body=without_continue(n.body)) if isinstance(n, ir.For) else n

    return without_continue(tuple(rewrite(s, change) for s in body))


def refuse_effects(body: Sequence[ir.Stmt]) -> None:
    for n in walk(tuple(body)):
        if implicit_arguments_of(n) or isinstance(n, EFFECTS):
            raise Dependent("it has an effect beyond the target and its own variables")


def with_indices_written_out(body: ir.Stmts) -> ir.Stmts:
    """Int locals that are sums of other variables, `int now = T - t`, replaced by those sums.

    One that is a sum of what changes later in the body stays.
    """
    once = set_once(body)
    for k, s in enumerate(body):
        known = isinstance(s, ir.Assign) and s.declares and s.name in once
        if isinstance(s, ir.Assign) and known and linear(s.value) and is_invariant(s.value, body[k + 1 :]):
            body = tuple(substituted(other, {s.name: s.value}) for other in body if other is not s)
            return with_indices_written_out(body)
    return body


# --- Whole variables -----------------------------------------------------------------------------


def is_only_stored(name: str, body: ir.Stmts, v: str) -> bool:
    """Whether each step sets entries of its own of a variable, and none reads any."""
    changed = assigned_names(body).__contains__
    read = any(isinstance(n, ir.Var) and n.name == name for n in walk(body))
    setters = [entry_set(n) for n in walk(body) if sets(n, name)]
    return not read and all(any(is_numbered_by(i, v, changed) for i in items) for items in setters)


def of_few_entries(body: ir.Stmts) -> Mapping[str, int]:
    """For variables, how many indices leave few entries, as constants in their declared sizes tell."""
    few: dict[str, int] = {}
    for n in walk_statements(body):
        declares = isinstance(n, ir.Declare) or (isinstance(n, ir.Assign) and n.declares and n.shape)
        if declares and isinstance(n.shape, tuple):
            few[n.name] = max(few.get(n.name, 0), indices_to_few(n.shape))
    return few


def indices_to_few(shape: tuple[ir.Expr, ...]) -> int:
    """The fewest indices that leave few entries of an array of this shape."""
    few = 1
    for k in range(len(shape), 0, -1):
        size = shape[k - 1]
        few = few * int(size.value) if isinstance(size, ir.Const) else MOST_CARRIED + 1
        if few > MOST_CARRIED:
            return k
    return 0


def refuse_filled(name: str, body: ir.Stmts, v: str) -> None:
    """Dependent, where steps set different entries: the states of all steps would hold the square of them."""
    for n in walk(body):
        if isinstance(n, ir.Update) and n.name == name and v in used_names(n.path):
            raise Dependent(f"`{name}` is filled by one iteration and read by another")


def fixed_entry(name: str, body: ir.Stmts, v: str) -> tuple[ir.IndexItem, ...]:
    """The indices of the one entry of a variable that all steps read and set; none, if that is the whole."""
    changed = assigned_names(body)
    reads = [n.items for n in walk(body) if isinstance(n, ir.Index) and reads_name(n, name)]
    every = [entry_set(n) for n in walk(body) if sets(n, name)] + reads
    if len(reads) < sum(isinstance(n, ir.Var) and n.name == name for n in walk(body)):
        return ()
    common = (is_common(item, k, every, {v, *changed}) for k, item in enumerate(every[0]))
    return every[0][: sum(1 for _ in takewhile(bool, common))]


def is_common(
    item: ir.IndexItem, k: int, every: Sequence[tuple[ir.IndexItem, ...]], changed: set[str]
) -> bool:
    """Whether all have this one index at place `k`, and it does not change."""
    same = all(items[k : k + 1] == (item,) for items in every)
    return same and ir.drops_axis(item) and not used_names(item) & changed


def carry_same(
    name: str, items: tuple[ir.IndexItem, ...], body: ir.Stmts, fresh: Fresh, states: list[CarriedValue]
) -> ir.Stmts:
    """The body with the variable, or one entry of it, under a name of its own, carried from step to step."""
    whole = ir.Var(name, type_of(name, body))
    t = indexed_type(whole.type, (False,) * len(items))
    if isinstance(core(whole.type), Tuple) or element_type(t) == INT:
        raise Dependent(f"`{name}` is carried from one iteration to the next")
    local = ir.Var(fresh(name), t)
    start = ir.Index(whole, items, t) if items else whole
    states.append(CarriedValue(local, start, local, name, items))
    return tuple(rewrite(s, lambda n: of_entry(n, name, local, len(items))) for s in body)


def of_entry(n: Any, name: str, local: ir.Var, depth: int) -> Any:
    """A node that reads or sets an entry of a variable, or all of it, with another name for that."""
    match n:
        case ir.Var(name=read) if read == name and not depth:
            return local
        case ir.Assign(name=read) if read == name:
            return replace(n, name=local.name)
        case ir.Index(base=ir.Var(name=read), items=items) if read == name and depth:
            return replace(n, base=local, items=items[depth:]) if items[depth:] else local
        case ir.Update(name=read, path=(tuple() as items, *more)) if read == name:
            path = ((items[depth:],) if items[depth:] else ()) + tuple(more)
            return replace(n, name=local.name, path=path) if path else ir.Assign(local.name, n.value, n.span)
    return n


def type_of(name: str, body: ir.Stmts) -> Type:
    for n in walk(body):
        if isinstance(n, ir.Var) and n.name == name:
            return n.type
        if isinstance(n, ir.Assign) and n.name == name:
            return n.value.type
    raise Dependent(f"`{name}` may get two values for one entry")


# --- Entries in order ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """Step t sets the entry at `items`, that `at` numbering steps, and reads those of `lags` steps before."""

    name: str
    type: Type
    items: tuple[ir.IndexItem, ...]
    at: int
    index: ir.Expr
    place: Linear
    slope: int
    lags: frozenset[int]
    reads: bool

    def items_at(self, index: ir.Expr) -> tuple[ir.IndexItem, ...]:
        """The items of the entry at another step."""
        return (*self.items[: self.at], ir.At(index), *self.items[self.at + 1 :])

    def lag(self, item: ir.IndexItem) -> int | None:
        """How many steps before an entry was set; None when that varies."""
        at = linear_index(item)
        if at is None:
            return None
        behind = self.place + -at
        return behind.constant * self.slope if not behind.terms else None


def entries_of(name: str, body: ir.Stmts, v: str) -> Window | None:
    """How the loop over `v` fills the variable and reads it back; None unless entry by entry, in order."""
    setters = [entry_set(n) for n in walk(body) if sets(n, name)]
    reads = [n for n in walk(body) if isinstance(n, ir.Index) and reads_name(n, name)]
    mentions = [n for n in walk(body) if isinstance(n, ir.Var) and n.name == name]
    items, changed = setters[0], assigned_names(body)
    at = next((k for k, i in enumerate(items) if is_numbered_by(i, v, changed.__contains__)), None)
    if len(reads) != len(mentions) or at is None or any(i[at : at + 1] != (items[at],) for i in setters):
        return None
    every = [*setters, *(n.items for n in reads)]
    common = [is_common(item, k, every, {v, *changed}) for k, item in enumerate(items)]
    if not all(common[:at]):
        return None
    end = next((k for k in range(at + 1, len(items)) if not common[k]), len(items))
    here, place = items[at], linear_index(items[at])
    if not isinstance(here, ir.At) or place is None:
        return None
    t = mentions[0].type if mentions else REAL
    no_lags = frozenset[int]()
    window = Window(name, t, items[:end], at, here.index, place, place.slope(v), no_lags, bool(reads))
    lags = {window.lag(n.items[at]) for n in reads}
    if None in lags or any(k < 0 for k in lags if k is not None):
        return None
    return replace(window, lags=frozenset(k for k in lags if k))


def entry_set(s: ir.Update | ir.Assign) -> tuple[ir.IndexItem, ...]:
    """The items of the entry that a statement sets; none, where it sets the whole or a part of a tuple."""
    return s.path[0] if isinstance(s, ir.Update) and isinstance(s.path[0], tuple) else ()


def reads_name(n: ir.Index, name: str) -> bool:
    return isinstance(n.base, ir.Var) and n.base.name == name


def carry_entries(
    w: Window, body: ir.Stmts, s: ir.For, fresh: Fresh, states: list[CarriedValue], filled: list[Filled]
) -> ir.Stmts:
    """The body with this step's entry and those before it under names of their own."""
    furthest = max(w.lags, default=0)
    first = substituted(w.index, {s.variable: s.lower})
    sure = for_certain(body, s.variable)
    if furthest and not (has_earlier_entries(w, first, furthest) or furthest in sure_lags(w, sure)):
        raise Dependent(f"`{w.name}` is filled by one iteration and read by another")
    if 0 not in sure_lags(w, sure) and not any(sets(n, w.name) for n in walk(sure)):
        raise Dependent(f"not every iteration sets an entry of `{w.name}`")
    t = indexed_type(w.type, (False,) * len(w.items))
    if element_type(t) == INT:
        raise Dependent(f"`{w.name}` is filled by one iteration and read by another")
    names = [ir.Var(fresh(w.name), t) for _ in range(furthest + 1)]
    whole = ir.Var(w.name, w.type)
    for k in range(1, furthest + 1):
        before = int_sum("-" if w.slope > 0 else "+", first, ir.Const(k, INT))
        states.append(CarriedValue(names[k], ir.Index(whole, w.items_at(before), t), names[k - 1]))
    here = ir.Index(whole, w.items, t)
    filled.append(Filled(ir.Update(w.name, (w.items,), names[0], s.span), names[0]))
    changed = tuple(rewrite(b, lambda n: by_name(w, names, n)) for b in body)
    return with_start(changed, names[0], here, s)


def has_earlier_entries(w: Window, first: ir.Expr, furthest: int) -> bool:
    """Whether the first entry set stands so far in that those before it exist."""
    at = linear(first)
    return at is not None and not at.terms and w.slope > 0 and at.constant > furthest


def with_start(body: ir.Stmts, entry: ir.Var, old: ir.Expr, s: ir.For) -> ir.Stmts:
    """The entry begins as what it was before the loop, unless the step sets it whole at once."""
    for k, b in enumerate(body):
        if isinstance(b, ir.Assign) and b.name == entry.name and entry.name not in used_names(b.value):
            return (*body[:k], replace(b, declares=True), *body[k + 1 :])
        if entry.name in used_names(b) or isinstance(b, ir.If | ir.For):
            break
    return (ir.Assign(entry.name, old, s.span, declares=True), *body)


def by_name(w: Window, names: Sequence[ir.Var], n: Any) -> Any:
    """A node that reads or sets an entry in order, with the name of that entry."""
    lag = w.lag(n.items[w.at]) if isinstance(n, ir.Index) and reads_name(n, w.name) else 0
    assert lag is not None
    return of_entry(n, w.name, names[lag], len(w.items))


def for_certain(body: ir.Stmts, v: str) -> ir.Stmts:
    """The statements that every step of the loop over `v` runs; inner loops of steady length are taken to."""
    certain: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.For) and isinstance(s.lower, ir.Const) and v not in used_names(s.upper):
            certain.append(replace(s, body=for_certain(s.body, v)))
        elif not isinstance(s, ir.If | ir.For):
            certain.append(s)
    return tuple(certain)


def sets(n: Any, name: str) -> bool:
    return isinstance(n, ir.Update | ir.Assign) and n.name == name


def sure_lags(w: Window, sure: ir.Stmts) -> set[int | None]:
    """The lags that these statements read whatever the data, so that the entries before the first exist."""
    choices = [n for n in walk(sure) if isinstance(n, ir.Select | ir.Logical)]
    unsure = {id(n) for choice in choices for n in walk(choice)}
    return {
        w.lag(n.items[w.at])
        for n in walk(sure)
        if isinstance(n, ir.Index) and reads_name(n, w.name) and id(n) not in unsure
    }
