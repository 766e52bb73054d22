"""Lints about densities: their support, their arguments, and changes of variables."""

import math
import re
from collections.abc import Container, Iterator, Mapping

import numpy as np

from ppl.arrays import NUMPY
from ppl.errors import Fix
from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.printer import declared, expression
from ppl.kernel.language.scope import AdLevel, BlockName, Symbol
from ppl.kernel.language.walk import base, parts, variables
from ppl.programs import lints
from ppl.programs.lints import Lint
from ppl.programs.nodes import Nodes
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD
from ppl.stdlib.record import Distribution
from ppl.stdlib.supports import SUPPORTS

Interval = tuple[float, float]

INTERVALS: dict[str, Interval] = {
    "positive": (0.0, math.inf),
    "nonnegative": (0.0, math.inf),
    "unit_interval": (0.0, 1.0),
    "open_unit": (0.0, 1.0),
}
WORDS: dict[Interval, str] = {(0.0, math.inf): "positive values", (0.0, 1.0): "the interval [0, 1]"}
LINEAR = frozenset(
    """
    to_vector to_row_vector to_matrix to_array_1d to_array_2d append_row append_col append_array sum mean head
    tail segment sub_row sub_col block row col diagonal rep_vector rep_row_vector rep_matrix rep_array reverse
    cumulative_sum sort_asc sort_desc
    """.split()
)
"""Functions whose derivative is constant, or a permutation: no Jacobian is missing."""

LINKS = {
    ("bernoulli", "theta"): "bernoulli_logit",
    ("binomial", "theta"): "binomial_logit",
    ("poisson", "lambda"): "poisson_log",
    ("neg_binomial_2", "mu"): "neg_binomial_2_log",
}
"""The family that takes an argument on the scale of a linear predictor."""

LEAST_MASS = 1e-3
"""Bounds that leave less of a prior than this are taken for a slip."""

NAMED_VARIANCE = re.compile(
    r"(\w+_)?(var|variance|sigma2|sigmasq|sigma_sq|sigma_squared|tau2|s2|sig2)(_\w+)?"
)


def densities(p: Nodes) -> Iterator[tuple[ast.Tilde, Distribution]]:
    """The `~` statements of the model block whose distribution is the library's."""
    for s in p.of(ast.Tilde, blocks=[BlockName.MODEL]):
        if (family := p.facts.library.families.get(s.distribution)) is not None:
            yield s, family


def parameter(p: Nodes, e: ast.Expr) -> ast.Declaration | None:
    """The declaration when `e` is a parameter, or entries of one."""
    symbol = p.facts.symbols.get(base(e))
    if symbol is None or symbol.block is not BlockName.PARAMETERS:
        return None
    return p.parameters.get(symbol.name)


# --- Supports and bounds -------------------------------------------------------------------------


def literal(e: ast.Expr | None, default: float) -> float:
    """The number an expression is; nan when only running the program tells."""
    match e:
        case None:
            return default
        case ast.IntLiteral(value=value):
            return float(value)
        case ast.RealLiteral(text=text):
            return float(text.replace("_", ""))
        case ast.Unary(op="-", operand=operand):
            return -literal(operand, default)
        case _:
            return math.nan


def allowed(t: ast.DeclaredType) -> Interval:
    """The values a declaration allows; nan for a bound that is no number."""
    if t.keyword in CONSTRAINT_BY_KEYWORD:
        return CONSTRAINT_BY_KEYWORD[t.keyword].interval
    bounds = ast.limits(t)
    return literal(bounds.get("lower"), -math.inf), literal(bounds.get("upper"), math.inf)


def exceeds(own: Interval, required: Interval) -> bool:
    """Whether an interval has values outside another; nan is given the benefit of the doubt."""
    return own[0] < required[0] or own[1] > required[1]


def with_bounds(d: ast.Declaration, text: str) -> str:
    """The declaration with other bounds."""
    plain = declared(d.type)
    bare = re.sub(r"<[^>]*>", "", plain)
    return re.sub(r"\b(int|real|vector|row_vector|matrix)\b", rf"\1<{text}>", bare, count=1) + f" {d.name};"


