"""Calls: which function is meant, by its name, its arguments and the place it is called from."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import permutations

from ppl.errors import ModelError
from ppl.kernel.language import ast, call_messages, messages
from ppl.kernel.language.facts import AlreadyReported, Check, ResolvedCall, UserMatch
from ppl.kernel.language.messages import Message
from ppl.kernel.language.overloads import Misfit, as_pattern, call, misfit, pattern_text, tilde
from ppl.kernel.language.printer import expression
from ppl.kernel.language.scope import AdLevel, BlockName, UserFunction
from ppl.kernel.language.walk import parts
from ppl.source import Span
from ppl.spelling import nearest
from ppl.stdlib.functions.operators import OPERATORS
from ppl.stdlib.library import parse_variate
from ppl.stdlib.signatures import (
    Callee,
    Match,
    choose,
    match_pattern,
    parse_pattern,
    parse_signature,
    promotes,
)
from ppl.types import REAL, VOID, Type

DENSITY_SUFFIXES = ("lpdf", "lpmf", "lupdf", "lupmf")
CUMULATIVE_SUFFIXES = ("cdf", "lcdf", "lccdf")
DENSITIES = tuple(f"_{suffix}" for suffix in DENSITY_SUFFIXES)
"""How the names of densities end."""
UNSUPPORTED = ("dae", "dae_tol")
TARGET = ("target", "get_lp")
DATA_ARGUMENTS = {
    "to_int": (0,),
    "quantile": (0, 1),
    "hmm_hidden_state_prob": (0, 1, 2),
    **dict.fromkeys(("linspaced_array", "linspaced_vector", "linspaced_row_vector"), (1, 2)),
}
"""The arguments of functions of the library that must be data, by position."""
PRECISIONS = {
    **dict.fromkeys(("wiener_lpdf", "wiener_lupdf"), (7, 9)),
    **dict.fromkeys((f"wiener_{t}_{s}" for t in ("lcdf", "lccdf") for s in ("unnorm", "defective")), (6, 9)),
}
"""Functions with a last argument that is a precision if they are called with so many; it must be data."""


def suffix_of(name: str) -> str:
    """The last word of a function's name if it means something, else ""."""
    last = name.rpartition("_")[2]
    known = (*DENSITY_SUFFIXES, *CUMULATIVE_SUFFIXES, "rng", "lp", "jacobian")
    return last if last in known and last != name else ""


def is_conditional(name: str) -> bool:
    """Whether a name ends as those of densities and cumulative distributions, which take a bar."""
    return suffix_of(name) in (*DENSITY_SUFFIXES, *CUMULATIVE_SUFFIXES)


def normalised(name: str) -> str:
    """`x_lupdf` is defined, and looked up, as `x_lpdf`."""
    suffix = suffix_of(name)
    return name[: -len(suffix)] + suffix.replace("lup", "lp") if suffix in ("lupdf", "lupmf") else name


def outcome_of(n: ast.Node) -> ast.Expr | None:
    """The variate, if the node is a `~` statement or a call of a density."""
    match n:
        case ast.Tilde(left=left):
            return left
        case ast.Call(name=name, args=(left, *_)) if name.endswith(DENSITIES):
            return left
        case _:
            return None


def left_and_args(s: ast.Tilde | ast.Call) -> tuple[ast.Expr, tuple[ast.Expr, ...]]:
    """The variate of a `~` statement or a call of a density, and the arguments of its distribution."""
    return (s.left, s.args) if isinstance(s, ast.Tilde) else (s.args[0], s.args[1:])


def names_a_function(c: Check, name: str) -> bool:
    return name in c.facts.library.callees or normalised(name) in c.scope.functions


def known_functions(c: Check) -> list[str]:
    return [*c.facts.library.callees, *c.scope.functions]


# --- Calls by name -------------------------------------------------------------------------------


def check_call(c: Check, e: ast.Call, args: Sequence[Type]) -> Type:
    """The type of a call used as a value."""
    if e.name in TARGET and not args:
        require_target(c, e, f"`{e.name}()`", c.context.may_call_target)
        return REAL
    called = resolve_call(c, e, args)
    if called.returns == VOID:
        raise c.refuse(call_messages.returns_nothing(e.name), e.span)
    return called.returns


def resolve_call(c: Check, e: ast.Call, args: Sequence[Type]) -> ResolvedCall:
    """The callee of a call; records it and checks that the call is allowed here."""
    symbol = c.scope.find(e.name)
    if symbol is not None and e.name not in c.facts.library.callees:
        if symbol.type is None:
            raise AlreadyReported
        raise c.refuse(messages.not_a_function(e.name, symbol.type), e.span)
    check_bar(c, e)
    called = find_overload(c, e.name, args)
    if called is None:
        raise explain_call(c, e, args)
    refuse_ambiguous(c, e, args, called)
    check_place(c, e, called)
    refuse_parameters(c, e, called.function.data_positions if isinstance(called, UserMatch) else data_of(e))
    c.facts.calls[e] = called
    return called


