"""Transformed data of new rows: means, deviations and the like of all rows stay those of the fit.

`x - mean(x)` of new rows would be centred by another mean than that which the coefficients were fitted with.
"""

from collections.abc import Mapping, Sequence, Set
from typing import TypeGuard, TypeVar

from ppl.kernel.language import ast
from ppl.kernel.language.check import check
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import closure, parts, variables, walk
from ppl.programs.entries import indexed
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import (
    Stmts,
    code,
    copied,
    expr,
    loops,
    mentions,
    rewrite,
    text_of,
    with_blocks,
    written,
)
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.structure.definitions import SIZES, Exprs, symbols_read
from ppl.structure.factors import Factors
from ppl.structure.observed.numbers import Counts
from ppl.structure.refused import unpredicted
from ppl.types import INT, REAL, rank

OF_ALL_ROWS = (
    *("mean", "sd", "variance", "min", "max", "quantile"),
    *("sum", "prod", "norm1", "norm2", "dot_self"),
)
"""Functions of a container with one real value."""
OF_EACH_OTHER = ("qr_", "svd", "singular_values", "eigen", "sort_", "rank", "crossprod", "tcrossprod")
"""How functions begin whose values depend on all rows, and have no counterpart for new ones."""

Pair = tuple[Stmts, Stmts]
AnyNode = TypeVar("AnyNode", bound=ast.Node)


@dataclass
class Fixing:
    """Takes values of all rows out of transformed data.

    `rows` are the sizes along rows, as text; `sizes` those of data. `values` are the variables that they are
    put into, each with the sizes of the loops that it is computed in.
    """

    facts: Facts
    rows: frozenset[str]
    sizes: Mapping[str, Exprs]
    names: FreshNames
    counts: Counts
    values: dict[str, Exprs] = field(default_factory=dict)

    def declaration(self, name: str, span: Span) -> ast.Declaration:
        """The declaration of a value."""
        return ast.Declaration(span, ast.SizedType(span, "real", None, (), self.values[name]), name, span)

    def body(self, statements: Sequence[ast.Statement], heads: tuple[ast.For, ...] = ()) -> Pair:
        """The statements that also record these values, and those that are given them."""
        pairs = [self.statement(s, heads) for s in statements]
        return tuple(x for first, _ in pairs for x in first), tuple(x for _, second in pairs for x in second)

    def statement(self, s: ast.Statement, heads: tuple[ast.For, ...]) -> Pair:
        match s:
            case ast.For():
                return self.within(s, (*heads, s))
            case ast.If(condition=condition):
                recorded, given = self.given(condition, heads)
                first, second = self.within(replace(s, condition=given), heads)
                return (*recorded, *first), second
            case ast.Block(statements=body) | ast.Profile(statements=body):
                first, second = self.body(body, heads)
                return (replace(s, statements=first),), (replace(s, statements=second),)
            case ast.Declaration() | ast.Assignment():
                recorded, changed = self.given(s, heads)
                return (*recorded, changed), (changed,)
            case _:
                return (s,), (s,)

    def within(self, s: ast.For | ast.If, heads: tuple[ast.For, ...]) -> Pair:
        """The same for the statements inside."""
        pairs: dict[Stmts, Pair] = {}

        def both(k: int) -> ast.Statement:
            return with_blocks(s, lambda body: pairs.setdefault(body, self.body(body, heads))[k])

        return (both(0),), (both(1),)

    def given(self, node: AnyNode, heads: tuple[ast.For, ...]) -> tuple[Stmts, AnyNode]:
        """Statements that record the values of all rows in a node, and the node that is given them."""
        recorded: list[ast.Statement] = []

        def value(n: ast.Node) -> ast.Expr | None:
            own = self.heads(n, heads)
            if own is None:
                return None
            name = self.names.fresh("fixed")
            self.values[name] = tuple(h.upper for h in own)
            at = tuple(ast.Variable(n.span, h.variable) for h in own)
            entry = indexed(ast.Variable(n.span, name), at)
            recorded.extend(self.recorded(entry, n, own))  # type: ignore[arg-type]
            is_int = self.facts.types.get(n) == INT  # type: ignore[call-overload]
            return expr("to_int(a)", n.span, a=entry) if is_int else entry

        changed = rewrite(node, value)
        return tuple(recorded), changed

    def recorded(self, entry: ast.Expr, value: ast.Expr, own: tuple[ast.For, ...]) -> Stmts:
        """The statements that put a value into an entry, inside the loops that it is of."""
        return code("a = b;", value.span, a=entry, b=value)

    def heads(self, n: ast.Node, heads: tuple[ast.For, ...]) -> tuple[ast.For, ...] | None:
        """The loops that a value of all rows depends on; None for any other node, and values of one row."""
        t = self.facts.types.get(n)  # type: ignore[call-overload]
        if not (t == REAL or self.counts.is_number(n)) or not self.is_of_all(n):  # type: ignore[arg-type]
            return None
        own = tuple(h for h in heads if mentions(n, {h.variable, *written(h)}))
        return None if any(any(map(self.counts_rows, walk(h.upper))) for h in own) else own

    def counts_rows(self, n: ast.Node) -> bool:
        """Whether an expression is the number of rows, as a size or of data by row."""
        match n:
            case ast.Call(name=name, args=(ast.Variable(name=of),)) if name in SIZES and of in self.sizes:
                own = [*map(text_of, self.sizes[of])]
                return not self.rows.isdisjoint(own[-1:] if name == "cols" else own[:1])
            case _:
                return isinstance(n, ast.Variable) and n.name in self.rows

    def is_of_all(self, n: ast.Expr) -> bool:
        """Whether a value is computed of all rows, or their number, and of nothing else: `sum(x) / N`."""
        return self.is_constant(n) and any(map(self.is_whole, walk(n)))

    def is_whole(self, n: ast.Node) -> bool:
        """Whether an expression is one value of all rows, or their number."""
        match n:
            case ast.Call(name=name) if self.facts.types.get(n) in (INT, REAL):
                is_named = name in OF_ALL_ROWS and bool(symbols_read(n, self.facts))
                return is_named or self.counts.is_count(n) or self.counts.reduces(n)
            case ast.Binary(op="*"):
                return self.facts.types.get(n) == REAL and self.counts.reduces(n)
            case _:
                return self.counts.is_count(n)

    def is_constant(self, e: ast.Expr) -> bool:
        """Whether an expression is computed of values of all rows, or of numbers."""
        return self.is_whole(e) or (not isinstance(e, ast.Variable) and all(map(self.is_constant, parts(e))))