def redeclaration(alone: Container[ast.Declaration], d: ast.Declaration, text: str) -> Fix | None:
    """The declaration with bounds; none where it has some, a comment, or names beside this one."""
    plain = d in alone and not ast.limits(d.type) and "/" not in d.span.text
    return Fix(d.span, with_bounds(d, text)) if plain else None


def interval_text(required: Interval) -> str:
    return "lower=0, upper=1" if required == (0.0, 1.0) else "lower=0"


def empty_bounds(p: Nodes) -> Iterator[Lint]:
    """A parameter between a lower bound and an upper one that is not above it."""
    for d in p.program.parameters:
        lower, upper = allowed(d.type)
        if lower >= upper:
            yield lints.nothing_between(d.name, f"{lower:g}", f"{upper:g}", d.span)


def supports(p: Nodes) -> Iterator[Lint]:
    """A parameter whose declaration allows values where its own prior is zero."""
    for s, family in densities(p):
        d = parameter(p, s.left)
        if d is None or not isinstance(d.type, ast.SizedType):
            continue
        support = family.args[0][1]
        required = truncated(s) if s.truncation else INTERVALS.get(support)
        if required is not None and exceeds(allowed(d.type), required):
            text = truncation_text(s) if s.truncation else interval_text(required)
            what = "its truncated range" if s.truncation else WORDS[required]
            fix = redeclaration(p.alone, d, text)
            yield lints.bounds_contradict(
                d.name, s.distribution, what, with_bounds(d, text), s.left.span, fix
            )
        elif support in CONSTRAINT_BY_KEYWORD and d.type.keyword != support:
            must_be = SUPPORTS[support].must_be
            yield lints.bounds_contradict(d.name, s.distribution, f"what is {must_be}", support, s.left.span)


def truncated(s: ast.Tilde) -> Interval:
    assert s.truncation is not None
    return literal(s.truncation.lower, -math.inf), literal(s.truncation.upper, math.inf)


def truncation_text(s: ast.Tilde) -> str:
    assert s.truncation is not None
    sides = (("lower", s.truncation.lower), ("upper", s.truncation.upper))
    return ", ".join(f"{name}={expression(e)}" for name, e in sides if e is not None)


def excluded_priors(p: Nodes) -> Iterator[Lint]:
    """A parameter whose bounds lie in the tail of its own prior, of numbers."""
    for s, family in densities(p):
        d = parameter(p, s.left)
        values = {name: literal(e, math.nan) for (name, _), e in zip(family.args[1:], s.args, strict=False)}
        if d is None or s.truncation or family.args[0][1] != "real" or len(values) != len(s.args):
            continue
        (lower, upper), location = allowed(d.type), values.get("mu", math.nan)
        tail, bound = (family.lccdf, lower) if location < lower else (family.lcdf, upper)
        if tail is not None and (location < lower or location > upper):
            mass = math.exp(tail(NUMPY, np.float64(bound), *map(np.float64, values.values())))
            if mass < LEAST_MASS:
                prior = f"{s.distribution}({', '.join(map(expression, s.args))})"
                yield lints.prior_excluded(d.name, prior, f"{mass:.1g}", s.left.span)


def arguments(p: Nodes) -> Iterator[Lint]:
    """A parameter without the bounds that an argument requires, or a linear predictor in its place."""
    values = sole_values(p)
    for s, family in densities(p):
        for (name, support), e in zip(family.args[1:], s.args, strict=False):
            required, d = INTERVALS.get(support), parameter(p, e)
            if required is None:
                continue
            must_be = SUPPORTS[support].must_be
            if d is not None and exceeds(allowed(d.type), required):
                text = interval_text(required)
                fix = redeclaration(p.alone, d, text)
                yield lints.argument_unconstrained(d.name, name, s.distribution, must_be, text, e.span, fix)
            elif d is None and is_unbounded(p, values.get(p.facts.symbols.get(base(e)), e)):
                written, link = expression(e), LINKS.get((family.name, name))
                inverse = "inv_logit" if required == (0.0, 1.0) else "exp"
                fix = Fix(s.name_span, link) if link else Fix(e.span, f"{inverse}({written})")
                text = f"{link}(...)" if link else fix.text
                yield lints.linear_predictor(written, name, s.distribution, must_be, text, e.span, fix)


