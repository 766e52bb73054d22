"""Mathematics of the site: expressions of the language as MathML, which browsers typeset by themselves.

Formulas stand in the tables as expressions of the language. Here they are parsed and written as papers do:
`square(y - mu) / 2` is a fraction with a power. A function without a notation of its own keeps its name.
In formulas over single entries, `sum(j < i, e)` and `prod(j < i, e)` name what they run over.
"""

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache
from html import escape
from typing import Any, NamedTuple

from ppl.cli.site.markdown import prose
from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.parser import parse
from ppl.source import SourceText

LETTERS = (
    (0x391, "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho"),
    (0x3A3, "Sigma Tau Upsilon Phi Chi Psi Omega"),
)
CAPITALS = {name: code for first, names in LETTERS for code, name in enumerate(names.split(), first)}
GREEK = {name.lower(): chr(code + 32) for name, code in CAPITALS.items()}
GREEK |= {name: chr(code) for name, code in CAPITALS.items()}
UPRIGHT = [chr(code) for code in CAPITALS.values()]
NAME = re.compile(r"([A-Za-z]+?)_?(\d+|(?<=_)\w+)?")


class Binds(IntEnum):
    """How tightly the outermost operator of an expression binds."""

    LOOSE = 0
    SUM = 1
    PRODUCT = 2
    POWER = 3
    ATOM = 4


OPERATORS: Mapping[str, tuple[str, int]] = {
    "+": ("+", Binds.SUM),
    "-": ("−", Binds.SUM),
    "*": ("\u2062", Binds.PRODUCT),
    ".*": ("⊙", Binds.PRODUCT),
    "./": ("⊘", Binds.PRODUCT),
}
RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "="}
MATRICES = ("Sigma", "Q")
"""Variables by which a formula divides as by a matrix."""


class Typeset(NamedTuple):
    """MathML of an expression, and how tightly its outermost operator binds."""

    text: str
    level: Binds = Binds.ATOM


def displayed(formula: str, left: str = "") -> str:
    """The equation of two expressions; the declarations before that of `formula` follow on their own lines.

    Raises:
        ModelError: one of them cannot be parsed.
    """
    before, _, last = f"\n{formula}".rpartition(";\n")
    *local, result = parsed(f"{before}; real result = {last};" if before else f"real result = {last};")
    lines = [(f"{inner(left)}{mo('=')}" if left else "") + typeset(result.value).text]
    lines += [f"{name(s.name)}{mo('=')}{typeset(s.value).text}" for s in local]
    table = "".join(f"<mtr><mtd>{line}</mtd></mtr>" for line in lines)
    return (
        f'<div class="math"><math display="block"><mtable displaystyle="true">{table}</mtable></math></div>'
    )


def line(text: str, left: str = "") -> str:
    """A formula of the language as mathematics, the words behind it or alone as prose."""
    formula, _, words = text.partition("; ")
    before, _, right = formula.rpartition(" = ")
    try:
        return displayed(right, before or left) + (f"\n\n{prose(words)}" if words else "")
    except ModelError:
        return prose(text)


def inline(text: str) -> str:
    """An expression within a sentence."""
    return f"<math>{inner(text)}</math>"


def inner(text: str) -> str:
    (statement,) = parsed(f"real result = {text};")
    return typeset(statement.value).text


@cache
def parsed(statements: str) -> tuple[Any, ...]:
    free = re.sub(
        r"\b(lower|upper)\b", r"\1_", statements
    )  # arguments of a distribution, words of the language
    return parse(SourceText(f"model {{ {free} }}")).model


# --- Parts ---------------------------------------------------------------------------------------


def mi(text: str) -> str:
    upright = ' mathvariant="normal"' if text in UPRIGHT else ""
    return f"<mi{upright}>{text}</mi>"


def mo(sign: str) -> str:
    return f"<mo>{escape(sign)}</mo>"


def row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def between(left: str, inner: str, right: str) -> str:
    return row(mo(left), inner, mo(right))


def tight(expr: ast.Expr, level: int) -> str:
    """An expression as an operand that must bind at least as tightly as `level`."""
    markup = typeset(expr)
    return markup.text if markup.level >= level else between("(", markup.text, ")")


