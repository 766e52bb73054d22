"""Scratch variables declared inside the loop that uses them.

`array[K] real acc;` declared once and filled anew in every iteration ties the iterations together only by
name.  Where each iteration sets the whole variable before it reads any of it, and nothing after the loop
reads it, the declaration moves into the loop, so that the loop may become arrays.
"""

from collections.abc import Sequence
from dataclasses import replace

from ppl.ir import nodes as ir
from ppl.ir.walk import assigned_names, used_names, walk
from ppl.types import INT

Stmts = tuple[ir.Stmt, ...]


def privatise(p: ir.Program) -> ir.Program:
    """The pass."""
    outputs = {
        d.name for d in (*p.transformed_data_names, *p.transformed_parameter_names, *p.generated_names)
    }
    return replace(
        p,
        functions=tuple(replace(f, body=pushed(f.body, set())) for f in p.functions),
        transformed_data=pushed(p.transformed_data, outputs),
        transformed_parameters=pushed(p.transformed_parameters, outputs),
        model=pushed(p.model, outputs),
        generated_quantities=pushed(p.generated_quantities, outputs),
    )


def pushed(body: Sequence[ir.Stmt], outputs: set[str]) -> Stmts:
    """The statements with every declaration that can go moved into the loops after it, as deep as it goes."""
    out = list(body)
    for s in body:
        if isinstance(s, ir.Declare) and s.name not in outputs and isinstance(s.shape, tuple):
            at = next(k for k, other in enumerate(out) if other is s)
            users = [k for k in range(at + 1, len(out)) if mentions(out[k], s.name)]
            if users and all(is_private(out[k], s) for k in users):
                for k in users:
                    loop = out[k]
                    assert isinstance(loop, ir.For)
                    out[k] = replace(loop, body=(s, *loop.body))
                del out[at]
    return tuple(inside(s, outputs) for s in out)


def inside(s: ir.Stmt, outputs: set[str]) -> ir.Stmt:
    match s:
        case ir.For(body=body) | ir.While(body=body) | ir.Profile(body=body):
            return replace(s, body=pushed(body, outputs))
        case ir.If(then=then, otherwise=otherwise):
            return replace(s, then=pushed(then, outputs), otherwise=pushed(otherwise, outputs))
        case _:
            return s


def mentions(s: ir.Stmt, name: str) -> bool:
    return name in used_names(s) or name in assigned_names((s,))


def is_private(s: ir.Stmt, d: ir.Declare) -> bool:
    """Whether the statement is a loop whose every iteration sets the variable before reading it."""
    if not isinstance(s, ir.For) or mentions_in_bounds(s, d.name):
        return False
    if used_names(d.shape) & (assigned_names((s,)) | {s.variable}):
        return False
    return Definition(d).runs(s.body)


def mentions_in_bounds(s: ir.For, name: str) -> bool:
    return name in used_names((s.lower, s.upper))


class Definition:
    """Follows one iteration: `whole` once every entry has been set."""

    def __init__(self, d: ir.Declare):
        self.name, self.shape = d.name, d.shape
        self.whole = False
        self.entries: set[int] = set()

    def runs(self, body: Sequence[ir.Stmt]) -> bool:
        """Whether no statement reads an entry before all are set."""
        return all(map(self.allows, body))

    def allows(self, s: ir.Stmt) -> bool:
        if not mentions(s, self.name):
            return True
        if self.whole:
            return not any(isinstance(n, ir.Declare) and n.name == self.name for n in walk(s))
        match s:
            case ir.Assign(name=name, value=value) if name == self.name:
                self.whole = self.name not in used_names(value)
                return self.whole
            case ir.Update(name=name, path=((ir.At(index=ir.Const(value=k)),),)) if name == self.name:
                return self.name not in used_names(s.value) and self.one_more(int(k))
            case ir.For() if not mentions_in_bounds(s, self.name):
                return self.loop(s)
            case ir.If():
                return self.branches(s)
            case _:
                return False

    def one_more(self, k: int) -> bool:
        """Entry k is set; with all entries of a fixed size the variable is whole."""
        self.entries.add(k)
        match self.shape:
            case (ir.Const(value=size),):
                self.whole = self.entries == set(range(1, int(size) + 1))
        return True

    def loop(self, s: ir.For) -> bool:
        """An inner loop that sets every entry, or one that sets before it reads all by itself."""
        first = s.body[0] if s.body else None
        fills = (
            isinstance(first, ir.Update)
            and first.name == self.name
            and first.path == ((ir.At(ir.Var(s.variable, INT)),),)
            and self.name not in used_names(first.value)
            and s.lower == ir.Const(1, INT)
            and self.shape == (s.upper,)
        )
        if fills and not any(mentions(other, self.name) for other in s.body[1:]):
            self.whole = True
            return True
        whole, entries = self.whole, set(self.entries)
        allowed = self.runs(s.body)
        self.whole, self.entries = whole, entries  # the loop may not run at all
        return allowed

    def branches(self, s: ir.If) -> bool:
        if self.name in used_names(s.condition):
            return False
        whole, entries, ends = self.whole, set(self.entries), []
        for side in (s.then, s.otherwise):
            self.whole, self.entries = whole, set(entries)
            if not self.runs(side):
                return False
            ends.append((self.whole, self.entries))
        self.whole = all(end for end, _ in ends)
        self.entries = ends[0][1] & ends[1][1]
        return True
