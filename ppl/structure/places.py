"""Which entries of a data variable an expression is: `segment(y, a, n)` at k is `y[a + k - 1]`."""

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from itertools import takewhile
from typing import Any

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import parts, variables
from ppl.programs.entries import Exprs, composed
from ppl.programs.rewriting import expr, text_of
from ppl.records import dataclass, field
from ppl.stdlib.signatures import Match
from ppl.structure.definitions import DATA_BLOCKS, Definitions, readings
from ppl.types import rank

SAME_ENTRIES = ("head", "to_vector", "to_row_vector", "to_array_1d")
"""Functions of one axis that leave entry k of their first argument at k."""


class NoPlace(Exception):
    """An expression is not made of entries of one data variable."""


def in_common(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many items two sequences begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


@dataclass(frozen=True)
class Place:
    """`name[at]`: with fewer indices than axes, all that is below them; of several, by `JOINED` names."""

    name: str
    at: Exprs = ()

    def common(self, other: "Place") -> "Place":
        """The leading indices that both have, of places of one variable."""
        return Place(self.name, self.at[: in_common([*map(text_of, self.at)], [*map(text_of, other.at)])])


@dataclass(frozen=True)
class Places:
    """`definitions` are those of what the model and transformed parameters compute."""

    facts: Facts
    definitions: Definitions = field(repr=False)

    def is_data(self, e: ast.Expr) -> bool:
        """Whether a variable is one of data or transformed data."""
        return isinstance(e, ast.Variable) and self.facts.symbols[e].block in DATA_BLOCKS

    def of(self, e: ast.Expr, at: Exprs = ()) -> Place:
        """The place of entry `at` of an expression, its leading indices as far as they are known.

        Raises:
            NoPlace: there is none.
        """
        match e:
            case ast.Variable(name=name) if self.is_data(e):
                return Place(name, at)
            case ast.Variable():
                definitions = self.definitions.get(self.facts.symbols[e], [])
                if len(definitions) == 1 and not definitions[0].at:
                    return self.of(definitions[0].value, at)
                raise NoPlace
            case ast.Indexed(base=base, indices=indices):
                return self.of(base, composed(self.facts, indices, at))
            case ast.Transpose(operand=operand):
                return self.of(operand, at[::-1] if rank(self.facts.types[e]) in (1, len(at)) else ())
            case ast.Call(name=name, args=(first, *rest)):
                return self.of_call(e, name, first, tuple(rest), at)
            case _:
                return self.of_only(e, at)

    def one(self, e: ast.Expr, at: Exprs = ()) -> Place | None:
        """The place; None where there is none."""
        with suppress(NoPlace):
            return self.of(e, at)
        return None

    def of_call(self, e: ast.Expr, name: str, first: ast.Expr, rest: Exprs, at: Exprs) -> Place:
        axes = rank(self.facts.types[first])
        match name:
            case "segment":
                return self.of(first, tuple(expr("a + k - 1", e.span, a=rest[0], k=k) for k in at))
            case "tail":
                size = {"e": first, "n": rest[0]}
                return self.of(first, tuple(expr("size(e) - n + k", e.span, k=k, **size) for k in at))
            case _ if name in SAME_ENTRIES and axes == 1:
                return self.of(first, at)
            case "to_vector" if axes == 2 and at:
                k = expr("k - 1", e.span, k=at[0])
                both, rows = ("k % n + 1", "k %/% n + 1"), self.rows_of(first)
                return self.of(first, tuple(expr(text, e.span, k=k, n=rows) for text in both))
            case "col":
                return self.of(first, (*at, rest[0]) if at else ())
            case "row":
                return self.of(first, (rest[0], *at))
            case _:
                return self.of_only(e, at)

    def rows_of(self, e: ast.Expr) -> ast.Expr:
        """The number of rows of a matrix."""
        return expr("rows(e)", e.span, e=e)

    def of_only(self, e: ast.Expr, at: Exprs) -> Place:
        """Of the only entries of data that a function of them reads: at `at`, where it is elementwise."""
        inside = tuple(readings(e, self.facts)) or tuple(filter(self.is_data, variables(e)))
        if not inside:
            raise NoPlace
        axes = rank(self.facts.types[e]) if self.is_elementwise(e) else None
        places = [self.of(x, at if rank(self.facts.types[x]) == axes else ()) for x in inside]
        if len({p.name for p in places}) > 1:
            raise NoPlace
        return reduce(Place.common, places)

    def is_elementwise(self, e: ast.Expr) -> bool:
        """Whether an entry is computed of the same entry of all that is read: not in `reverse(y)`."""
        match e:
            case ast.Variable() | ast.Indexed():
                return True
            case ast.Binary(op="*" | "/" | "\\" | "^", left=left, right=right) if rank(self.facts.types[e]):
                if rank(self.facts.types[left]) and rank(self.facts.types[right]):
                    return False
            case ast.Call(name=name):
                called = self.facts.calls.get(e)
                is_known = isinstance(called, Match) and called.overload.batch == "elementwise"
                if not is_known and name not in SAME_ENTRIES:
                    return False
        return all(map(self.is_elementwise, parts(e)))