def name(text: str) -> str:
    """`mu_0` as a letter with an index."""
    letter, index = NAME.fullmatch(text).groups()  # type: ignore[union-attr]
    base = mi(GREEK.get(letter, letter))
    return f"<msub>{base}{mi(GREEK.get(index, index))}</msub>" if index else base


# --- Expressions ---------------------------------------------------------------------------------


def typeset(expr: ast.Expr | None) -> Typeset:
    match expr:
        case ast.IntLiteral(value=value):
            return Typeset(f"<mn>{value}</mn>")
        case ast.RealLiteral(text=text):
            return Typeset(f"<mn>{text.removesuffix('.0')}</mn>")
        case ast.Variable(name=text):
            return Typeset(name(text))
        case ast.Call(name=function, args=args) if function in REWRITTEN:
            return typeset(_rewritten(REWRITTEN[function], args))
        case ast.Call(name=function, args=args) if function in NOTATIONS:
            return NOTATIONS[function](*args)
        case ast.Call(name=function, args=args, bar=bar):
            word = (
                name(function) if "_" not in function or function == "E_q" else f"<mtext>{function}</mtext>"
            )
            first, *rest = [typeset(arg).text for arg in args] or [""]
            inner = first + (mo("|") if bar else mo(",")) + mo(",").join(rest) if rest else first
            return Typeset(row(word, between("(", inner, ")")))
        case ast.Indexed(base=base, indices=indices):
            return Typeset(f"<msub>{tight(base, Binds.ATOM)}{row(mo(',').join(map(_index, indices)))}</msub>")
        case ast.Transpose(operand=operand):
            return Typeset(f"<msup>{tight(operand, Binds.ATOM)}{mo('⊤')}</msup>", Binds.POWER)
        case ast.Unary(operand=operand):
            return Typeset(mo("−") + tight(operand, Binds.PRODUCT), Binds.SUM)
        case ast.Ternary(condition=condition, then=then, otherwise=otherwise):
            rows = (
                (then, f"<mtext>if </mtext>{typeset(condition).text}"),
                (otherwise, "<mtext>else</mtext>"),
            )
            cells = (f"<mtr><mtd>{typeset(e).text}</mtd><mtd>{when}</mtd></mtr>" for e, when in rows)
            return Typeset(row(mo("{"), f"<mtable>{''.join(cells)}</mtable>"))
        case ast.Binary():
            return _binary(expr)
        case _:
            raise AssertionError(expr)


def _binary(expr: ast.Binary) -> Typeset:
    match expr:
        case ast.Binary(op="^" | ".^", left=left, right=right):
            return Typeset(f"<msup>{tight(left, Binds.ATOM)}{row(typeset(right).text)}</msup>", Binds.POWER)
        case ast.Binary(op="*" | "/") if opposite := _opposite(expr):
            return Typeset(mo("−") + typeset(opposite).text, Binds.SUM)
        case ast.Binary(op="/", left=left, right=ast.Variable(name=matrix) as right) if matrix in MATRICES:
            return Typeset(tight(left, Binds.PRODUCT) + _inverse(right), Binds.PRODUCT)
        case ast.Binary(op="\\", left=left, right=right):
            return Typeset(_inverse(left) + tight(right, Binds.POWER), Binds.PRODUCT)
        case ast.Binary(op="/", left=left, right=right):
            return Typeset(f"<mfrac>{row(typeset(left).text)}{row(typeset(right).text)}</mfrac>", Binds.POWER)
        case ast.Binary(op=op, left=left, right=right):
            sign, level = OPERATORS.get(op) or (RELATIONS.get(op, op), Binds.LOOSE)
            if op == "*" and isinstance(right, ast.IntLiteral | ast.RealLiteral):
                sign = "·"
            return Typeset(tight(left, level) + mo(sign) + tight(right, level + (op in "-*")), level)


def _opposite(expr: ast.Expr) -> ast.Expr | None:
    """A product or fraction without the minus that its first factor has."""
    match expr:
        case ast.Unary(op="-", operand=operand):
            return operand
        case ast.Binary(op="*" | "/" as op, left=left, right=right):
            return (first := _opposite(left)) and ast.Binary(expr.span, op, first, right)
        case _:
            return None


