"""One `~` statement as the statements that draw its left side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ppl.errors import ModelError
from ppl.forward.refused import refused
from ppl.frontend import ast
from ppl.frontend.facts import Facts
from ppl.frontend.printer import commas, expression, indent, unsized
from ppl.frontend.scope import Level
from ppl.frontend.walk import variables
from ppl.stdlib.record import Distribution
from ppl.types import INT, MATRIX, REAL, ROW_VECTOR, Array, Type, array_dims, core, element_type, rank

Lines = Iterator[str]

SCALARS = ("reals", "ints", "real", "int")
"""How signatures call the variate of a univariate distribution."""
PLAIN = ("real", "int", "vector", "row_vector", "matrix")
FROM_ZERO = ("positive", "nonnegative", "unit_interval", "open_unit", "count", "trials", "binary")
TO_ONE = ("unit_interval", "open_unit", "binary")

DRAWS_TRIED = 100_000
"""Draws that are tried for one that lies between bounds."""


@dataclass(frozen=True)
class Drawing:
    """What is known of the program: its facts, the declared parameters, the names that are drawn, and
    those of transformed parameters; `repeated` names have several `~` statements; `functions` are the
    program's own."""

    facts: Facts
    parameters: dict[str, ast.Declaration]
    drawn: frozenset[str]
    outputs: frozenset[str]
    repeated: frozenset[str]
    functions: dict[str, ast.FunctionDef]

    def is_random(self, e: ast.Expr) -> bool:
        """Whether a value is another one in each simulation."""
        return self.facts.levels.get(e, Level.PARAMETER) is Level.PARAMETER or any(
            v.name in self.drawn for v in variables(e)
        )


def root(left: ast.Expr) -> ast.Variable | None:
    """The variable that is drawn, whole or an entry of it."""
    match left:
        case ast.Variable():
            return left
        case ast.Indexed(base=ast.Variable() as base, indices=indices) if all(
            isinstance(i, ast.SingleIndex) for i in indices
        ):
            return base
        case ast.Call(name="to_vector", args=(ast.Variable() as base,)):
            return base
    return None


def no_variable(tilde: ast.Tilde) -> ModelError:
    what = f"`{expression(tilde.left)}` on the left of ~ is not a variable, nor one entry of one"
    return refused(what, tilde.span)


def drawn(tilde: ast.Tilde, known: Drawing) -> Lines:
    """The statements; raises ModelError for what has no counterpart."""
    variable = root(tilde.left)
    if variable is None:
        raise refused(
            f"`{expression(tilde.left)}` on the left of ~ is not a variable, nor an entry of one", tilde.span
        )
    if own_rng := known.functions.get(f"{tilde.distribution}_rng"):
        yield from _by_own(tilde, own_rng, known)
        return
    family = known.facts.library.families.get(tilde.distribution)
    if family is None or family.rng is None:
        raise refused(f"there is no {tilde.distribution}_rng", tilde.name_span)
    whole = isinstance(tilde.left, ast.Call)
    left = variable if whole else tilde.left
    own = known.facts.types[left]
    if not isinstance(left, ast.Variable) or variable.name in known.repeated:
        yield from _once(left, own)
    univariate = family.signatures and family.signatures[0].split("|")[0].strip() in SCALARS
    declared = known.parameters.get(variable.name)
    checks = _checks(tilde, family, declared, known)
    if declared is not None:
        _refuse_constrained(tilde, family, declared, known)
    if univariate:
        yield from _univariate(tilde, family, left, own, checks, known)
    else:
        if checks:
            raise refused("draws of a multivariate distribution may violate the bounds", tilde.span)
        yield from _multivariate(tilde, family, left, own, known)
    if declared is not None and declared.type.keyword.endswith("ordered"):
        yield f"{variable.name} = sort_asc({variable.name});"


def _by_own(tilde: ast.Tilde, rng: ast.FunctionDef, known: Drawing) -> Lines:
    """By an _rng that the program defines, which draws the left side whole."""
    own, drawn = str(known.facts.types[tilde.left]), unsized(rng.returns)
    if own != drawn or tilde.truncation or isinstance(tilde.left, ast.Call):
        text = expression(tilde.left)
        raise refused(f"{rng.name} draws a {drawn}, and `{text}` is a {own} or truncated", tilde.span)
    if isinstance(tilde.left, ast.Indexed):
        yield from _once(tilde.left, known.facts.types[tilde.left])
    yield f"{expression(tilde.left)} = {rng.name}({commas(tilde.args)});"


