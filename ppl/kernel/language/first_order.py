"""Restrictions on a log likelihood of the program, for Laplace's approximation of it.

That takes three derivatives in theta, so nothing that depends on it may go through a function that has the
first alone, those of stdlib/first_order.py. Functions of functions, hidden Markov models and the Laplace
functions themselves are refused wherever they are called, as stanc refuses them.
"""

from collections.abc import Iterator, Set

from ppl.kernel.language import ast, call_messages
from ppl.kernel.language.calls import UNSUPPORTED, normalised
from ppl.kernel.language.expressions import children
from ppl.kernel.language.facts import Check, Facts, UserMatch
from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.laplace import LAPLACE
from ppl.kernel.language.scope import UserFunction
from ppl.kernel.language.walk import closure, definitions, statements, variables, walk
from ppl.types import INT, element_type

FAMILIES = (
    *("beta", "beta_proportion", "gamma", "chi_square", "inv_gamma", "inv_chi_square"),
    *("scaled_inv_chi_square", "neg_binomial", "neg_binomial_2", "student_t", "von_mises"),
)
"""Families with such cumulative distribution functions."""

FIRST_ORDER = frozenset(
    (
        *(f"{family}_{tail}" for family in FAMILIES for tail in ("cdf", "lcdf", "lccdf")),
        *("gamma_p", "gamma_q", "inc_beta", "inv_inc_beta", "student_t_qf"),
        *("hypergeometric_2F1", "hypergeometric_3F2", "hypergeometric_pFq"),
        *("complex_schur_decompose", "complex_schur_decompose_t", "complex_schur_decompose_u"),
    )
)
"""Their names in a program."""


Names = frozenset[str]
NEVER = frozenset({*HIGHER_ORDER, *LAPLACE, *UNSUPPORTED, "hmm_marginal", "hmm_hidden_state_prob"})
"""Functions that no log likelihood may call."""


def check_likelihoods(c: Check) -> None:
    """Refuse every log likelihood given to a Laplace function that has no third derivative in theta."""
    for named, called in list(c.facts.calls.items()):
        if isinstance(named, ast.Variable) and isinstance(called, UserMatch):
            with c.reporting():
                refuse_first_order(c, named, called.function)


def refuse_first_order(c: Check, named: ast.Variable, likelihood: UserFunction) -> None:
    for f in called_from(c.facts, likelihood):
        for call in calls_in(f):
            if call.name in NEVER:
                raise c.refuse(call_messages.first_order_only(call.name, likelihood.name), named.span)
    theta = frozenset([likelihood.definition.args[0].name])
    first = next(first_order_calls(c.facts, likelihood, theta, set()), None)
    if first is not None:
        raise c.refuse(call_messages.first_order_only(first.name, likelihood.name), first.span)


def called_from(facts: Facts, f: UserFunction) -> list[UserFunction]:
    """The function and all functions of the program that it calls, itself or through others."""
    functions = [f]
    for each in functions:  # which grows
        matches = (facts.calls.get(call) for call in calls_in(each))
        called = [match.function for match in matches if isinstance(match, UserMatch)]
        functions += [g for g in dict.fromkeys(called) if g not in functions]
    return functions


def calls_in(f: UserFunction) -> Iterator[ast.Call]:
    body = f.definition.body
    return (node for node in walk(body or ()) if isinstance(node, ast.Call))


def first_order_calls(
    facts: Facts, f: UserFunction, moving: Names, seen: set[tuple[UserFunction, Names]]
) -> Iterator[ast.Call]:
    """Calls with first derivatives alone of what depends on the given arguments, also in functions called."""
    if (f, moving) in seen or f.definition.body is None:
        return
    seen.add((f, moving))
    names = moving_names(facts, f.definition.body, moving)
    for call in calls_in(f):
        moves = [moving_expression(facts, a, names) for a in call.args]
        called = facts.calls.get(call)
        if not any(moves):
            continue
        if isinstance(called, UserMatch):
            names_given = [a.name for a in called.function.definition.args]
            args = [a for a, own in zip(names_given, moves, strict=True) if own]
            yield from first_order_calls(facts, called.function, frozenset(args), seen)
        elif normalised(call.name) in FIRST_ORDER:
            yield call


def moving_names(facts: Facts, body: ast.Statement, moving: Names) -> Names:
    """The names, and those of all variables computed from them."""

    def moved(definition: tuple[str, ast.Expr], names: set[str]) -> Iterator[str]:
        name, value = definition
        if moving_expression(facts, value, names):
            yield name

    return frozenset(closure(moving, list(values_of(body)), moved))


def values_of(body: ast.Statement) -> Iterator[tuple[str, ast.Expr]]:
    """The variables that are set, each with what it is made of."""
    for target, value in definitions([body]):
        if isinstance(target, ast.Declaration):
            yield target.name, value
        else:
            yield from ((v.name, value) for v in variables(target))
    for s in statements(body):
        if isinstance(s, ast.ForEach):
            yield s.variable, s.iterable


def moving_expression(facts: Facts, e: ast.Expr, names: Set[str]) -> bool:
    """Whether a value that has derivatives depends on the variables."""
    if e in facts.types and element_type(facts.types[e]) == INT:
        return False
    if isinstance(e, ast.Variable):
        return e.name in names
    return any(moving_expression(facts, part, names) for part in children(e))
