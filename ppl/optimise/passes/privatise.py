"""Scratch variables declared inside the loop that uses them.

`array[K] real acc;` declared once and filled anew in every iteration ties the iterations together only by
name.  Where each iteration reads no entry that it has not set, and nothing after the loop reads any, the
declaration moves into the loop, so that the loop may become arrays.  A variable of which each iteration has
entries of its own, `mu[n]` of a loop over n, is an array along the loop already: it stays outside.
If only the last statements that use a variable are such loops, each of them gets a variable of its own.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import is_numbered_by
from ppl.kernel.ir.walk import (
    USERS,
    Fresh,
    assigned_names,
    fresh_names,
    is_invariant,
    mentions,
    rewrite,
    used_names,
    walk,
    with_blocks,
)
from ppl.optimise.passes.definite_assignment import Definition, mentions_in_bounds, reads
from ppl.stdlib.functions.fills import rep_array, rep_vector

FILLS = (rep_vector, rep_array)
"""Functions of a number and the sizes of an array of it."""


def privatise(p: ir.Program) -> ir.Program:
    """A variable that every iteration sets before reading it is declared inside the loop."""
    fresh = fresh_names("_own")
    inside = partial(pushed, fresh=fresh)
    return p.with_bodies(inside, partial(inside, outputs=frozenset()), data=True)


def pushed(body: Sequence[ir.Stmt], outputs: frozenset[str], fresh: Fresh) -> ir.Stmts:
    """The statements with every declaration that can go moved into the loops after it, as deep as it goes."""
    out = list(body)
    for s in body:
        d = declaration(s)
        if d is not None and d.name not in outputs:
            at = next(k for k, other in enumerate(out) if other is s)
            users = [k for k in range(at + 1, len(out)) if mentions(out[k], d.name)]
            fixed = users and is_invariant(d.shape, out[at : users[-1]])
            if fixed and all(is_private(out[k], d, unset=s is d) for k in users):
                for k in reversed(users):
                    out[k : k + 1] = declared_for(out[k], d)
                del out[at]
            elif fixed and len(users) == 1 and (branch := declared_in_branch(out[users[0]], d, s)):
                out[users[0]] = branch
                del out[at]
            elif fixed:
                for k in reversed(users):
                    if not starts_anew(out[k], d):
                        break
                    own = replace(d, name=fresh(d.name))
                    out[k : k + 1] = declared_for(renamed(out[k], d.name, own.name), own)
    return tuple(with_blocks(s, lambda body: pushed(body, outputs, fresh)) for s in out)


def starts_anew(s: ir.Stmt, d: ir.Declare) -> bool:
    """Whether a statement is a loop whose iterations need nothing of the variable from before it."""
    return isinstance(s, ir.For) and is_private(s, d, unset=False) and not has_own_entries(s, d.name)


def renamed(s: ir.Stmt, name: str, new: str) -> ir.Stmt:
    """The statement with another variable in place of one that it does not declare."""
    kinds = USERS | {ir.Assign}
    return rewrite(s, lambda n: replace(n, name=new) if type(n) in kinds and n.name == name else n)


def declaration(s: ir.Stmt) -> ir.Declare | None:
    """A declaration, without its first value if this is a number or an array of one number."""
    match s:
        case ir.Declare(shape=tuple()):
            return s
        case ir.Assign(value=value, declares=True):
            of_one = isinstance(value, ir.Apply) and value.callee.impl in FILLS and value.args[1:] == s.shape
            number, *_ = value.args if isinstance(value, ir.Apply) and of_one else (value,)
            if isinstance(unpromoted(number), ir.Const):
                return ir.Declare(s.name, value.type, s.shape, s.span)
    return None


def unpromoted(e: ir.Expr) -> ir.Expr:
    """The int behind a promotion to real."""
    return e.value if isinstance(e, ir.Promote) else e


def declared_for(s: ir.Stmt, d: ir.Declare) -> ir.Stmts:
    """The loop with the declaration inside, or before it where the variable is an array along the loop."""
    assert isinstance(s, ir.For)
    return (d, s) if has_own_entries(s, d.name) else (replace(s, body=(d, *s.body)),)


def declared_in_branch(s: ir.Stmt, d: ir.Declare, declared: ir.Stmt) -> ir.If | None:
    """A branch with what `declared` a variable on its only side that has it; None where its test has it."""
    if not isinstance(s, ir.If) or d.name in used_names(s.condition) or not is_invariant(d.shape, (s,)):
        return None
    then, otherwise = (any(mentions(each, d.name) for each in side) for side in (s.then, s.otherwise))
    if then and otherwise:
        return None
    return replace(s, then=(declared, *s.then)) if then else replace(s, otherwise=(declared, *s.otherwise))


def is_private(s: ir.Stmt, d: ir.Declare, unset: bool) -> bool:
    """Whether the statement is a loop whose every iteration sets what it reads of the variable.

    An entry may also be `unset` before the loop and in all iterations.
    """
    if not isinstance(s, ir.For) or mentions_in_bounds(s, d.name):
        return False
    return is_invariant(d.shape, (s,)) and Definition(d, s, unset).runs(s.body)


def has_own_entries(s: ir.For, name: str) -> bool:
    """Whether iterations set and read entries of their own alone, which the loop variable numbers."""
    sets = (n for n in walk(s.body) if isinstance(n, ir.Update | ir.Assign) and n.name == name)
    first, *others = map(indices, (*sets, *reads(s.body, name)))
    changed = assigned_names(s.body)
    numbers = [k for k, i in enumerate(first) if is_numbered_by(i, s.variable, changed.__contains__)]
    return any(all(items[k : k + 1] == first[k : k + 1] for items in others) for k in numbers)


def indices(access: ir.Update | ir.Assign | ir.Expr) -> tuple[ir.IndexItem, ...]:
    """Of the entry that is set or read; none of a whole variable."""
    match access:
        case ir.Index(items=items) | ir.Update(path=((*_,) as items, *_)):
            return tuple(items)
        case _:
            return ()
