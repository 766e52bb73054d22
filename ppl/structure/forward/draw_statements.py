"""One `~` statement as the statements that draw its left side."""

from collections.abc import Sequence
from functools import reduce
from types import MappingProxyType

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.printer import expression, unsized
from ppl.kernel.language.scope import AdLevel
from ppl.kernel.language.walk import variables
from ppl.programs.entries import DensityEntries, DistributedEntry, between, own_axes_of
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, expr
from ppl.records import dataclass
from ppl.source import Span
from ppl.stdlib.record import Distribution
from ppl.structure.refused import not_simulated as refused
from ppl.types import INT, REAL, ROW_VECTOR, Type, array_dims, core, element_type, rank

PLAIN = ("real", "int", "vector", "row_vector", "matrix")
FROM_ZERO = ("positive", "nonnegative", "unit_interval", "open_unit", "count", "trials", "binary")
TO_ONE = ("unit_interval", "open_unit", "binary")

SIGNS = {"lower": ">=", "upper": "<="}
DRAWS_TRIED = 100_000
"""Draws that are tried for one that lies between bounds."""


DRAWS = MappingProxyType(
    {
        "binomial_logit": "binomial_rng(N, inv_logit(alpha))",
        "multi_normal_prec": "multi_normal_rng(mu, inverse_spd(Omega))",
        "poisson": "lambda == 0 ? 0 : poisson_rng(lambda)",
    }
)
"""Draws by the names of the record's arguments, where there is no _rng of the name, or it takes less."""


def draw_of(family: Distribution, args: Sequence[ast.Expr], span: Span) -> ast.Expr:
    """A draw of a distribution in `DRAWS`."""
    names = [own for own, _ in family.args[1:]]
    return expr(DRAWS[family.name], span, **dict(zip(names, args, strict=True)))


@dataclass(frozen=True)
class Drawing:
    """Facts about the program: its types, the declared parameters, the names that are drawn, and
    those of transformed parameters; `repeated` names have several `~` statements; `functions` are the
    program's own."""

    facts: Facts
    parameters: dict[str, ast.Declaration]
    drawn: frozenset[str]
    outputs: frozenset[str]
    repeated: frozenset[str]
    functions: dict[str, ast.FunctionDef]
    names: FreshNames

    def is_random(self, e: ast.Expr) -> bool:
        """Whether a value is another one in each simulation."""
        level = self.facts.levels.get(e, AdLevel.PARAMETER)
        return level is AdLevel.PARAMETER or any(v.name in self.drawn for v in variables(e))


def root(left: ast.Expr) -> ast.Variable | None:
    """The variable that is drawn, whole or an entry of it."""
    match left:
        case ast.Variable():
            return left
        case ast.Indexed(base=ast.Variable() as base, indices=indices):
            return base if all(isinstance(i, ast.SingleIndex) for i in indices) else None
        case ast.Call(name="to_vector", args=(ast.Variable() as base,)):
            return base
    return None


def drawn(tilde: ast.Tilde, known: Drawing) -> Stmts:
    """The statements, of a variable or an entry of one; raises ModelError for what has no counterpart."""
    variable = root(tilde.left)
    assert variable is not None
    if own_rng := known.functions.get(f"{tilde.distribution}_rng"):
        return _by_own(tilde, own_rng, known)
    family = known.facts.library.families.get(tilde.distribution)
    if family is None or (family.rng is None and family.name not in DRAWS):
        raise refused(f"there is no {tilde.distribution}_rng", tilde.name_span)
    left = variable if isinstance(tilde.left, ast.Call) else tilde.left
    alone = isinstance(left, ast.Variable) and variable.name not in known.repeated
    once = () if alone else _once(left, known.facts.types[left])
    declared = known.parameters.get(variable.name)
    checks = _checks(tilde, family, declared, known)
    if declared is not None:
        _refuse_constrained(tilde, family, declared, known)
    draws = _by_entry(tilde, family, left, checks, known)
    is_sorted = declared is not None and declared.type.keyword.endswith("ordered")
    return (*once, *draws, *(code("v = sort_asc(v);", tilde.span, v=variable.name) if is_sorted else ()))


def _by_own(tilde: ast.Tilde, rng: ast.FunctionDef, known: Drawing) -> Stmts:
    """By an _rng that the program defines, which draws the left side whole."""
    own, returned = str(known.facts.types[tilde.left]), unsized(rng.returns)
    if own != returned or tilde.truncation or isinstance(tilde.left, ast.Call):
        text = expression(tilde.left)
        raise refused(f"{rng.name} draws a {returned}, and `{text}` is a {own} or truncated", tilde.span)
    is_entry = isinstance(tilde.left, ast.Indexed)
    once = _once(tilde.left, known.facts.types[tilde.left]) if is_entry else ()
    value = ast.Call(tilde.span, rng.name, tilde.args)
    return (*once, *code("a = b;", tilde.span, a=tilde.left, b=value))


def _once(left: ast.Expr, own: Type) -> Stmts:
    """An entry with two `~` statements has the product of their densities, which no draw of one follows."""
    complaint = f'reject("{_plain(expression(left))} has two ~ statements");'
    if own == INT:
        return code(f"if (e > -2147483647) {complaint}", left.span, e=left)
    if rank(own) == 0:
        return code(f"if (!is_nan(e)) {complaint}", left.span, e=left)
    if rank(own) == 1 and element_type(own) == REAL:
        return code(f"if (size(e) > 0 && !is_nan(e[1])) {complaint}", left.span, e=left)
    return ()