def with_fixed_in_data(factors: Factors, missing: Set[str]) -> Factors:
    """The program with values of all rows that later blocks compute of data among transformed data.

    Raises:
        ModelError: one is computed of variables that have several values, or of data with `missing` values,
            which are parameters of the fit.
    """
    p, names = factors.program, FreshNames.of(factors.program)
    common = (factors.facts, factors.rows, factors.sizes, names, Counts.of(factors))
    fixing = FixingLater(*common, factors=factors, missing=missing)
    refuse_functions_of_all(factors, (*p.transformed_parameters, *p.model))
    parameters, model = (tuple(map(fixing.rewritten, block)) for block in (p.transformed_parameters, p.model))
    if not fixing.values:
        return factors
    declared = (fixing.declaration(name, p.span) for name in fixing.values)
    data = (*p.transformed_data, *declared, *fixing.statements)
    own = copied(replace(p, transformed_data=data, transformed_parameters=parameters, model=model))
    return Factors(own, check(own, factors.facts.library))


def refuse_functions_of_all(factors: Factors, body: Stmts) -> None:
    """ModelError for functions that compute entries of data by row by those of all rows."""
    by_row = {name for name, own in factors.sizes.items() if {*map(text_of, own)} & factors.rows}
    for n in walk(body):
        if (
            isinstance(n, ast.Call)
            and n.name.startswith(OF_EACH_OTHER)
            and rank(factors.facts.types[n])
            and any(isinstance(e, ast.Variable) and e.name in by_row for e in n.args)
        ):
            raise unpredicted(f"`{text_of(n)}` depends on all rows", n.span)
        own = factors.functions.get(n.name) if isinstance(n, ast.Call) else None
        if own is None or not isinstance(n, ast.Call) or not rank(factors.facts.types[n]):
            continue
        of_rows = {
            a.name
            for a, e in zip(own.args, n.args, strict=True)
            if isinstance(e, ast.Variable) and {*map(text_of, factors.sizes.get(e.name, ()))} & factors.rows
        }
        for inner in walk(own):
            if is_function_of_all(inner) and mentions(inner.args, of_rows):
                why = f"`{n.name}` computes `{text_of(inner)}`, which depends on all rows"
                raise unpredicted(why, n.span)


