"""Whether a function returns on every path, by stanc's rules.  Reference manual, "User-defined functions"."""

from collections.abc import Iterator, Sequence
from enum import Enum

from ppl.kernel.language import ast


class Ending(Enum):
    """How the paths through a statement end."""

    RETURNS = "in a return or a rejection, all of them"
    GOES_ON = "at the next statement, some of them"
    LEAVES_LOOP = "in a break, some of them"


def always_returns(body: ast.Statement) -> bool:
    return ending(body) is Ending.RETURNS


def ending(s: ast.Statement) -> Ending:
    match s:
        case ast.Return() | ast.Reject():
            return Ending.RETURNS
        case ast.Break():
            return Ending.LEAVES_LOOP
        case ast.Block(statements=statements) | ast.Profile(statements=statements):
            return ending_of_all(statements)
        case ast.If(then=then, otherwise=otherwise):
            return together(ending(then), Ending.GOES_ON if otherwise is None else ending(otherwise))
        case ast.For(body=body) | ast.ForEach(body=body):
            return outside_loop(ending(body))
        case ast.While(condition=condition, body=body):
            inside = ending(body)
            endless = inside is Ending.GOES_ON and isinstance(condition, ast.IntLiteral) and condition.value
            return Ending.RETURNS if endless else outside_loop(inside)
        case _:
            return Ending.GOES_ON


def ending_of_all(statements: Sequence[ast.Statement]) -> Ending:
    """That of the last statement that is reached, if none before it breaks."""
    each = [ending(s) for s in reached(statements)]
    if Ending.LEAVES_LOOP in each:
        return Ending.LEAVES_LOOP
    return each[-1] if each else Ending.GOES_ON


def reached(statements: Sequence[ast.Statement]) -> Iterator[ast.Statement]:
    """The statements up to one that goes elsewhere; what is inside others does not count."""
    for s in statements:
        yield s
        if isinstance(s, ast.Return | ast.Reject | ast.Break | ast.Continue):
            return


def together(then: Ending, otherwise: Ending) -> Ending:
    if Ending.LEAVES_LOOP in (then, otherwise):
        return Ending.LEAVES_LOOP
    return then if then is otherwise else Ending.GOES_ON


def outside_loop(inside: Ending) -> Ending:
    return Ending.RETURNS if inside is Ending.RETURNS else Ending.GOES_ON