def _inverse(matrix: ast.Expr) -> str:
    return f"<msup>{tight(matrix, Binds.ATOM)}{row(mo('−'), '<mn>1</mn>')}</msup>"


def _index(index: ast.Index) -> str:
    match index:
        case ast.SingleIndex(value=value):
            return typeset(value).text
        case ast.RangeIndex(lower=None, upper=None):
            return mo("·")
        case ast.RangeIndex(lower=lower, upper=upper):
            return mo(":").join(typeset(end).text if end else "" for end in (lower, upper))


# --- Functions that have a notation --------------------------------------------------------------

REWRITTEN: Mapping[str, str] = {
    "dot_product": "a' * b",
    "dot_self": "a' * a",
    "lbeta": "log(B(a, b))",
    "lchoose": "log(choose(a, b))",
    "lgamma": "log(Gamma(a))",
    "lmgamma": "log(multigamma(a, b))",
    "log1m": "log(1 - a)",
    "log1p": "log(1 + a)",
    "log1p_exp": "log(1 + exp(a))",
    "log_determinant_spd": "log(abs(a))",
    "log_modified_bessel_first_kind": "log(bessel(a, b))",
    "square": "a ^ 2",
    "tgamma": "Gamma(a)",
    "trace": "tr(a)",
    "diagonal": "diag(a)",
    "digamma": "psi(a)",
}
"""Functions whose notation is an expression of their arguments a and b."""


def _rewritten(template: str, args: tuple[ast.Expr, ...]) -> Any:
    (statement,) = parsed(f"real result = {template};")
    return _filled(statement.value, dict(zip("ab", args, strict=False)))


def _filled(expr: Any, args: Mapping[str, ast.Expr]) -> Any:
    match expr:
        case ast.Variable(name=text):
            return args.get(text, expr)
        case ast.Call(name=function, args=inner):
            return ast.Call(expr.span, function, tuple(_filled(arg, args) for arg in inner))
        case ast.Binary(op=op, left=left, right=right):
            return ast.Binary(expr.span, op, _filled(left, args), _filled(right, args))
        case ast.Transpose(operand=operand):
            return ast.Transpose(expr.span, _filled(operand, args))
        case _:
            return expr


def _log(value: ast.Expr) -> Typeset:
    bare = isinstance(value, ast.Variable | ast.IntLiteral) or getattr(value, "name", None) in BARE
    inner = typeset(value).text
    space = "<mspace width='0.17em'/>"
    return Typeset(row(space, mi("log"), space + inner if bare else between("(", inner, ")")))


def _over(sign: str) -> Callable[..., Typeset]:
    """`sum(x)`, or `sum(over, x)`."""

    def big(*args: ast.Expr) -> Typeset:
        *over, value = args
        below = f"<munder>{mo(sign)}{row(typeset(over[0]).text)}</munder>" if over else mo(sign)
        return Typeset(below + tight(value, Binds.PRODUCT), Binds.PRODUCT)

    return big


def _of_order(letter: str) -> Callable[..., Typeset]:
    return lambda order, x: Typeset(
        row(f"<msub>{mi(letter)}{row(typeset(order).text)}</msub>", between("(", typeset(x).text, ")"))
    )


NOTATIONS: Mapping[str, Callable[..., Typeset]] = {
    "abs": lambda x: Typeset(between("|", typeset(x).text, "|")),
    "bessel": _of_order("I"),
    "choose": lambda n, k: Typeset(
        between("(", f"<mfrac linethickness='0'>{row(typeset(n).text)}{row(typeset(k).text)}</mfrac>", ")")
    ),
    "log": _log,
    "multigamma": _of_order("Γ"),
    "norm2": lambda x: Typeset(between("‖", typeset(x).text, "‖")),
    "negative_infinity": lambda: Typeset(mo("−") + mi("∞"), Binds.SUM),
    "pi": lambda: Typeset(mi("π")),
    "positive_infinity": lambda: Typeset(mi("∞")),
    "prod": _over("∏"),
    "sqrt": lambda x: Typeset(f"<msqrt>{typeset(x).text}</msqrt>"),
    "sum": _over("∑"),
}
BARE = ("B", "Gamma", "abs", "bessel", "choose", "multigamma", "p", "q")
"""Functions whose logarithm needs no parentheses."""