def data_of(e: ast.Call) -> Sequence[int]:
    """The positions of the arguments that a function of the library wants as data."""
    count = len(e.args)
    return (count - 1,) if count in PRECISIONS.get(e.name, ()) else DATA_ARGUMENTS.get(e.name, ())


def require_function(c: Check, e: ast.Call) -> None:
    """Refuse a name that neither a function nor a variable has, once, whatever the arguments are."""
    if names_a_function(c, e.name) or e.name in (*UNSUPPORTED, *TARGET) or c.scope.find(e.name) is not None:
        return
    c.refuse_once(e.name)
    message = explain_name(c, e)
    raise c.refuse(message, name_of(e), e.span if message.code == "PPL208" else None)


def name_of(e: ast.Call | ast.Variable) -> Span:
    """Where the function's name stands."""
    start = e.span
    return Span(start.source, start.line, start.column, start.line, start.column + len(e.name))


def find_overload(c: Check, name: str, args: Sequence[Type]) -> ResolvedCall | None:
    """The program's own functions come first where they fit exactly, then the library."""
    user = next(iter(cheapest(c.scope.functions.get(normalised(name), []), args)), None)
    if user is not None and list(user.args) == list(args):
        return UserMatch(user, user.returns)
    return c.facts.library.overload(name, tuple(args)) or (UserMatch(user, user.returns) if user else None)


def refuse_ambiguous(c: Check, e: ast.Call, args: Sequence[Type], called: ResolvedCall) -> None:
    if isinstance(called, UserMatch):
        fits = cheapest(c.scope.functions[normalised(e.name)], args)
        if len(fits) > 1:
            signatures = [f"{e.name}({messages.commas(f.args)})" for f in fits]
            raise c.refuse(call_messages.ambiguous(e.name, args, signatures), e.span)


def choose_exact(c: Check, name: str, args: Sequence[Type]) -> bool:
    """Whether the library already has this very signature; those that T stands for are several."""
    overload = c.facts.library.overload(name, tuple(args))
    patterns = parse_signature(overload.overload.signature).args if overload else ()
    promoted = (p.base != "T" and match_pattern(p, a, {}) for p, a in zip(patterns, args, strict=False))
    return overload is not None and not any(promoted)


def cheapest(candidates: Sequence[UserFunction], args: Sequence[Type]) -> list[UserFunction]:
    """The definitions that fit with the fewest promotions."""
    costs = [(cost, f) for f in candidates if (cost := promotion_cost(f.args, args)) is not None]
    least = min((cost for cost, _ in costs), default=0)
    return [f for cost, f in costs if cost == least]


def promotion_cost(expected: Sequence[Type], actual: Sequence[Type]) -> int | None:
    if len(expected) != len(actual):
        return None
    costs = [promotes(f, w) for f, w in zip(actual, expected, strict=True)]
    return None if None in costs else sum(cost or 0 for cost in costs)


def check_bar(c: Check, e: ast.Call) -> None:
    """A bar stands after the first argument of densities and cumulative distributions, and of no other."""
    named = e.bar and e.name in c.facts.library.families  # which is explained as such
    if named or e.bar == is_conditional(e.name) or (not e.bar and len(e.args) < 2):
        return
    message = call_messages.no_bar(e.name) if e.bar else call_messages.needs_bar(e.name)
    between = e.args[0].span.to(e.args[1].span) if len(e.args) > 1 else e.span
    error = c.refuse(message, e.span, between)
    if between.text.strip() not in (",", "|"):  # but more, such as a parenthesis
        error.fix = None
    raise error


def check_place(c: Check, e: ast.Call, called: ResolvedCall) -> None:
    """Some functions may be called in some blocks only."""
    check_suffix_place(c, e)
    suffix = suffix_of(e.name)
    if suffix == "lp" and isinstance(called, UserMatch):
        require_target(c, e, f"`{e.name}`", c.context.may_call_target)
    if suffix == "jacobian":
        without = f"{e.name.removesuffix('jacobian')}constrain"
        require_jacobian(c, e, f"`{e.name}`", without if names_a_function(c, without) else None)


def check_suffix_place(c: Check, e: ast.Call | ast.Variable) -> None:
    """Where the suffix of a function's name alone decides; a variable is a function handed on."""
    suffix = suffix_of(e.name)
    if suffix == "rng" and not c.context.may_draw:
        raise c.refuse(call_messages.rng_not_here(e.name), e.span)
    if suffix in ("lupdf", "lupmf") and not c.context.may_drop_constants:
        raise c.refuse(call_messages.unnormalised_not_here(e.name), e.span, name_of(e))


