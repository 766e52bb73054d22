"""Where a program uses its discrete parameters, and refuses what has no sum."""

from collections.abc import Mapping, Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.calls import outcome_of
from ppl.kernel.language.facts import Facts, UserMatch
from ppl.kernel.language.scope import AdLevel
from ppl.kernel.language.walk import NESTING, children, heads, variables, walk
from ppl.programs.rewriting import mentions
from ppl.stdlib.record import Distribution
from ppl.stdlib.signatures import Match
from ppl.structure.discrete import refused
from ppl.structure.discrete.normal import dependent_names
from ppl.structure.discrete.parameters import is_discrete
from ppl.types import INT, core


def check_uses(p: ast.Program, facts: Facts) -> None:
    """ModelError where a discrete parameter is declared or used so that it cannot be summed out."""
    declared = [d for d in p.parameters if is_discrete(d)]
    for d in declared:
        check_bounds(d, facts)
    names = {d.name for d in declared}
    body = (*p.transformed_parameters, *p.model)
    dependent = dependent_names(body, names)
    for n in walk(body):
        check_outcome(n, names, facts)
        check_function(n, dependent, facts)
    for s in body:
        check_statement(s, dependent, False)


def check_bounds(d: ast.Declaration, facts: Facts) -> None:
    for value in ast.limits(d.type).values():
        if facts.types[value] != INT:
            raise refused.bounds(d.name, "are not the same for all entries", value.span)
        if facts.levels[value] is AdLevel.PARAMETER:
            raise refused.bounds(d.name, "depend on a parameter", value.span)


def check_outcome(n: ast.Node, names: set[str], facts: Facts) -> None:
    """The outcome of a distribution of reals is no int."""
    called = facts.calls.get(n)
    if not isinstance(called, Match) or called.callee.kind != "density":
        return
    family = called.callee.record
    outcome = outcome_of(n)
    if isinstance(family, Distribution) and not family.discrete and outcome is not None:
        named = [v.name for v in variables(outcome) if v.name in names]
        if named and core(facts.types[outcome]) == INT:
            raise refused.continuous_outcome(named[0], family.name, outcome.span)


def check_function(n: ast.Node, dependent: set[str], facts: Facts) -> None:
    """A function of the program that adds to the target by itself is not seen here."""
    if not isinstance(n, ast.Call):
        return
    if n.name in ("target", "get_lp") and not n.args and dependent:
        raise refused.not_here(
            first(dependent), "`target()`", n.span, "Store the values that you need in variables."
        )
    called = facts.calls.get(n)
    adds = n.name.endswith(("_lp", "_jacobian")) and isinstance(called, UserMatch)
    if adds and mentions(n.args, dependent):
        hint = "Return the value from it, as an _lpdf or _lpmf function, and add it with `target +=`."
        raise refused.not_here(used(n, dependent), "a function that adds to the target", n.span, hint)


LEFT_EARLY = "a loop that is left early"
UNSUPPORTED: Mapping[type, tuple[str, str]] = {
    ast.Print: ("print", "Print it in generated quantities."),
    ast.Reject: ("reject", "Write `target += negative_infinity();` for impossible values."),
    ast.While: ("a while loop", "Write a for loop over the largest possible range, with an if inside."),
    ast.JacobianIncrement: ("`jacobian +=`", "Add it with `target +=` in the model block."),
    **dict.fromkeys((ast.Break, ast.Continue), (LEFT_EARLY, "Put the statements after it into an if.")),
    ast.CallStatement: (
        "a call of a void function", "Return the increment from a function, and add it with `target +=`."
    ),
}  # fmt: skip
"""Statements that may not depend on a discrete parameter, in words, and what to write."""


def check_statement(s: ast.Statement, dependent: set[str], under: bool) -> None:
    """`under` a branch or loop that a discrete parameter decides about."""
    touched = under or mentions(heads(s) if type(s) in NESTING else s, dependent)
    refusal = UNSUPPORTED.get(type(s)) if touched else None
    is_loop = isinstance(s, ast.For | ast.ForEach | ast.While)
    if refusal is None and is_loop and leaves_early(s) and mentions(s, dependent):
        refusal = LEFT_EARLY, "Put the statements after the break or continue into an if."
    if refusal is not None:
        what, hint = refusal
        raise refused.not_here(used(s, dependent) or first(dependent), what, s.span, hint)
    for part in children(s):
        check_statement(part, dependent, touched)


def leaves_early(s: ast.Statement) -> bool:
    return any(isinstance(n, ast.Break | ast.Continue) for n in walk(s))


def used(n: ast.Node, names: set[str]) -> Sequence[str]:
    return sorted({v.name for v in variables(n)} & names)


def first(names: set[str]) -> Sequence[str]:
    return sorted(names)[:1]
