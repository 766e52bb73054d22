"""`ppl check --pedantic`: the lints for a correct program, each found by one function of a table."""

from collections.abc import Callable, Iterator

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.programs.density_lints import (
    arguments,
    empty_bounds,
    excluded_priors,
    jacobians,
    supports,
    uniform_bounds,
    variances,
)
from ppl.programs.lints import Lint
from ppl.programs.newer_stan import ASSUMED, newer_than
from ppl.programs.nodes import Nodes
from ppl.programs.non_centred import funnels
from ppl.programs.usage_lints import (
    adjustments,
    annotations,
    indices,
    integer_divisions,
    priors,
    self_assignments,
    unassigned_variables,
    unused_variables,
)

LintRule = Callable[[Nodes], Iterator[Lint]]

RULES: tuple[LintRule, ...] = (
    priors,
    unused_variables,
    unassigned_variables,
    self_assignments,
    adjustments,
    annotations,
    indices,
    integer_divisions,
    jacobians,
    empty_bounds,
    supports,
    excluded_priors,
    arguments,
    uniform_bounds,
    variances,
    funnels,
)


def lints(program: ast.Program, facts: Facts, stan_version: int = ASSUMED) -> tuple[Lint, ...]:
    """All warnings for a checked program, by line; among them what Stan 2.`stan_version` lacks."""
    nodes = Nodes(program, facts)
    of_rules = [lint for rule in RULES for lint in rule(nodes)]
    newer = newer_than(stan_version, nodes)
    return tuple(sorted([*of_rules, *newer], key=lambda c: (c.span.line, c.span.column, c.code)))
