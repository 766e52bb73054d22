"""A density of many values as a loop over the densities of one: `y ~ normal(mu, s)` entry by entry."""

from collections.abc import Mapping, Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args, normalised
from ppl.kernel.language.facts import Facts, ResolvedCall
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, expr, integer, loops, variable
from ppl.records import dataclass, replace
from ppl.source import Span
from ppl.stdlib.record import Distribution
from ppl.stdlib.signatures import Match, split_commas
from ppl.types import INT, MATRIX, REAL, ROW_VECTOR, VECTOR, ArrayType, Type, rank

Exprs = tuple[ast.Expr, ...]

GLMS: Mapping[str, str] = {
    "normal_id_glm": "normal(alpha + x * beta, sigma)",
    "bernoulli_logit_glm": "bernoulli_logit(alpha + x * beta)",
    "poisson_log_glm": "poisson_log(alpha + x * beta)",
    "neg_binomial_2_log_glm": "neg_binomial_2_log(alpha + x * beta, phi)",
    "binomial_logit_glm": "binomial_logit(N, alpha + x * beta)",
    "categorical_logit_glm": "categorical_logit(alpha + (x * beta)')",
    "ordered_logistic_glm": "ordered_logistic(x * beta, c)",
}
"""One row of a regression in the words of its family, by the names of its record's arguments."""

AXES: Mapping[str, int] = {"vector": 1, "vectors": 1, "row_vector": 1, "matrix": 2}
"""How many axes one value has by the words of signatures."""

LOCALS: Mapping[Type, str] = {
    VECTOR: "vector[size(e)] v = e;",
    ROW_VECTOR: "row_vector[size(e)] v = e;",
    ArrayType(REAL): "array[size(e)] real v = e;",
    ArrayType(INT): "array[size(e)] int v = e;",
    MATRIX: "matrix[rows(e), cols(e)] v = e;",
}


@dataclass(frozen=True)
class DistributedEntry:
    """`left` has the distribution `name(args)`: of one entry inside the loops `heads`, after `before`."""

    left: ast.Expr
    name: str
    args: Exprs
    truncation: ast.Truncation | None = None
    before: Stmts = ()
    heads: tuple[tuple[str, ast.Expr, ast.Expr], ...] = ()

    @property
    def at(self) -> Exprs:
        """The entry, by the variables of the loops."""
        return tuple(variable(name, self.left.span) for name, _, _ in self.heads)

    def inside(self, body: Stmts, span: Span) -> Stmts:
        """Statements for each entry."""
        looped = loops([*self.heads], body, span)
        return (ast.Block(span, (*self.before, *looped)),) if self.before else looped


