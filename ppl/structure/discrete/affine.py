"""Integer expressions as sums: a constant, and multiples of what cannot be taken apart further."""

from collections.abc import Mapping

from ppl.kernel.language import ast
from ppl.kernel.language.printer import expression
from ppl.programs.rewriting import integer
from ppl.records import dataclass
from ppl.source import Span


@dataclass(frozen=True)
class Affine:
    """constant + the sum of `times` x the expression, by the text of each."""

    constant: int
    times: Mapping[str, int]
    atoms: Mapping[str, ast.Expr]

    def plus(self, other: "Affine", sign: int = 1) -> "Affine":
        sums = {t: self.times.get(t, 0) + sign * other.times.get(t, 0) for t in {**self.times, **other.times}}
        times = {text: k for text, k in sums.items() if k}
        return Affine(self.constant + sign * other.constant, times, {**self.atoms, **other.atoms})

    @property
    def same(self) -> tuple[tuple[str, int], ...]:
        """The common part of two expressions that differ by a constant."""
        return tuple(sorted(self.times.items()))


def affine(e: ast.Expr) -> Affine:
    match e:
        case ast.IntLiteral(value=value):
            return Affine(value, {}, {})
        case ast.Unary(op="-", operand=operand):
            return Affine(0, {}, {}).plus(affine(operand), -1)
        case ast.Unary(op="+", operand=operand):
            return affine(operand)
        case ast.Binary(op="+", left=left, right=right):
            return affine(left).plus(affine(right))
        case ast.Binary(op="-", left=left, right=right):
            return affine(left).plus(affine(right), -1)
        case ast.Binary(op="*", left=left, right=right):
            a, b = affine(left), affine(right)
            if a.times and b.times:
                return atom(e)
            known, other = (b, a) if a.times else (a, b)
            k = known.constant
            times = {text: k * n for text, n in other.times.items() if k * n}
            return Affine(k * other.constant, times, other.atoms)
        case _:
            return atom(e)


def atom(e: ast.Expr) -> Affine:
    text = expression(e)
    return Affine(0, {text: 1}, {text: e})


def known(e: ast.Expr) -> int | None:
    """The value of an expression of literals."""
    form = affine(e)
    return None if form.times else form.constant


def tidy(e: ast.Expr) -> ast.Expr:
    """The expression with its constants gathered: `n + 1 - 1` is `n`."""
    form = affine(e)
    if sum(isinstance(n, ast.IntLiteral) for n in constants(e)) < 2 and not (
        isinstance(e, ast.Binary) and known(e) is not None
    ):
        return e
    return written_out(form, e.span)


def constants(e: ast.Expr) -> list[ast.Expr]:
    """The literals that a sum is made of."""
    match e:
        case ast.Binary(op="+" | "-", left=left, right=right):
            return [*constants(left), *constants(right)]
        case ast.IntLiteral():
            return [e]
        case _:
            return []


def plus(e: ast.Expr, n: int) -> ast.Expr:
    """`e + n`, simplified."""
    form = affine(e)
    return written_out(Affine(form.constant + n, form.times, form.atoms), e.span)


def minus(a: ast.Expr, b: ast.Expr) -> ast.Expr:
    return written_out(affine(a).plus(affine(b), -1), a.span)


def written_out(a: Affine, span: Span) -> ast.Expr:
    out: ast.Expr | None = None
    for text, k in sorted(a.times.items(), key=lambda item: item[1] < 0):
        part = a.atoms[text]
        if abs(k) != 1:
            part = ast.Binary(span, "*", integer(abs(k), span), part)
        if out is None:
            out = part if k > 0 else ast.Unary(span, "-", part)
        else:
            out = ast.Binary(span, "+" if k > 0 else "-", out, part)
    if out is None:
        return integer(a.constant, span)
    if a.constant:
        out = ast.Binary(span, "+" if a.constant > 0 else "-", out, integer(abs(a.constant), span))
    return out
