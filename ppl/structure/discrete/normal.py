"""The model block in the form that terms are found in.

Everything that depends on a discrete parameter becomes `target += e` with a scalar `e` that touches as few
entries as possible: `~` as a density, sums as their summands, containers entry by entry.  Local variables
that depend on a discrete parameter stand in one block with the statements that use them.
"""

from collections.abc import Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.calls import DENSITIES, normalised
from ppl.kernel.language.facts import Facts, UserMatch
from ppl.kernel.language.walk import children, closure, heads, variables
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import (
    AnyTree,
    Stmts,
    assigned,
    bottom_up,
    code,
    expr,
    mentions,
    substituted,
    with_blocks,
    written,
)
from ppl.records import dataclass, replace
from ppl.stdlib.signatures import Match
from ppl.structure.discrete import refused
from ppl.structure.discrete.elementwise import Elementwise
from ppl.structure.discrete.parameters import Discrete
from ppl.types import INT, rank


def density_of(s: ast.Tilde, facts: Facts) -> ast.Call:
    """`y ~ dist(...)` as the density with all its constants."""
    if s.truncation is not None:
        raise refused.truncated(s)
    called = facts.calls[s]
    name = called.function.name if isinstance(called, UserMatch) else called.callee.name
    return ast.Call(s.span, normalised(name), (s.left, *s.args), bool(s.args))


def dependent_names(body: Sequence[ast.Statement], names: set[str]) -> set[str]:
    """The names, and the variables whose values depend on them."""
    return closure(names, body, lambda s, known: depending(s, known, False))


def depending(s: ast.Statement, names: set[str], inside: bool) -> set[str]:
    """The variables that a statement makes depend on `names`; `inside` a branch or loop that does, all."""
    match s:
        case ast.Declaration(name=name, value=value):
            mentioned = value is not None and mentions(value, names)
            return {name} if value is not None and (inside or mentioned) else set()
        case ast.Assignment(target=target, value=value):
            mentioned = mentions(value, names) or mentions(target, names - assigned(target))
            return assigned(target) if inside or mentioned else set()
    inside = inside or mentions(heads(s), names)
    dependent = {name for part in children(s) for name in depending(part, names, inside)}
    return dependent | {s.variable} if inside and isinstance(s, ast.ForEach) else dependent