@dataclass(frozen=True)
class DensityEntries:
    """Densities taken apart; `names` gives what is declared for it names of its own."""

    facts: Facts
    names: FreshNames

    def of(self, s: ast.Tilde | ast.Call, own: Sequence[int] = ()) -> DistributedEntry:
        """The statement, or density, entry by entry, or as it stands where it has no such form.

        `own` is how many axes one value of each argument has, where the density does not tell.
        """
        called = self.facts.calls[s]
        left, args = left_and_args(s)
        if isinstance(s, ast.Tilde):
            whole = DistributedEntry(left, s.distribution, args, s.truncation)
        else:
            whole = DistributedEntry(left, normalised(s.name).rpartition("_")[0], args)
        own = own or own_axes(called)
        if len(own) <= len(args):
            return whole
        types = [self.facts.types[e] for e in (left, *args)]
        extra = [rank(t) - axes for t, axes in zip(types, own, strict=True)]
        if extra[0] <= 0 or any(n not in (0, extra[0]) for n in extra[1:]):
            return whole
        return self.split(whole, extra)

    def split(self, whole: DistributedEntry, extra: Sequence[int]) -> DistributedEntry:
        """With a loop for each of the axes that the left side has beside those of one value."""
        left, span = whole.left, whole.left.span
        fresh = [self.names.fresh("k") for _ in range(extra[0])]
        at = tuple(variable(name, span) for name in fresh)
        lengths = self.lengths(left, extra[0])
        heads = tuple((name, integer(1, span), n) for name, n in zip(fresh, lengths, strict=True))
        values = zip((left, *whole.args), extra, strict=True)
        entries = [self.entry(e, at) if axes else (e, ()) for e, axes in values]
        before = tuple(s for _, hoisted in entries for s in hoisted)
        left, *args = (e for e, _ in entries)
        out = replace(whole, left=left, args=tuple(args), before=before, heads=heads)
        return self.in_words_of_family(out)

    def in_words_of_family(self, d: DistributedEntry) -> DistributedEntry:
        if d.name not in GLMS:
            return d
        names = [name for name, _ in self.facts.library.families[d.name].args[1:]]
        call = expr(GLMS[d.name], d.left.span, **dict(zip(names, d.args, strict=True)))
        assert isinstance(call, ast.Call)
        return replace(d, name=call.name, args=call.args)

    def lengths(self, e: ast.Expr, axes: int) -> Exprs:
        first = "rows(e)" if self.facts.types[e] == MATRIX else "size(e)"
        second = "cols(e)" if self.facts.types[e] == MATRIX else "size(e[1])"
        return tuple(expr(text, e.span, e=e) for text in (first, second, "size(e[1, 1])")[:axes])

    def entry(self, e: ast.Expr, at: Exprs) -> tuple[ast.Expr, Stmts]:
        """Entry `at` of a container, and the declaration of a local that has it, if that is needed."""
        match e:
            case ast.Indexed(base=ast.Variable() as base, indices=indices):
                return indexed(base, composed(self.facts, indices, at)), ()
            case ast.Variable():
                return indexed(e, at), ()
        declaration = LOCALS.get(self.facts.types[e])
        if declaration is None:
            return indexed(e, at), ()
        name = self.names.fresh("each")
        return indexed(variable(name, e.span), at), code(declaration, e.span, e=e, v=name)


def composed(facts: Facts, indices: Sequence[ast.Index], at: Exprs) -> Exprs:
    """The indices of `base[indices][at]`, as far as they are known."""
    out, left = list[ast.Expr](), list(at)
    for i in indices:
        match i:
            case ast.SingleIndex(value=value) if not rank(facts.types[value]):
                out.append(value)
            case _ if not left:
                return tuple(out)
            case ast.SingleIndex(value=value):
                out.append(expr("e[k]", value.span, e=value, k=left.pop(0)))
            case ast.RangeIndex(lower=None):
                out.append(left.pop(0))
            case ast.RangeIndex(lower=lower):
                assert lower is not None
                out.append(expr("a + k - 1", lower.span, a=lower, k=left.pop(0)))
    return (*out, *left)


def indexed(e: ast.Expr, at: Exprs) -> ast.Expr:
    return ast.Indexed(e.span, e, tuple(ast.SingleIndex(e.span, i) for i in at)) if at else e


def own_axes(called: ResolvedCall) -> list[int]:
    """How many axes one value of each argument has; none where the density cannot be taken apart."""
    record = called.callee.record if isinstance(called, Match) else None
    return own_axes_of(record) if isinstance(record, Distribution) else []


def own_axes_of(family: Distribution) -> list[int]:
    """How many axes one value of the variate and of each parameter has."""
    if family.cores:
        return list(family.cores)
    left, _, others = family.signatures[0].partition("|")
    words = [word.strip().rpartition("]") for word in (left, *split_commas(others))]
    return [array.count("[") + array.count(",") + AXES.get(word.strip(), 0) for array, _, word in words]


def between(draw: Stmts, inside: ast.Expr, attempts: int, complaint: str, names: FreshNames) -> Stmts:
    """The statements of a draw, repeated until a draw is `inside`."""
    text = f'draw(); for (v in 1:n) {{ if (inside) break; draw(); }} if (!inside) reject("{complaint}");'
    tried = ast.IntLiteral(inside.span, attempts)
    parts = {"draw": draw, "inside": inside, "n": tried, "v": names.fresh("attempt")}
    return code(text, inside.span, **parts)
