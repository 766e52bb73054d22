"""Jumps that parameters decide become branches, for code in which both sides of one are there at once.

`if (a) return x; rest` is `if (a) return x; else rest`, so that what returns stands at the end; `break` is a
flag that the loop asks for, and a `return` from a loop one more that is asked for behind it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import may_end, unknown_in, unknown_names, varies
from ppl.kernel.ir.walk import Fresh, bottom_up, ends_in, fresh_names, in_branches, is_end, jumps, walk
from ppl.optimise.passes.inline import has_return
from ppl.optimise.passes.loop_body import without_continue
from ppl.types import INT, rank

YES, NO = ir.Const(1, INT), ir.Const(0, INT)


def jumps_to_branches(p: ir.Program) -> ir.Program:
    """Jumps and early returns that depend on parameters become branches."""
    fresh, which = fresh_names("_jump"), partial(is_unsure, unknown_in(p))
    functions = tuple(with_one_end(f, fresh) for f in p.functions)
    return replace(p, functions=functions).with_density(lambda body: with_exit_flags(body, fresh, which))


def has_exit(s: ir.Loop) -> bool:
    """Whether a `break` or `return` leaves a loop."""
    return any(has_return(inner) or jumps(inner, "break") for inner in s.body)


def is_unsure(unknown: Collection[str], s: ir.Loop) -> bool:
    """Whether a loop has jumps that unknown variables decide."""
    unsure = isinstance(s, ir.While) and varies(s.condition, unknown)
    leaves = any(has_return(inner) or jumps(inner) for inner in s.body)
    return leaves and (unsure or may_end(s.body, unknown))


def with_exit_flags(
    body: Sequence[ir.Stmt], fresh: Fresh, which: Callable[[ir.Loop], bool] = has_exit
) -> ir.Stmts:
    """The statements, with a flag in place of each `break` and `return` in such loops."""

    def change(s: ir.Stmt) -> ir.Stmts:
        return without_jumps(s, fresh) if isinstance(s, ir.Loop) and which(s) else (s,)

    return bottom_up(body, change)


def with_one_end(f: ir.Function, fresh: Fresh) -> ir.Function:
    """The function with what its arguments may make it return early at the end of branches."""
    unknown = unknown_names(f.body, f.args)
    if not may_end(f.body, unknown):
        return f
    body = with_exit_flags(f.body, fresh, partial(is_unsure, unknown))
    values = any(isinstance(n, ir.Return) and n.value is not None for n in walk(body))
    end: ir.Stmts = () if values else (ir.Return(None, f.span),)
    return replace(f, body=returning_last((*body, *end)))


def returning_last(body: ir.Stmts) -> ir.Stmts:
    """The statements with those that follow an `if` which may return in the side that does not."""
    for k, s in enumerate(body):
        rest = body[k + 1 :]
        match s:
            case ir.If(then=then, otherwise=otherwise) if rest and any(map(is_end, walk(s))):
                ends = [side if ends_in(side, is_end) else (*side, *rest) for side in (then, otherwise)]
                then, otherwise = map(returning_last, ends)
                return (*body[:k], replace(s, then=then, otherwise=otherwise))
            case ir.If(then=then, otherwise=otherwise) if has_return(s):
                return (*body[:k], replace(s, then=returning_last(then), otherwise=returning_last(otherwise)))
    return body


def without_jumps(s: ir.Loop, fresh: Fresh) -> ir.Stmts:
    """The loop, with flags set before it and what it returns given back after it; the loop as it is where it
    returns a container, whose sizes are not known here.
    """
    going, ended = (ir.Var(fresh(hint), INT) for hint in ("going", "ended"))
    returned = [n.value for n in walk(s.body) if isinstance(n, ir.Return)]
    if returned and (returned[0] is None or rank(returned[0].type)):
        return (s,)

    def flag(flag: ir.Var, value: ir.Const, declares: bool = False) -> ir.Assign:
        return ir.Assign(flag.name, value, s.span, declares)

    before: list[ir.Stmt] = [flag(going, YES, declares=True)]
    after: list[ir.Stmt] = []
    if returned:
        result = ir.Var(fresh("result"), returned[0].type)  # type: ignore[union-attr]
        before += (flag(ended, NO, declares=True), ir.Declare(result.name, result.type, (), s.span))
        after.append(ir.If(ended, (ir.Return(result, s.span),), (), s.span))

    def leaving(each: ir.Stmt) -> ir.Stmts:
        """Statements that set flags and end the step, in place of one that would leave the loop."""
        match each:
            case ir.Jump(word="break"):
                return flag(going, NO), replace(each, word="continue")
            case ir.Return(value=value, span=span) if value is not None:
                flags = flag(ended, YES), flag(going, NO)
                return ir.Assign(result.name, value, span), *flags, ir.Jump("continue", span)
            case _:
                return (each,)

    body = without_continue(in_branches(s.body, leaving))
    if isinstance(s, ir.While):
        s = replace(s, condition=ir.Logical("and", going, s.condition, INT), body=body)
    else:
        s = replace(s, body=(ir.If(going, body, (), s.span),))
    return (*before, s, *after)