def require_target(c: Check, at: ast.Node, what: str, allowed: bool) -> None:
    if not allowed:
        raise c.refuse(call_messages.target_not_here(what), at.span)


def require_jacobian(c: Check, at: ast.Node, what: str, without: str | None = None) -> None:
    if not c.context.may_use_jacobian:
        raise c.refuse(call_messages.jacobian_not_here(what, without), at.span)


def refuse_parameters(c: Check, e: ast.Call, positions: Iterable[int]) -> None:
    """Refuse a parameter among the arguments at `positions`; in generated quantities none is one any more."""
    if c.context.block is BlockName.GENERATED_QUANTITIES:
        return
    for i in positions:
        if c.facts.levels[e.args[i]] is AdLevel.PARAMETER:
            raise c.refuse(call_messages.needs_data(e.name, i + 1), e.args[i].span)


def explain_call(c: Check, e: ast.Call, args: Sequence[Type]) -> ModelError:
    """Why no overload fits."""
    if e.name in UNSUPPORTED:
        return c.refuse(messages.unsupported(f"`{e.name}`"), e.span)
    require_function(c, e)
    bar = is_conditional(e.name)
    callee = c.facts.library.callees.get(e.name)
    parsed = [parse_signature(o.signature) for o in (callee.overloads if callee else ())]
    signatures = [call(e.name, p.args, pattern_text(p.result), bar) for p in parsed]
    for f in c.scope.functions.get(normalised(e.name), []):
        signatures.append(call(e.name, [as_pattern(a) for a in f.args], str(f.returns), bar))
    why = misfit(signatures, args)
    return c.refuse(call_messages.call_arguments(e.name, args, why), blamed(e.span, e.args, why))


def blamed(whole: Span, args: Sequence[ast.Expr], why: Misfit) -> Span:
    """The argument to blame, when it stands on the line where the call begins."""
    return whole if why.culprit is None else args[why.culprit].span.on_line_of(whole)


def explain_name(c: Check, e: ast.Call) -> Message:
    """A name that no function has: a density under a wrong or removed suffix, or a slip of the pen."""
    name = e.name
    if (removed := removed_density(c, e)) is not None:
        return messages.removed_density(name, removed)
    base, suffix = name.rpartition("_")[0], suffix_of(name)
    families = c.facts.library.families
    family = families.get(base)
    if family is not None and suffix in DENSITY_SUFFIXES:
        kind, right = ("discrete", "lpmf") if family.discrete else ("continuous", "lpdf")
        return call_messages.wrong_suffix(name, f"{base}_{right}", kind)
    if family is not None and suffix in CUMULATIVE_SUFFIXES:
        return call_messages.no_cdf(name, base)
    if name in families:
        return call_messages.distribution_called(name, "lpmf" if families[name].discrete else "lpdf")
    return messages.unknown_function(name, nearest(name, known_functions(c)))


MOST_PERMUTED = 4
"""Parameters of a distribution of which other orders are tried."""
# How densities and cumulative distributions were named before Stan 2.33.
REMOVED_SUFFIXES = {"_ccdf_log": "_lccdf", "_cdf_log": "_lcdf", "_log": ""}


def removed_density(c: Check, e: ast.Call) -> str | None:
    """Today's form of a call such as `normal_log(y, mu, sigma)`."""
    for old, new in REMOVED_SUFFIXES.items():
        family = c.facts.library.families.get(e.name.removesuffix(old)) if e.name.endswith(old) else None
        if family is not None:
            suffix = new or ("_lpmf" if family.discrete else "_lpdf")
            first, *rest = map(expression, e.args) if e.args else ["y"]
            return f"{family.name}{suffix}({first}{' | ' if rest else ''}{', '.join(rest)})"
    return None


# --- Operators -----------------------------------------------------------------------------------


def check_operator(c: Check, e: ast.Expr, op: str, operands: Sequence[Type]) -> Type:
    """The type of an operator applied; records which function it stands for."""
    result = operator(op, operands)
    if result is None:
        raise c.refuse(messages.operands(op, operands, operator_hint(op, operands)), e.span)
    c.facts.calls[e] = result
    return result.returns


def operator(op: str, operands: Sequence[Type]) -> Match | None:
    return chosen_operator(f"unary {op}" if len(operands) == 1 and op != "'" else op, tuple(operands))


@cache
def chosen_operator(name: str, operands: tuple[Type, ...]) -> Match | None:
    record = OPERATORS[name]
    return choose(Callee(record.name, "function", record, record.overloads), operands)