def is_function_of_all(n: ast.Node) -> TypeGuard[ast.Call]:
    """Whether a call is of a function whose value depends on all rows."""
    return isinstance(n, ast.Call) and (n.name in OF_ALL_ROWS or n.name.startswith(OF_EACH_OTHER))


@dataclass
class FixingLater(Fixing):
    """Takes values of all rows out of later blocks; `statements` compute them in transformed data."""

    factors: Factors = field(kw_only=True)
    missing: Set[str] = frozenset()
    statements: list[ast.Statement] = field(default_factory=list)

    def rewritten(self, s: ast.Statement, heads: tuple[ast.For, ...] = ()) -> ast.Statement:
        """The statement with variables in place of the values."""
        match s:
            case ast.Block(statements=body) | ast.Profile(statements=body):
                return replace(s, statements=tuple(self.rewritten(each, heads) for each in body))
            case ast.For() | ast.ForEach() | ast.While() | ast.If():
                within = (*heads, s) if isinstance(s, ast.For) else heads
                s = with_blocks(s, lambda body: tuple(self.rewritten(each, within) for each in body))
                return replace(s, condition=self.given(s.condition, heads)[1]) if isinstance(s, ast.If) else s
            case ast.TargetIncrement() if not self.counts.has_density(s):
                return s
            case _:
                recorded, given = self.given(s, heads)
                self.statements += recorded
                return given

    def heads(self, n: ast.Node, heads: tuple[ast.For, ...]) -> tuple[ast.For, ...] | None:
        own = super().heads(n, heads)
        return own if own is not None and not self.counts.depends(n) else None

    def recorded(self, entry: ast.Expr, value: ast.Expr, own: tuple[ast.For, ...]) -> Stmts:
        """In transformed data, with locals replaced by what they are computed of."""
        alone = self.of_data(value)
        read = {v.name for v in variables((alone, *(e for h in own for e in (h.lower, h.upper))))}
        known = {*self.sizes, *(h.variable for h in own)}
        if read - known or read & self.missing:
            raise unpredicted(
                f"`{text_of(value)}` depends on all rows",
                value.span,
                "Compute it of the data, in transformed data, where it keeps its value from the fit; "
                "values that are missing have none.",
            )
        heads = [(h.variable, h.lower, h.upper) for h in own]
        return loops(heads, code("a = b;", value.span, a=entry, b=alone), value.span)

    def of_data(self, e: ast.Expr) -> ast.Expr:
        """The expression with the values of locals in place of these, where they have one value."""

        def value(n: ast.Node) -> ast.Expr | None:
            if (size := self.counts.size_of(n)) is not None:
                return size
            if not isinstance(n, ast.Variable) or n not in self.facts.symbols:
                return None
            own = self.factors.definitions.get(self.facts.symbols[n], [])
            return self.of_data(own[0].value) if len(own) == 1 and not own[0].at else None

        return rewrite(e, value)


def without(program: ast.Program, gone: set[str]) -> tuple[Stmts, set[str]]:
    """Transformed data that do not depend on the data `gone`, and the variables that do."""
    lost = closure(
        gone, program.transformed_data, lambda s, lost_so_far: written(s) if mentions(s, lost_so_far) else ()
    )
    left = tuple(s for s in program.transformed_data if not written(s) & lost and not mentions(s, lost))
    return left, lost - gone


def refuse_of_each_other(body: Stmts, facts: Facts) -> None:
    """ModelError where new rows have no counterpart of a value."""
    for n in walk(body):
        if isinstance(n, ast.Call) and n.name.startswith(OF_EACH_OTHER) and symbols_read(n, facts):
            raise unpredicted(f"transformed data compute `{text_of(n)}`, which depends on all rows", n.span)