def _once(left: ast.Expr, own: Type) -> Lines:
    """An entry with two `~` statements has the product of their densities, which no draw of one follows."""
    text = expression(left)
    if own == INT:
        yield f'if ({text} > -2147483647) reject("{_plain(text)} has two ~ statements");'
    elif rank(own) == 0:
        yield f'if (!is_nan({text})) reject("{_plain(text)} has two ~ statements");'
    elif rank(own) == 1 and element_type(own) == REAL:
        first = f"size({text}) > 0 && !is_nan({text}[1])"
        yield f'if ({first}) reject("{_plain(text)} has two ~ statements");'


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
) -> list[str]:
    """Conditions on a draw `{}`, by which draws outside of bounds are tried again.

    A prior cut off at a declared bound is not normalised: to draw it alone again is right where what is cut
    off does not depend on other parameters, or `T[,]` normalises. Else all is drawn again, as declarations
    are checked at the end: then the joint density is cut off, which is what the program says.
    """
    t, support = tilde.truncation, family.args[0][1]
    cut = {"lower": t.lower if t else None, "upper": t.upper if t else None}
    checks = {side: e for side, e in cut.items() if e is not None}
    random = any(map(known.is_random, tilde.args))
    items = ast.limits(declared.type) if declared else {}
    if declared and declared.type.keyword == "positive_ordered":
        zero = ast.IntLiteral(declared.span, 0)
        known.facts.levels[zero] = Level.DATA
        items["lower"] = zero
    for side in ("lower", "upper"):
        bound = items.get(side)
        if bound is None or _implied(side, bound, support, tilde):
            continue
        taken = cut[side]
        if taken is not None and expression(taken) == expression(bound):
            continue
        if rank(known.facts.types.get(bound, INT)):
            raise refused(f"`{tilde_name(declared)}` has bounds of its own for each entry", tilde.span)
        if random or known.is_random(bound) or taken is not None or rank(known.facts.types.get(bound, INT)):
            continue  # the whole simulation is drawn again: what is cut off depends on other parameters
        checks[side] = bound
    signs = {"lower": ">=", "upper": "<="}
    return [f"{{}} {signs[side]} {_operand(e)}" for side, e in checks.items()]


def tilde_name(declared: ast.Declaration | None) -> str:
    return declared.name if declared else ""


def _operand(e: ast.Expr) -> str:
    text = expression(e)
    return text if isinstance(e, ast.Variable | ast.IntLiteral | ast.RealLiteral) else f"({text})"


def _implied(side: str, bound: ast.Expr, support: str, tilde: ast.Tilde) -> bool:
    """Whether the distribution has no draw beyond the bound."""
    if tilde.distribution == "uniform" and len(tilde.args) == 2:
        return expression(tilde.args[side == "upper"]) == expression(bound)
    try:
        value = float(expression(bound))
    except ValueError:
        return False
    if side == "lower":
        return (support in FROM_ZERO and value <= 0) or (support == "category" and value <= 1)
    return support in TO_ONE and value >= 1


def _univariate(
    tilde: ast.Tilde,
    family: Distribution,
    left: ast.Expr,
    own: Type,
    checks: Sequence[str],
    known: Drawing,
) -> Lines:
    """Entry by entry."""
    axes, text = rank(own), expression(left)
    if axes > 2:
        raise refused("a `~` of more than two axes", tilde.span)
    loops = [f"drawn_{k + 1}" for k in range(axes)]
    words = [word.strip() for word in family.signatures[0].split("|")[1].split(",")] if tilde.args else []
    args, hoisted = list[str](), list[str]()
    for k, (arg, word) in enumerate(zip(tilde.args, words, strict=False), 1):
        kind = known.facts.types[arg]
        extra = rank(kind) - (
            0 if word in SCALARS else 1 if word in ("vector", "row_vector", "vectors") else 2
        )
        if extra <= 0:
            args.append(expression(arg))
            continue
        if extra != axes or axes > 1:
            raise refused(f"`{expression(arg)}` has other axes than `{text}`", tilde.span)
        if isinstance(arg, ast.Variable):
            args.append(f"{arg.name}[{loops[0]}]")
        elif isinstance(kind, Array) and rank(core(kind)):
            args.append(f"({expression(arg)})[{loops[0]}]")
        else:
            name, size = f"argument_{k}", f"size({expression(arg)})"
            shape = f"array[{size}] {core(kind)}" if isinstance(kind, Array) else f"{kind}[{size}]"
            hoisted.append(f"{shape} {name} = {expression(arg)};")
            args.append(f"{name}[{loops[0]}]")
    entry = f"{text}[{', '.join(loops)}]" if loops else text
    draw = f"{entry} = {family.name}_rng({', '.join(args)});"
    body = [draw]
    if checks:
        inside = " && ".join(check.format(entry) for check in checks)
        body += [
            f"for (attempt in 1 : {DRAWS_TRIED}) {{",
            f"  if ({inside}) break;",
            f"  {draw}",
            "}",
            f'if (!({inside})) reject("no draw of {_plain(text)} lies between its bounds");',
        ]
    sizes = [f"rows({text})", f"cols({text})"] if own == MATRIX else [f"size({text})", f"size({text}[1])"]
    for loop, size in reversed(list(zip(loops, sizes, strict=False))):
        body = [f"for ({loop} in 1 : {size}) {{", *indent(body), "}"]
    yield from (["{", *indent([*hoisted, *body]), "}"] if hoisted else body)


def _multivariate(tilde: ast.Tilde, family: Distribution, left: ast.Expr, own: Type, known: Drawing) -> Lines:
    """Whole, or one entry of an array after the other."""
    text, axes = expression(left), array_dims(own)
    if family.discrete:
        raise refused(f"the number of trials of {family.name} follows from its outcome only", tilde.span)
    if axes > 1:
        raise refused("a `~` of more than one axis of vectors", tilde.span)
    entry = f"{text}[drawn_1]" if axes else text
    words = [word.strip() for word in family.signatures[0].split("|")[1].split(",")]
    args = [
        f"({expression(arg)})[drawn_1]" if axes and array_dims(known.facts.types[arg]) else expression(arg)
        for arg, _ in zip(tilde.args, words, strict=False)
    ]
    if family.rng_args and family.rng_args[0] == ("K", "size"):
        args = [f"rows({entry})", *args]
    turned = "'" if core(own) == ROW_VECTOR else ""
    draw = f"{entry} = {family.name}_rng({', '.join(args)}){turned};"
    yield from ([f"for (drawn_1 in 1 : size({text})) {{", f"  {draw}", "}"] if axes else [draw])