def _plain(text: str) -> str:
    return text.replace('"', "'")


def _refuse_constrained(
    tilde: ast.Tilde, family: Distribution, declared: ast.Declaration, known: Drawing
) -> None:
    """Of structured types only what a distribution over that very set draws, and sorted iid entries."""
    keyword = declared.type.keyword
    if keyword in PLAIN or family.args[0][1] == keyword:
        return
    exchangeable = isinstance(tilde.left, ast.Variable) and not array_dims(known.facts.types[tilde.left])
    if keyword in ("ordered", "positive_ordered"):
        if exchangeable and all(rank(known.facts.types[a]) == 0 for a in tilde.args):
            return
        raise refused(
            f"`{declared.name}` is {keyword}, and only entries with the same prior can be drawn and sorted",
            tilde.span,
        )
    raise refused(f"`{declared.name}` is a {keyword}, which {family.name} does not draw", tilde.span)


def _checks(
    tilde: ast.Tilde, family: Distribution, declared: ast.Declaration | None, known: Drawing
) -> dict[str, ast.Expr]:
    """The bounds "lower" and "upper" of a draw, outside of which it is tried again.

    A prior cut off at a declared bound is not normalised: to draw it alone again is right where what is cut
    off does not depend on other parameters, or `T[,]` normalises. Else all is drawn again, as declarations
    are checked at the end: then the joint density is cut off, which is what the program says.
    """
    t, support = tilde.truncation, family.args[0][1]
    checks = {side: e for side in SIGNS if (e := getattr(t, side, None)) is not None}
    random = any(map(known.is_random, tilde.args))
    items = ast.limits(declared.type) if declared else {}
    if declared and declared.type.keyword == "positive_ordered":
        zero = ast.IntLiteral(declared.span, 0)
        known.facts.levels[zero] = AdLevel.DATA
        items["lower"] = zero
    for side in SIGNS:
        bound, taken = items.get(side), checks.get(side)
        if bound is None or implied(side, bound, support, tilde.distribution, tilde.args):
            continue
        if taken is not None and expression(taken) == expression(bound):
            continue
        if rank(known.facts.types.get(bound, INT)):
            named = declared.name if declared else ""
            raise refused(f"`{named}` has bounds of its own for each entry", tilde.span)
        if not random and not known.is_random(bound) and taken is None:
            checks[side] = bound  # else the whole simulation is drawn again
    return checks


def implied(side: str, bound: ast.Expr, support: str, name: str, args: Sequence[ast.Expr]) -> bool:
    """Whether a distribution, its variate with such support, has no draw beyond the bound."""
    if name == "uniform" and len(args) == 2:
        return expression(args[side == "upper"]) == expression(bound)
    try:
        value = float(expression(bound))
    except ValueError:
        return False
    if side == "lower":
        return (support in FROM_ZERO and value <= 0) or (support == "category" and value <= 1)
    return support in TO_ONE and value >= 1


def _by_entry(
    tilde: ast.Tilde, family: Distribution, left: ast.Expr, checks: dict[str, ast.Expr], known: Drawing
) -> Stmts:
    """One value of the distribution after the other."""
    own, text, facts = known.facts.types[left], expression(left), known.facts
    one, *of_args = own_axes_of(family)
    axes = rank(own) - one
    if not one and axes > 2:
        raise refused("a `~` of more than two axes", tilde.span)
    if one and checks:
        raise refused("draws of a multivariate distribution may violate the bounds", tilde.span)
    if one and family.discrete:
        raise refused(f"the number of trials of {family.name} follows from its outcome only", tilde.span)
    if one and axes > 1:
        raise refused("a `~` of more than one axis of vectors", tilde.span)
    extra = [max(rank(facts.types[a]) - n, 0) for a, n in zip(tilde.args, of_args, strict=False)]
    for arg, more in zip(tilde.args, extra, strict=False):
        if more and (more != axes or axes > 1):
            raise refused(f"`{expression(arg)}` has other axes than `{text}`", tilde.span)
    whole = DistributedEntry(left, family.name, tilde.args)
    d = DensityEntries(facts, known.names).split(whole, [axes, *extra]) if axes else whole
    is_sized = family.rng_args[:1] == (("K", "positive_count"),)
    rows = (expr("rows(e)", tilde.span, e=d.left),) if is_sized else ()
    value: ast.Expr = ast.Call(tilde.span, f"{d.name}_rng", (*rows, *d.args))
    if family.rng is None:
        value = draw_of(family, d.args, tilde.span)
    turned = one and core(own) == ROW_VECTOR
    draw = code("a = b;", tilde.span, a=d.left, b=ast.Transpose(tilde.span, value) if turned else value)
    inside = [expr(f"a {SIGNS[side]} b", tilde.span, a=d.left, b=e) for side, e in checks.items()]
    if inside:
        both = reduce(lambda a, b: ast.Binary(tilde.span, "&&", a, b), inside)
        complaint = f"no draw of {_plain(text)} lies between its bounds"
        draw = between(draw, both, DRAWS_TRIED, complaint, known.names)
    return d.inside(draw, tilde.span)
