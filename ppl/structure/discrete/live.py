"""Statements less those that nothing needs any more."""

from collections.abc import Set
from dataclasses import replace

from ppl.kernel.language import ast
from ppl.kernel.language.walk import children, closure, heads, statements, variables
from ppl.programs.rewriting import Stmts, assigned, bound_in, one, rewrite, written
from ppl.structure.definitions import has_jump

EFFECTS = (ast.TargetIncrement, ast.Tilde, ast.CallStatement, ast.JacobianIncrement, ast.Print, ast.Reject)
"""Statements that do more than set variables."""
INERT = (ast.If, ast.For, ast.ForEach, ast.While, ast.Block, ast.Declaration, ast.Assignment, ast.Reject)
"""Statements that do nothing where the variables they set, or reject values of, are not needed."""
JUMPS = (ast.Break, ast.Continue)


def live(body: Stmts, then: Stmts | None) -> Stmts:
    """The statements less loops and branches with nothing in them.

    Given what is to run `then`, also less those that set what is not read there.
    """
    body = without_empty(body)
    if then is None:
        return body
    read = {v.name for v in variables(then)}
    needed = closure(
        read, body, lambda s, read_so_far: needed_by(s, read_so_far) if matters(s, read_so_far) else ()
    )
    return live_parts(tuple(s for s in body if matters(s, needed)), needed)


def matters(s: ast.Statement, needed: Set[str]) -> bool:
    """Whether a statement sets something needed that lives beyond it."""
    own = set() if isinstance(s, ast.Declaration) else bound_in(s)
    return bool((written(s) - own) & needed)


def without_empty(body: Stmts) -> Stmts:
    """The statements less loops, branches and blocks with nothing in them."""
    return tuple(out for s in body for out in if_not_empty(s))


def if_not_empty(s: ast.Statement) -> Stmts:
    match s:
        case ast.For(body=body) | ast.ForEach(body=body) | ast.While(body=body):
            inside = if_not_empty(body)
            return (replace(s, body=one(inside, s.span)),) if does(inside) else ()
        case ast.If(then=then, otherwise=otherwise):
            yes, no = if_not_empty(then), if_not_empty(otherwise) if otherwise is not None else ()
            if not does(yes) and not does(no):
                return ()
            return (replace(s, then=one(yes, s.span), otherwise=one(no, s.span) if does(no) else None),)
        case ast.Block(statements=inner) | ast.Profile(statements=inner):
            statements = without_empty(inner)
            return (replace(s, statements=statements),) if does(statements) else ()
        case _:
            return (s,)


def does(body: Stmts) -> bool:
    """Whether there is more than declarations."""
    return any(not isinstance(s, ast.Declaration) for s in body)


def needed_by(s: ast.Statement, needed: Set[str]) -> set[str]:
    """The variables that the parts of a statement read that set something needed, or end its loops."""
    if not written(s) & needed:
        return {v.name for n in statements(s) if has_jump(n) for v in variables(heads(n))}
    inside = children(s)
    read = {v.name for v in variables(heads(s) if inside else s)}
    return read.union(*(needed_by(part, needed) for part in inside))


def live_parts(body: Stmts, needed: Set[str]) -> Stmts:
    """The statements less the parts that set nothing needed."""
    unset = {name for s in body for name in written(s)} - needed

    def dropped(n: ast.Node) -> Stmts | None:
        match n:
            case ast.Declaration(name=name) if name not in needed:
                return ()
            case ast.Assignment(target=target) if not assigned(target) & needed:
                return ()
            case ast.If() | ast.For() | ast.ForEach() | ast.While() if not matters(n, needed):
                jumps = () if isinstance(n, ast.If) else JUMPS
                inert = all(isinstance(s, (*INERT, *jumps)) for s in statements(n))
                return () if inert and {v.name for v in variables(n)} & unset else None
            case _:
                return None

    return without_empty(rewrite(body, dropped))