def operator_hint(op: str, operands: Sequence[Type]) -> str | None:
    """The operator the user may have wanted."""
    words = [str(t) for t in operands]
    if any("array" in w for w in words):
        return "Arrays have no arithmetic: declare a vector, or convert with `to_vector(...)`."
    if op in ("==", "!=", "<", "<=", ">", ">="):
        return "Comparisons take scalars: compare entry by entry, in a loop."
    match op, words:
        case "*", ["vector", "vector"] | ["row_vector", "row_vector"]:
            return "`.*` multiplies entry by entry; `dot_product(a, b)` sums the products."
        case "*", ["matrix", "row_vector"] | ["vector", "matrix"]:
            return "A matrix takes a vector on its right and a row_vector on its left: transpose with `'`."
        case "%", _ if "real" in words:
            return "`fmod(a, b)` is the remainder of reals."
        case "%/%", _ if "real" in words:
            return "`floor(a / b)` divides reals down."
        case (("&&" | "||" | "!"), _):
            return "Logical operators take scalars."
        case _ if set(words) == {"vector", "row_vector"}:
            return "Transpose one of them with `'`."
    return None


# --- Distributions after a tilde -----------------------------------------------------------------


def density_names(c: Check, s: ast.Tilde) -> Sequence[str]:
    """The functions that `left ~ name(args)` may stand for."""
    if is_conditional(s.distribution):
        base = s.distribution.rpartition("_")[0]
        raise c.refuse(call_messages.suffix_in_tilde(s.distribution, base), s.name_span)
    names = [f"{s.distribution}_{suffix}" for suffix in ("lpmf", "lpdf")]
    known = [name for name in names if names_a_function(c, name)]
    if not known:
        c.refuse_once(s.distribution)
        raise c.refuse(explain_distribution(c, s.distribution), s.name_span)
    return known


def resolve_tilde(c: Check, s: ast.Tilde, names: Sequence[str], args: Sequence[Type]) -> ResolvedCall:
    """The density that `left ~ name(args)` adds; `args` begins with the type of the left side."""
    for name in names:
        called = find_overload(c, name, args)
        if called is not None:
            c.facts.calls[s] = called
            return called
    raise explain_tilde(c, s, names, args)


def explain_distribution(c: Check, name: str) -> Message:
    if names_a_function(c, name):
        return call_messages.function_is_no_distribution(name)
    own = [f.rpartition("_")[0] for f in c.scope.functions if suffix_of(f) in DENSITY_SUFFIXES]
    return call_messages.unknown_distribution(name, nearest(name, [*c.facts.library.families, *own]))


def explain_tilde(c: Check, s: ast.Tilde, names: Sequence[str], args: Sequence[Type]) -> ModelError:
    family = c.facts.library.families.get(s.distribution)
    joint = [parse_variate(signature) for signature in (family.signatures if family else ())]
    signatures = [tilde(s.distribution, [parse_pattern(part) for part in parts]) for parts in joint]
    for suffix in ("lpmf", "lpdf"):
        for f in c.scope.functions.get(f"{s.distribution}_{suffix}", []):
            signatures.append(tilde(s.distribution, [as_pattern(a) for a in f.args]))
    why = misfit(signatures, args, offset=1)
    order = order_that_fits(c, s, names, args)
    message = call_messages.distribution_arguments(s.distribution, args, why, family, order)
    return c.refuse(message, blamed(s.span, (s.left, *s.args), why))


def order_that_fits(c: Check, s: ast.Tilde, names: Sequence[str], args: Sequence[Type]) -> Sequence[str]:
    """The parameters as text, in an order in which they fit the distribution; empty if there is none."""
    for order in permutations(range(len(s.args))) if len(s.args) <= MOST_PERMUTED else ():
        if any(find_overload(c, name, [args[0], *(args[k + 1] for k in order)]) for name in names):
            return [s.args[k].span.text for k in order]
    return ()


def resolve_truncation(c: Check, s: ast.Tilde, params: Sequence[Type]) -> dict[ast.Expr, ResolvedCall]:
    """The cumulative function for each bound: lccdf for a lone lower bound, else lcdf."""
    assert s.truncation is not None
    calls: dict[ast.Expr, ResolvedCall] = {}
    for bound in parts(s.truncation):
        args = [c.facts.types[bound], *params]
        below, above = (find_overload(c, f"{s.distribution}_{suffix}", args) for suffix in ("lcdf", "lccdf"))
        if below is None or above is None:
            raise c.refuse(call_messages.no_truncation(s.distribution), s.span)
        calls[bound] = above if s.truncation.upper is None else below
    return calls