def sole_values(p: Nodes) -> Mapping[Symbol | None, ast.Expr]:
    """The values of variables that one statement alone assigns to."""
    values: dict[Symbol | None, list[ast.Expr]] = {}
    for target, value in p.definitions():
        values.setdefault(p.facts.symbols.get(base(target)), []).append(value)
    return {symbol: each[0] for symbol, each in values.items() if len(each) == 1}


def is_unbounded(p: Nodes, e: ast.Expr) -> bool:
    """Whether an expression is linear in parameters of which one takes every real value."""
    used = (parameter(p, v) for v in variables(e))
    free = any(d is not None and allowed(d.type) == (-math.inf, math.inf) for d in used)
    return free and is_linear(e, p.facts)


def uniform_bounds(p: Nodes) -> Iterator[Lint]:
    for s, family in densities(p):
        d = parameter(p, s.left)
        if family.name != "uniform" or d is None or len(s.args) != 2:
            continue
        bounds = ast.limits(d.type)
        ends = [expression(e) for e in s.args]
        written = [expression(bounds[side]) if side in bounds else "" for side in ("lower", "upper")]
        interval = (literal(s.args[0], math.nan), literal(s.args[1], math.nan))
        inside = not exceeds(allowed(d.type), interval) and not any(map(math.isnan, interval))
        if ends != written and not inside:
            text = f"lower={ends[0]}, upper={ends[1]}"
            fix = redeclaration(p.alone, d, text)
            yield lints.undeclared_hard_bounds(d.name, with_bounds(d, text), s.left.span, fix)


# --- Scales --------------------------------------------------------------------------------------


def variances(p: Nodes) -> Iterator[Lint]:
    """Where a standard deviation is wanted, a square or a name that says variance."""
    for s, family in densities(p):
        for (name, _), e in zip(family.args[1:], s.args, strict=False):
            root = square_root(e) if name == "sigma" else None
            if root is not None:
                yield lints.variance_for_scale(expression(e), s.distribution, root, e.span)


def square_root(e: ast.Expr) -> str | None:
    """The root of what is a variance by its form or its name."""
    match e:
        case ast.Binary(op="^" | ".^", left=left, right=ast.IntLiteral(value=2)):
            return expression(left)
        case ast.Call(name="square" | "variance", args=(inner,)):
            return expression(inner) if e.name == "square" else f"sd({expression(inner)})"
        case ast.Binary(op="*" | ".*", left=left, right=right) if expression(left) == expression(right):
            return expression(left)
        case ast.Variable(name=name) if NAMED_VARIANCE.fullmatch(name):
            return f"sqrt({name})"
        case _:
            return None


# --- Jacobians -----------------------------------------------------------------------------------


def jacobians(p: Nodes) -> Iterator[Lint]:
    """A nonlinear function of parameters on the left of `~`, in a program that adds no Jacobian by hand."""
    if p.of(ast.TargetIncrement, ast.JacobianIncrement):
        return
    curved = nonlinear_variables(p)
    for s in p.of(ast.Tilde, blocks=[BlockName.MODEL]):
        direct = not is_linear(s.left, p.facts)
        if direct or p.facts.symbols.get(base(s.left)) in curved:
            yield lints.needs_jacobian(expression(s.left), direct, s.left.span)


def nonlinear_variables(p: Nodes) -> set[Symbol]:
    """Variables that are assigned a nonlinear function of parameters."""
    targets = (base(target) for target, value in p.definitions() if not is_linear(value, p.facts))
    return {p.facts.symbols[target] for target in targets if target in p.facts.symbols}


def is_linear(e: ast.Expr, facts: Facts) -> bool:
    """Whether the derivative with respect to the parameters is constant."""
    if facts.levels.get(e) is AdLevel.DATA:
        return True
    match e:
        case ast.Binary(op="*" | ".*" | "/" | "./", left=left, right=right):
            data = [facts.levels[side] is AdLevel.DATA for side in (left, right)]
            scaled = data[0] and "/" not in e.op and is_linear(right, facts)
            return scaled or (data[1] and is_linear(left, facts))
        case ast.Call(name=name) if name not in LINEAR:
            return False
        case ast.Binary(op=op) if op not in ("+", "-"):
            return False
        case ast.Ternary() | ast.TupleLiteral():
            return False
        case _:
            return all(is_linear(part, facts) for part in parts(e))
