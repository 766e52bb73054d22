"""Statements less those that nothing needs any more."""

from dataclasses import replace

from ppl.frontend import ast
from ppl.frontend.rewriting import Stmts, assigned, bound_in, one, rewrite, written
from ppl.frontend.walk import children, heads, variables

EFFECTS = (ast.TargetIncrement, ast.Tilde, ast.CallStatement, ast.JacobianIncrement, ast.Print, ast.Reject)


def without_target(body: Stmts) -> Stmts:
    """The statements that only set variables."""

    def dropped(n: ast.Node) -> Stmts | None:
        return () if isinstance(n, EFFECTS) else None

    return rewrite(body, dropped)


def live(body: Stmts, then: Stmts | None) -> Stmts:
    """The statements less loops and branches with nothing in them.

    Given what is to run `then`, also less those that set what is not read there.
    """
    body = tuple(out for s in body for out in without_empty(s))
    if then is None:
        return body
    needed = {v.name for v in variables(then)}
    while True:
        more = {v.name for s in body if matters(s, needed) for v in needed_by(s, needed)}
        if more <= needed:
            break
        needed |= more
    return tuple(out for s in body if matters(s, needed) for out in live_part(s, needed))


def matters(s: ast.Statement, needed: set[str]) -> bool:
    """Whether a statement sets something needed that lives beyond it."""
    own = set() if isinstance(s, ast.Declaration) else bound_in(s)
    return bool((written(s) - own) & needed)


def without_empty(s: ast.Statement) -> Stmts:
    match s:
        case ast.For(body=body) | ast.ForEach(body=body) | ast.While(body=body):
            inside = without_empty(body)
            return (replace(s, body=one(inside, s.span)),) if does(inside) else ()
        case ast.If(then=then, otherwise=otherwise):
            yes = without_empty(then)
            no = without_empty(otherwise) if otherwise is not None else ()
            if not does(yes) and not does(no):
                return ()
            other = one(no, s.span) if does(no) else None
            return (ast.If(s.span, s.condition, one(yes, s.span) if yes else ast.Block(s.span, ()), other),)
        case ast.Block(statements=inner):
            statements = tuple(out for x in inner for out in without_empty(x))
            return (ast.Block(s.span, statements),) if does(statements) else ()
        case ast.Profile(statements=inner):
            statements = tuple(out for x in inner for out in without_empty(x))
            return (ast.Profile(s.span, s.name, statements),) if does(statements) else ()
        case _:
            return (s,)


def does(body: Stmts) -> bool:
    """Whether there is more than declarations."""
    return any(not isinstance(s, ast.Declaration) for s in body)


def needed_by(s: ast.Statement, needed: set[str]) -> list[ast.Variable]:
    """What the parts of a statement read that set something needed."""
    if not written(s) & needed:
        return []
    inside = children(s)
    if not inside:
        return list(variables(s))
    return [*(v for part in inside for v in needed_by(part, needed)), *variables(heads(s))]


def live_part(s: ast.Statement, needed: set[str]) -> Stmts:
    """The statement less the parts that set nothing needed."""

    def dropped(n: ast.Node) -> Stmts | None:
        match n:
            case ast.Declaration(name=name) if name not in needed:
                return ()
            case ast.Assignment(target=target) if not assigned(target) & needed:
                return ()
            case _:
                return None

    out = rewrite((s,), dropped)
    return tuple(x for o in out for x in without_empty(o))
