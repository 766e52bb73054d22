"""Functions that take a function: solvers of differential equations (odes.py), reduce_sum and map_rect.

The last two run serially: `reduce_sum(f, x, grainsize, ...)` is `f(x, 1, size(x), ...)`, and
`map_rect(f, phi, theta, x_r, x_i)` the vectors f(phi, theta[n], x_r[n], x_i[n]) one after the other.
Stan User's Guide, "Parallelization".
"""

from collections.abc import Sequence

from ppl.frontend import ast, call_messages, messages
from ppl.frontend.calls import find_overload, known_functions, names_a_function, suffix_of
from ppl.frontend.facts import Check, UserMatch
from ppl.frontend.odes import ODES, asked
from ppl.frontend.scope import nearest
from ppl.types import INT, REAL, VECTOR, VOID, Array, Type, array_dims, array_of

HIGHER_ORDER = ("reduce_sum", "reduce_sum_static", "map_rect", *ODES)
MAP_RECT = (VECTOR, Array(VECTOR), Array(REAL, 2), Array(INT, 2))


def check_higher_order(c: Check, e: ast.Call, args: Sequence[Type]) -> Type:
    """The type of the call; `args` are the types after the function's name."""
    wanted, function_returns, returns = asked_of(e.name, args)
    function = e.args[0]
    if not isinstance(function, ast.Variable) or not names_a_function(c, function.name):
        raise c.refuse(messages.unknown_function(described(function), near(c, function)), function.span)
    if wanted is None:
        raise c.refuse(call_messages.higher_order_arguments(e.name, args), e.span)
    found = find_overload(c, function.name, wanted)
    if (
        not isinstance(found, UserMatch)
        or found.returns != function_returns
        or suffix_of(function.name) == "rng"
    ):
        raise c.refuse(
            call_messages.higher_order_function(e.name, function.name, wanted, function_returns),
            function.span,
        )
    assert isinstance(found, UserMatch)
    c.facts.calls[e] = found
    return returns


def asked_of(name: str, args: Sequence[Type]) -> tuple[Sequence[Type] | None, Type, Type]:
    """What the function must take, None where the arguments do not fit; what it and the call return."""
    if name in ODES:
        found = asked(name, args)
        return (found.of_function, found.function_returns, found.returns) if found else (None, VOID, VOID)
    if name == "map_rect":
        return map_rect_arguments(args), VECTOR, VECTOR
    return reduce_sum_arguments(args), REAL, REAL


def reduce_sum_arguments(args: Sequence[Type]) -> Sequence[Type] | None:
    """The slice, its start and end, and what is shared."""
    if len(args) < 2 or array_dims(args[0]) == 0 or args[1] != INT:
        return None
    return (args[0], INT, INT, *args[2:])


def map_rect_arguments(args: Sequence[Type]) -> Sequence[Type] | None:
    """What one call gets: the shared vector, and one shard of each other argument."""
    if tuple(args) != MAP_RECT:
        return None
    return (args[0], *(array_of(a.element, a.dims - 1) for a in args[1:] if isinstance(a, Array)))


def described(e: ast.Expr) -> str:
    return e.name if isinstance(e, ast.Variable) else "this expression"


def near(c: Check, e: ast.Expr) -> str | None:
    return nearest(e.name, known_functions(c)) if isinstance(e, ast.Variable) else None
