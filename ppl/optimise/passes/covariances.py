"""Densities of a Cholesky factor that nothing else uses, as densities of the covariance it was made of.

The slope in a covariance is a matter of its inverse; through the factor it takes the slope of a
factorisation, half as much work again.  This is for gradients alone: where a factor does not exist, the
program as it was written says so.
"""

from collections import Counter
from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.stdlib.distributions.multi_normal import MULTI_NORMAL, MULTI_NORMAL_CHOLESKY
from ppl.stdlib.functions.symmetric import cholesky_decompose


def by_covariance(p: ir.Program) -> ir.Program:
    """The density of a Cholesky factor without other uses becomes the density of the covariance."""
    nodes = list(walk(p.model))
    uses = Counter(n.name for n in nodes if isinstance(n, ir.Var))
    sets = Counter(n.name for n in nodes if isinstance(n, ir.Assign | ir.Update | ir.Scatter))
    factored = {s.name for s in p.model if isinstance(s, ir.Assign) and covariance(s.value)}
    taken = {lower.name for s in p.model if isinstance(lower := factor(s), ir.Var)}
    alone = {name for name in factored & taken if uses[name] == sets[name] == 1}

    def change(s: ir.Stmt) -> ir.Stmt:
        match s:
            case ir.Assign(name=name, value=ir.Apply(args=(whole,))) if name in alone:
                return replace(s, value=whole)
            case ir.Increment(value=ir.Apply() as e):
                lower = factor(s)
                is_alone = isinstance(lower, ir.Var) and lower.name in alone
                cholesky = lower if is_alone else covariance(lower)
                return replace(s, value=of_covariance(e, cholesky)) if cholesky else s
        return s

    return replace(p, model=tuple(map(change, p.model)))


def covariance(e: ir.Expr | None) -> ir.Expr | None:
    """The matrix that the expression is the Cholesky factor of."""
    match e:
        case ir.Apply(callee=ir.Callee(impl=impl), args=(whole,)) if impl is cholesky_decompose:
            return None if ir.loops_of(e.type) else whole
    return None


def factor(s: ir.Stmt) -> ir.Expr | None:
    """The one factor of all that the density is of that the statement adds."""
    match s:
        case ir.Increment(value=ir.Apply(callee=ir.Callee(family=family), args=(_, _, lower))) if (
            family is MULTI_NORMAL_CHOLESKY and not ir.loops_of(lower.type)
        ):
            return lower
    return None


def of_covariance(e: ir.Apply, whole: ir.Expr) -> ir.Apply:
    name = e.callee.name.replace(MULTI_NORMAL_CHOLESKY.name, MULTI_NORMAL.name)
    callee = replace(e.callee, name=name, impl=MULTI_NORMAL.log_density, family=MULTI_NORMAL)
    return replace(e, callee=callee, args=(*e.args[:-1], whole))