@dataclass
class Normal:
    """`dependent` are the discrete parameters and the locals that depend on them."""

    facts: Facts
    parameters: dict[str, Discrete]
    names: FreshNames
    dependent: set[str]
    lengths: dict[str, ast.Expr]
    """The first size of each container of the model block."""

    def touches(self, node: ast.Node) -> bool:
        return mentions(node, self.dependent)

    def body(self, statements: Sequence[ast.Statement]) -> Stmts:
        normal_form = tuple(out for s in statements for out in self.statement(s))
        return self.grouped(self.forwarded(bottom_up(normal_form, self.with_plain_indices)))

    def statement(self, s: ast.Statement) -> Stmts:
        if not self.touches(s):
            return (s,)
        match s:
            case ast.Tilde():
                return self.density(density_of(s, self.facts), self.facts.calls[s], s)
            case ast.TargetIncrement(value=value):
                return self.increment(value, s)
            case ast.For() | ast.ForEach() | ast.If():
                return (with_blocks(s, self.body),)
            case ast.Block(statements=body):
                return (replace(s, statements=self.body(body)),)
            case ast.Profile(statements=body):
                return self.body(body)
            case _:
                return (s,)

    # --- Increments ---

    def density(self, density: ast.Call, called: Match | UserMatch, s: ast.Statement) -> Stmts:
        split_form = None
        if isinstance(called, Match):
            way = Elementwise(self.facts, self.parameters, self.names, self.touches, self.lengths)
            split_form = way.split(called, density.args, s.span)
        if split_form is None:
            return (ast.TargetIncrement(s.span, density),)
        before, entries, variable, length = split_form
        inside = (ast.TargetIncrement(s.span, replace(density, args=tuple(entries))),)
        loop = code("for (n in 1:length) body();", s.span, n=variable, length=length, body=inside)
        return (ast.Block(s.span, (*before, *loop)),) if before else loop

    def increment(self, value: ast.Expr, s: ast.TargetIncrement) -> Stmts:
        """A summand a statement."""
        match value:
            case ast.Binary(op="+", left=left, right=right) if not rank(self.facts.types[value]):
                return (*self.increment(left, s), *self.increment(right, s))
            case ast.Call(name=name, args=args) if value in self.facts.calls and name.endswith(DENSITIES):
                if self.touches(value):
                    whole = replace(value, name=normalised(name), bar=len(args) > 1)
                    return self.density(whole, self.facts.calls[value], s)
        if rank(self.facts.types[value]):
            value = expr("sum(e)", s.span, e=value)
        return (ast.TargetIncrement(s.span, value),)

    # --- Indices ---

    def with_plain_indices(self, n: ast.Node) -> ast.Node:
        """`z[i][j]` as `z[i, j]`; indices that pick several entries, `z[some]`, as `z[some[:]]`."""
        match n:
            case ast.Indexed(base=ast.Variable(name=name), indices=indices) if name in self.parameters:
                return replace(n, indices=tuple(map(self.several, indices)))
            case ast.Indexed(base=ast.Indexed(base=ast.Variable(name=name) as base, indices=first)) if (
                name in self.parameters
            ):
                literals = (
                    isinstance(i, ast.RangeIndex) or isinstance(i.value, ast.ArrayLiteral) for i in first
                )
                if not any(literals) and len(first) + len(n.indices) <= len(self.parameters[name].dims):
                    return ast.Indexed(n.span, base, (*first, *n.indices))
        return n

    def several(self, i: ast.Index) -> ast.Index:
        match i:
            case ast.SingleIndex(value=value) if rank(self.facts.types.get(value, INT)) > 0:
                return ast.SingleIndex(i.span, expr("e[:]", i.span, e=value))
            case _:
                return i

    # --- Locals ---

    def forwarded(self, body: Stmts) -> Stmts:
        """Without local containers that a loop fills entry by entry: each use gets the entry's expression."""
        for d in body:
            if isinstance(d, ast.Declaration) and d.name in self.dependent and d.value is None:
                filled = filling(d, body)
                if filled is not None:
                    body = self.with_entries(d, filled, body)
        return body

    def with_entries(self, d: ast.Declaration, filled: "Filling", body: Stmts) -> Stmts:
        rest = tuple(s for s in body if s is not d and s is not filled.loop)

        def entry(n: ast.Node) -> ast.Node:
            match n:
                case ast.Indexed(base=ast.Variable(name=name), indices=indices) if name == d.name:
                    values = [i.value for i in indices if isinstance(i, ast.SingleIndex)]
                    if len(values) == len(filled.variables) == len(indices):
                        at = dict(zip(filled.variables, values, strict=True))
                        return substituted(filled.value, at)
            return n

        out: Stmts = bottom_up(rest, entry)
        return body if mentions(out, {d.name}) else out

    def grouped(self, body: Stmts) -> Stmts:
        """Each set of dependent locals that meet in a statement in a block with all that mentions them."""
        locals_ = [s.name for s in body if isinstance(s, ast.Declaration) and s.name in self.dependent]
        for group in connected(locals_, body):
            members = [s for s in body if own_mentions(s, group)]
            self.check_moves(body, members)
            last = max(k for k, s in enumerate(body) if s in members)
            block = ast.Block(members[0].span, tuple(members))
            body = (*(s for s in body[: last + 1] if s not in members), block, *body[last + 1 :])
        return body

    def check_moves(self, body: Stmts, members: list[ast.Statement]) -> None:
        """Statements between the members go before them: they must not change what these read."""
        seen: list[ast.Statement] = []
        for s in body[: max(k for k, x in enumerate(body) if x in members)]:
            if s in members:
                seen.append(s)
            elif seen and any(mentions(m, written(s)) for m in seen):
                raise refused.order(s)


def normalised_in(node: AnyTree) -> AnyTree:
    """The tree, its densities with all their constants."""

    def whole(n: ast.Node) -> ast.Node:
        if isinstance(n, ast.Call) and (name := normalised(n.name)) != n.name:
            return replace(n, name=name)
        return n

    return bottom_up(node, whole)


def own_mentions(s: ast.Statement, names: set[str]) -> bool:
    return bool(written(s) & names) or mentions(s, names)


def connected(names: Sequence[str], body: Stmts) -> list[set[str]]:
    """The sets of names that statements bring together."""
    groups = [{name} for name in names]
    for s in body:
        met = [g for g in groups if own_mentions(s, g)]
        if len(met) > 1:
            groups = [g for g in groups if g not in met] + [set().union(*met)]
    return groups


@dataclass(frozen=True)
class Filling:
    """The one loop that sets `name[variables] = value`."""

    loop: ast.Statement
    variables: tuple[str, ...]
    value: ast.Expr


def filling(d: ast.Declaration, body: Stmts) -> Filling | None:
    """How a container is filled, where one nest of loops does it and its values can stand elsewhere."""
    writers = [s for s in body if s is not d and d.name in written(s)]
    if len(writers) != 1:
        return None
    loop, heads, s = writers[0], [], writers[0]
    while isinstance(s, ast.For | ast.Block):
        if isinstance(s, ast.Block):
            if len(s.statements) != 1:
                return None
            s = s.statements[0]
        else:
            heads.append(s.variable)
            s = s.body
    match s:
        case ast.Assignment(op="=", target=ast.Indexed(indices=indices), value=value):
            at = [
                i.value.name
                for i in indices
                if isinstance(i, ast.SingleIndex) and isinstance(i.value, ast.Variable)
            ]
            first = body.index(loop)
            read = {v.name for v in variables(value)} - set(heads)
            later = {name for x in body[first + 1 :] for name in written(x)}
            early = any(mentions(x, {d.name}) for x in body[:first])
            each = len(at) == len(indices) and sorted(at) == sorted(heads)
            if each and not early and not read & (later | {d.name}):
                return Filling(loop, tuple(at), value)
    return None
