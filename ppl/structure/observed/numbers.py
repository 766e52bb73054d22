"""Counts of rows and groups that a program reads as numbers, `x / sqrt(N)`, not as sizes or bounds.

As numbers they are those of the fit: what new rows add does not depend on how many are predicted at once.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from ppl.kernel.language import ast
from ppl.kernel.language.calls import DENSITIES, left_and_args, outcome_of
from ppl.kernel.language.facts import Facts, UserMatch
from ppl.kernel.language.scope import Symbol
from ppl.kernel.language.walk import heads, parts, variables, walk
from ppl.programs.rewriting import expr, text_of
from ppl.records import dataclass
from ppl.stdlib.signatures import match_pattern, parse_signature
from ppl.structure.definitions import SIZES, Exprs, symbols_in
from ppl.structure.factors import Factors, sizes_of_variable
from ppl.types import INT, OWN_AXES, ROW_VECTOR, core, rank


@dataclass(frozen=True)
class Counts:
    """The ints that count rows and groups in a program, `symbols`, and sizes that are declared with these.

    `numbers` are the ints that are read as numbers.
    """

    factors: Factors
    symbols: frozenset[Symbol]
    numbers: frozenset[ast.Expr]
    declared: Mapping[Symbol, Exprs]
    """The sizes of all variables."""

    @classmethod
    def of(cls, factors: Factors) -> "Counts":
        facts, p = factors.facts, factors.program
        declared = {
            facts.symbols[n]: sizes_of_variable(n)
            for n in walk(p)
            if isinstance(n, ast.Declaration) and n in facts.symbols
        }
        blocks = (*p.transformed_data, *p.transformed_parameters, *p.model)
        return cls(factors, counts_of(factors), numbers_in(blocks, facts), declared)

    def is_number(self, n: ast.Node) -> bool:
        return n in self.numbers

    def is_count(self, n: ast.Node) -> bool:
        """Whether an expression is such an int, or the size of a variable that is one."""
        if isinstance(n, ast.Variable):
            return self.factors.facts.symbols.get(n) in self.symbols
        size = self.size_of(n)
        return size is not None and any(map(self.is_count, variables(size)))

    def size_of(self, n: ast.Node) -> ast.Expr | None:
        """The size that a call such as `rows(X)` is of, as declared; None for any other node."""
        match n:
            case ast.Call(name=name, args=(ast.Variable() as v,)) if name in SIZES and name != "dims":
                sizes = self.declared.get(self.factors.facts.symbols[v], ())
                axes = OWN_AXES.get(core(self.factors.facts.types[v]), 0)
                if not sizes:
                    return None
                if name in ("rows", "cols") and axes < 2:
                    is_long = (core(self.factors.facts.types[v]) == ROW_VECTOR) == (name == "cols")
                    return sizes[-1] if is_long else None
                if name in ("rows", "cols"):
                    return sizes[-2] if name == "rows" else sizes[-1]
                if name == "size" and (len(sizes) > axes or axes < 2):
                    return sizes[0]
                return reduce(lambda a, b: expr("a * b", n.span, a=a, b=b), sizes)
            case _:
                return None

    def reduces(self, n: ast.Call | ast.Binary) -> bool:
        """Whether one value is computed of containers with all rows, by a function that is no density."""
        if isinstance(n, ast.Call) and (n.name.endswith(NOT_VALUES) or n.name in SIZES):
            return False
        facts = self.factors.facts
        containers = [e for e in parts(n) if rank(facts.types.get(e, INT))]
        read = (v for e in containers for v in variables(e) if v in facts.symbols)
        return any(
            self.symbols & {facts.symbols[c] for c in variables(self.declared.get(facts.symbols[v], ()))}
            for v in read
        )

    def depends(self, n: ast.Node) -> bool:
        """Whether a value depends on parameters, other than by their sizes."""
        if self.size_of(n) is not None:
            return False
        return self.factors.depends(n) if isinstance(n, ast.Variable) else any(map(self.depends, below(n)))

    def has_density(self, s: ast.TargetIncrement) -> bool:
        """Whether an increment has a density."""
        return any(outcome_of(n) is not None for n in walk(self.factors.computed_of((s.value,))))


def below(n: ast.Node) -> tuple[ast.Node, ...]:
    """The expressions directly inside a node, indices too."""
    indices = n.indices if isinstance(n, ast.Indexed) else ()
    return (*parts(n), *(e for i in indices for e in parts(i)))


NOT_VALUES = (*DENSITIES, "_lcdf", "_lccdf", "_cdf", "_rng", "_lp", "target")
"""How functions end that are terms, or draws."""


def counts_of(factors: Factors) -> frozenset[Symbol]:
    """The ints that count rows, or groups with parameters, and those computed of these or of all rows."""
    facts, data = factors.facts, factors.data
    sizes = [size for name in factors.outcomes for size in factors.sizes[name][:1]]
    sizes += [size for d in factors.program.parameters for size in sizes_of_variable(d)]
    counts = {facts.symbols[v] for v in variables(sizes) if facts.symbols[v].name in data}
    by_row = {
        facts.symbols[d] for name, d in data.items() if factors.rows & {*map(text_of, factors.sizes[name])}
    }

    def is_count(symbol: Symbol) -> bool:
        own = factors.all_definitions[symbol]
        if symbol.name not in data and (len(own) > 1 or own[0].loops or own[0].at):
            return False
        read = [e for d in own for e in (d.value, *d.decided, *(h for s in d.loops for h in heads(s)))]
        of_rows = by_row if symbol.name in data else set()
        return bool(symbols_in(read, facts) & (counts | of_rows)) and not any(map(factors.depends, read))

    ints = {symbol for symbol in factors.all_definitions if symbol.type == INT}
    while more := {symbol for symbol in ints - counts if is_count(symbol)}:
        counts |= more
    return frozenset(counts)


def numbers_in(
    body: ast.Node | Iterable[ast.Node], facts: Facts, seen: frozenset[str] = frozenset()
) -> frozenset[ast.Expr]:
    """The ints that are promoted to reals, with the operands of their sums and products.

    `seen` are the functions that are being read.
    """
    out = {e for n in walk(body) for e in promoted(n, facts, seen) if facts.types.get(e) == INT}
    left = [*out]
    while left:
        match left.pop():
            case ast.Binary(op="+" | "-" | "*") | ast.Unary() as e:
                more = parts(e)
                out |= {*more}
                left += more
    return frozenset(out)


def promoted(n: ast.Node, facts: Facts, seen: frozenset[str]) -> Iterator[ast.Expr]:
    """The operands of a node that it takes as reals."""
    match n:
        case ast.Declaration(value=value) if value is not None and n.type.keyword != "int":
            yield value
        case ast.Assignment(target=target, op="=", value=value) if core(facts.types[target]) != INT:
            yield value
        case ast.Ternary(then=then, otherwise=otherwise) if facts.types[n] != INT:
            yield from (then, otherwise)
        case ast.ArrayLiteral(items=items) | ast.RowVectorLiteral(items=items):
            if core(facts.types[n]) != INT:
                yield from items
        case ast.Tilde():
            left, args = left_and_args(n)
            yield from taken_as_reals(n, (left, *args), facts, seen)
        case ast.Assignment(target=target, value=value):
            yield from taken_as_reals(n, (target, value), facts, seen)
        case ast.Call(args=args):
            yield from taken_as_reals(n, args, facts, seen)
        case ast.Binary() | ast.Unary():
            yield from taken_as_reals(n, parts(n), facts, seen)


def taken_as_reals(
    n: ast.Node, args: tuple[ast.Expr, ...], facts: Facts, seen: frozenset[str]
) -> Iterator[ast.Expr]:
    """The arguments that the callee takes as reals, or uses as such only."""
    called = facts.calls.get(n)
    if isinstance(called, UserMatch):
        f = called.function
        for e, t, own in zip(args, f.args, f.definition.args, strict=False):
            if core(t) != INT or (t == INT and is_number(own.name, f.definition, facts, seen)):
                yield e
    elif called is not None:
        for e, pattern in zip(args, parse_signature(called.overload.signature).args, strict=False):
            if match_pattern(pattern, INT, {}) == 1:
                yield e


def is_number(name: str, f: ast.FunctionDef, facts: Facts, seen: frozenset[str]) -> bool:
    """Whether a function reads an int only as a number, never as a size, bound or index."""
    if f.name in seen:
        return True
    whole = next((d for d in facts.functions if d.name == f.name and d.body is not None), f)
    read = [v for v in variables(whole.body or ()) if v.name == name]
    numbers = numbers_in(whole.body or (), facts, seen | {f.name})
    if whole.returns.keyword != "int":
        numbers |= {n.value for n in walk(whole.body or ()) if isinstance(n, ast.Return) and n.value}
    return bool(read) and all(v in numbers for v in read)
