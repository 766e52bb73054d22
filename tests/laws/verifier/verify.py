"""Whether a program is well formed: what every pass may assume and must preserve.

Every name is set before it is read; a variable has as many axes as it was declared with; a value varies over
the axes of what it is made of (axes.py); a variable has the axis of a loop once (stores.py); and a block
declares each of its outputs once.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from laws.verifier.axes import OtherAxes, check_axes
from laws.verifier.stores import UselessAxis, check_stores

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import parts_of, prepared_names
from ppl.types import INT, Tuple, Type, core, rank

Scope = dict[str, Type | None]
"""The variables that are set, each with its type, or None where that is not known."""


class Malformed(Exception):
    """A program that no pass should have made; the message says what is wrong, and where."""


def verify(p: ir.Program, over_draws: bool = False) -> None:
    """Check a program as lowered, or after any pass; `over_draws`, after that which adds an axis of draws.

    Raises:
        Malformed: it is none that can be run.
    """
    for f in p.functions:
        block(f.body, dict.fromkeys(f.args))
    data: Scope = {**declared(p.data), **dict.fromkeys(p.extra_data)}
    after_data = block(p.transformed_data, data)
    known = {**data, **outputs(p.transformed_data_names, after_data, "transformed data")}
    known |= {ir.DRAW: None} if over_draws else {}
    prepared = block(p.prepared, known, in_prepared=True)
    known |= {name: prepared[name] for name in prepared_names(p)}
    parameters = outputs(p.parameters, declared(p.parameters), "parameters")
    for d in p.parameters:
        expressions((d.arguments, d.dims, d.sizes), {**known, **parameters})
    scope = block(p.transformed_parameters, {**known, **parameters})
    transformed = outputs(p.transformed_parameter_names, scope, "transformed parameters")
    block(p.model, scope)
    end = block(p.generated_quantities, {**known, **parameters, **transformed})
    outputs(p.generated_names, end, "generated quantities")
    try:
        check_axes(p)
        for body in blocks(p):
            check_stores(body)
    except (OtherAxes, UselessAxis) as why:
        raise Malformed(str(why)) from None


def blocks(p: ir.Program) -> list[Sequence[ir.Stmt]]:
    """The statements of each function and of each block that loops are in."""
    computed = (p.transformed_data, p.transformed_parameters, p.model, p.generated_quantities)
    return [*(f.body for f in p.functions), *computed]


def declared(names: Sequence[ir.Declared]) -> Scope:
    return {d.name: d.type for d in names}


def outputs(names: Sequence[ir.Declared], scope: Scope, where: str) -> Scope:
    """The outputs of a block, each set once."""
    for name, count in Counter(d.name for d in names).items():
        if count > 1:
            raise Malformed(f"`{name}` is declared {count} times in {where}")
        if name not in scope:
            raise Malformed(f"`{name}` is never set in {where}")
    return {d.name: scope[d.name] for d in names}


# --- Statements ----------------------------------------------------------------------------------


def block(body: Sequence[ir.Stmt], outer: Scope, in_prepared: bool = False) -> Scope:
    """The variables after the statements; those of branches are kept where only data decide."""
    scope = dict(outer)
    for s in body:
        try:
            statement(s, scope, in_prepared)
        except Malformed as why:
            raise why if "\n" in str(why) else Malformed(f"{s.span.describe()}\n{why}") from None
    return scope


def statement(s: ir.Stmt, scope: Scope, in_prepared: bool) -> None:
    """One statement; what it declares is added to the scope."""
    match s:
        case ir.Declare(name=name, type=t, shape=shape):
            expressions(shape, scope)
            scope[name] = t
        case ir.Assign(name=name, value=value, shape=shape):
            expressions((value, shape), scope)
            declares = s.declares or in_prepared  # there the number 0 stands for what is not computed
            if not declares:
                known(name, scope)
            scope[name] = value.type if declares else scope[name]
        case ir.Update(name=name) | ir.Scatter(name=name) | ir.CheckDeclared(name=name):
            known(name, scope)
            expressions(parts_of(s), scope)
        case ir.For(variable=variable, body=body):
            expressions((s.lower, s.upper), scope)
            block(body, {**scope, variable: INT})
        case ir.If():
            expressions(s.condition, scope)
            then, otherwise = (block(branch, scope, in_prepared) for branch in (s.then, s.otherwise))
            if in_prepared:
                changed = {name: t for name, t in then.items() if scope.get(name) != t}
                scope |= {**otherwise, **changed}
        case ir.While(body=body):
            expressions(s.condition, scope)
            block(body, scope)
        case ir.Profile(body=body):
            scope |= block(body, scope)
        case ir.Scan():
            scan(s, scope)
        case _:
            expressions(parts_of(s), scope)


def scan(s: ir.Scan, scope: Scope) -> None:
    """A step sees its state, its entries and what is fixed, and nothing else."""
    expressions((s.start, s.entries, s.fixed), scope)
    own = dict.fromkeys((*s.carried, *s.inputs, *(v.name for v in s.fixed)))
    own |= {ir.DRAW: None} if ir.DRAW in s.outer else {}
    for body, after in ((s.step, s.next), (s.batch, s.batch_next)):
        expressions(after, block(body, own))
    scope |= dict.fromkeys(s.after)


def known(name: str, scope: Scope) -> None:
    if name not in scope:
        raise Malformed(f"`{name}` is read or changed where it is not set")


# --- Expressions ---------------------------------------------------------------------------------


def expressions(e: Any, scope: Scope) -> None:
    """An expression, and all in it."""
    match e:
        case ir.Var(name=name, type=t):
            known(name, scope)
            same_axes(name, t, scope[name])
    for part in parts_of(e):
        expressions(part, scope)


def same_axes(name: str, t: Type, known: Type | None) -> None:
    if known is not None and not isinstance(core(t), Tuple) and rank(t) != rank(known):
        raise Malformed(f"`{name}` is read as {t}, but is {known}")
