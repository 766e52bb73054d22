"""Loops that count beside their own variable, written with that variable alone.

An int that every iteration adds one constant to, as `i += 1` at the end does, is where it started plus that
many times the iterations so far; so it is carried no longer, and the loop may become arrays.
"""

from dataclasses import replace
from typing import Literal

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import int_sum, linear, trips
from ppl.kernel.ir.walk import bottom_up, leaves_early, substituted, walk
from ppl.types import INT

SETTERS = (ir.Declare, ir.Assign, ir.Update)


def replace_induction_variables(p: ir.Program) -> ir.Program:
    """An int that grows by a constant in every iteration becomes a formula in the loop variable."""
    return p.with_density(lambda body: bottom_up(body, without_counters), functions=True)


def without_counters(s: ir.Stmt) -> ir.Stmts:
    """A loop with each counter as a sum, and after it what the counter has come to."""
    if not isinstance(s, ir.For):
        return (s,)
    for k, step in enumerate(s.body):
        sign = increment(step, s)
        if sign and isinstance(step, ir.Assign):
            start, so_far = ir.Var(step.name, INT), int_sum("-", ir.Var(s.variable, INT), s.lower)
            now = int_sum(sign, start, so_far)
            then = int_sum(sign, now, ir.Const(1, INT))
            earlier = tuple(substituted(b, {step.name: now}) for b in s.body[:k])
            later = tuple(substituted(b, {step.name: then}) for b in s.body[k + 1 :])
            after = ir.Assign(step.name, int_sum(sign, start, trips(s.lower, s.upper)), step.span)
            return (*without_counters(replace(s, body=(*earlier, *later))), after)
    return (s,)


def increment(step: ir.Stmt, s: ir.For) -> Literal["+", "-", ""]:
    """Whether the statement adds one to a counter of the loop, or takes one away."""
    if not isinstance(step, ir.Assign) or step.declares or step.value.type != INT:
        return ""
    if linear(s.lower) is None or leaves_early(s.body):
        return ""
    by = linear(step.value)
    settings = [n for n in walk(s.body) if isinstance(n, SETTERS) and n.name == step.name]
    if by is None or by.terms != {(step.name, 1)} or abs(by.constant) != 1 or len(settings) > 1:
        return ""
    return "+" if by.constant == 1 else "-"
