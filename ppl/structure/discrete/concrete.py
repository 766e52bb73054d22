"""A program whose discrete entries meet as the data say, written out: a scalar parameter for each entry.

Loops around what depends on discrete parameters are unrolled and indices evaluated.  The entries can then be
summed out one after the other in the order that keeps the tables small.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ppl.kernel.language import ast
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import (
    Stmts,
    code,
    indexed,
    inner,
    integer,
    mentions,
    rewrite,
    substituted,
    variable,
    with_blocks,
)
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.structure.discrete import refused
from ppl.structure.discrete.evaluate import NotKnown, known_value, scalar
from ppl.structure.discrete.parameters import Discrete

MOST_STATEMENTS = 5_000
"""Terms beyond which a program written out is no program to compile."""
MOST_ENTRIES = 500
"""The same of entries."""


class NeedsData(Exception):
    """A size, bound or index that only data tell; its message names what is not known."""


@dataclass
class Concrete:
    """`parameters` are the program's, `scalars` those of each entry by name and index from 1."""

    parameters: dict[str, Discrete]
    names: FreshNames
    values: Mapping[str, Any]
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    scalars: dict[tuple[str, tuple[int, ...]], Discrete] = field(default_factory=dict)
    made: int = 0

    def declare(self) -> None:
        """A scalar parameter for each entry, with bounds that are literals."""
        for d in self.parameters.values():
            shape = tuple(self.number(e) for e in d.dims)
            lower, upper = (integer(self.number(e), d.span) for e in (d.lower, d.upper))
            self.shapes[d.name] = shape
            if len(self.scalars) + int(np.prod(shape, dtype=int)) > MOST_ENTRIES:
                why = f"more than {MOST_ENTRIES} entries depend on each other in no supported form"
                raise refused.unplanned([d.name], why, d.span)
            for at in product(*(range(1, n + 1) for n in shape)):
                name = self.names.fresh("_".join(map(str, (d.name, *at)))) if at else d.name
                self.scalars[d.name, at] = Discrete(name, (), lower, upper, d.span)

    def number(self, e: ast.Expr) -> int:
        try:
            return int(scalar(e, self.values))
        except NotKnown as unknown:
            raise NeedsData(str(unknown)) from None

    def drawn(self) -> tuple[Stmts, Stmts]:
        """Declarations of the entries as variables to draw, and what puts them into the arrays."""
        own: Stmts = ()
        back: Stmts = ()
        for (name, at), d in self.scalars.items():
            if at:
                own += code("int x;", d.span, x=d.name)
                target = indexed(name, tuple(integer(n, d.span) for n in at), d.span)
                back += code("a = x;", d.span, a=target, x=d.name)
        return own, back

    # --- Statements ---

    def body(self, statements: Sequence[ast.Statement], known: Mapping[str, int]) -> Stmts:
        out: list[ast.Statement] = []
        for s in statements:
            if mentions(s, set(self.parameters)):
                out += self.statement(s, known)
            else:
                out.append(substituted(s, {name: integer(k, s.span) for name, k in known.items()}))
        return tuple(out)

    def statement(self, s: ast.Statement, known: Mapping[str, int]) -> Stmts:
        self.made += 1
        if self.made > MOST_STATEMENTS:
            why = f"more than {MOST_STATEMENTS} terms are of no form that has a sum of its own"
            raise refused.unplanned(self.parameters, why, s.span)
        match s:
            case ast.For() | ast.ForEach():
                return self.loop(s, known)
            case ast.If(condition=condition, then=then, otherwise=otherwise):
                chosen = self.value(condition, known)
                if chosen is None:
                    return self.not_unrolled(s, known)
                branch = then if chosen else otherwise
                return self.scoped(self.body(inner(branch), known), s.span) if branch is not None else ()
            case ast.Block(statements=body):
                return (replace(s, statements=self.body(body, known)),)
            case _:
                return (self.replaced(s, known),)

    def not_unrolled(self, s: ast.Statement, known: Mapping[str, int]) -> Stmts:
        return (self.replaced(with_blocks(s, partial(self.body, known=known)), known),)

    def loop(self, s: ast.For | ast.ForEach, known: Mapping[str, int]) -> Stmts:
        values = self.known_range(s, known) if isinstance(s, ast.For) else self.value(s.iterable, known)
        if values is None or np.asarray(values).dtype.kind != "i" or np.ndim(values) != 1:
            return self.not_unrolled(s, known)
        out: Stmts = ()
        for k in np.asarray(values).tolist():
            out += self.scoped(self.body(inner(s.body), {**known, s.variable: k}), s.span)
        return out

    def scoped(self, body: Stmts, span: Span) -> Stmts:
        """In a block of its own where it declares variables."""
        declares = any(isinstance(s, ast.Declaration) for s in body)
        return (ast.Block(span, body),) if declares else body

    def known_range(self, s: ast.For, known: Mapping[str, int]) -> Any:
        first, last = self.value(s.lower, known), self.value(s.upper, known)
        if first is not None and last is not None:
            return np.arange(first, last + 1)
        if not mentions((s.lower, s.upper), set(self.parameters)):
            raise NeedsData("the bounds of a loop")
        return None

    def value(self, e: ast.Expr, known: Mapping[str, int]) -> Any:
        return known_value(e, {**self.values, **known})

    # --- Entries ---

    def replaced(self, s: ast.Statement, known: Mapping[str, int]) -> ast.Statement:
        """The statement with scalar parameters for the entries, and numbers for loop variables."""

        def entry(n: ast.Node) -> ast.Node | None:
            match n:
                case ast.Indexed(base=ast.Variable(name=name) as base, indices=indices) if (
                    name in self.shapes
                ):
                    return self.picked(base, indices, known, entry)
                case ast.Variable(name=name) if name in self.shapes:
                    return self.whole(name, (), n.span)
                case ast.Variable(name=name) if name in known:
                    return integer(known[name], n.span)
                case _:
                    return None

        return rewrite(s, entry)

    def picked(
        self, base: ast.Variable, indices: tuple[ast.Index, ...], known: Mapping[str, int], entry: Any
    ) -> ast.Expr:
        """An entry, those of a slice, or where the index is not known all entries with it."""
        at: list[int] = []
        for k, i in enumerate(indices):
            size = self.shapes[base.name][k]
            positions = self.index(i, size, known)
            if positions is None or (isinstance(positions, list) and k + 1 < len(indices)):
                rest = rewrite(indices[k:], entry)
                return ast.Indexed(base.span, self.whole(base.name, tuple(at), base.span), rest)
            if isinstance(positions, list):
                items = [self.whole(base.name, (*at, n), base.span) for n in positions]
                return ast.ArrayLiteral(base.span, tuple(items))
            at.append(positions)
        return self.whole(base.name, tuple(at), base.span)

    def index(self, i: ast.Index, size: int, known: Mapping[str, int]) -> int | list[int] | None:
        match i:
            case ast.SingleIndex(value=value):
                picked = self.value(value, known)
            case ast.RangeIndex(lower=lower, upper=upper):
                first = 1 if lower is None else self.value(lower, known)
                last = size if upper is None else self.value(upper, known)
                picked = None if first is None or last is None else np.arange(first, last + 1)
        if picked is None:
            return None
        for n in np.ravel(picked).tolist():
            if not 1 <= n <= size:
                raise refused.out_of_range(n, size, i.span)
        return np.asarray(picked).tolist()

    def whole(self, name: str, at: tuple[int, ...], span: Span) -> ast.Expr:
        """The entry at an index, or the array of those below it."""
        shape = self.shapes[name]
        if len(at) == len(shape):
            return variable(self.scalars[name, at].name, span)
        items = [self.whole(name, (*at, n), span) for n in range(1, shape[len(at)] + 1)]
        return ast.ArrayLiteral(span, tuple(items))
