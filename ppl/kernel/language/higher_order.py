"""Functions that take a function: reduce_sum and map_rect, with Stan's meaning, and solvers.

`reduce_sum(f, x, grainsize, ...)` is `f(x, 1, size(x), ...)`; `map_rect(f, phi, theta, x_r, x_i)` is the
vectors f(phi, theta[n], x_r[n], x_i[n]) one after the other.  Stan User's Guide, "Parallelization".  Neither
is cut up for the cores: XLA does that with the arrays of any program (tests/benchmarks/README.md, "Slices").
"""

from collections.abc import Sequence
from textwrap import fill

from ppl.kernel.language import ast, call_messages, calls, messages
from ppl.kernel.language.facts import Check, UserMatch
from ppl.kernel.language.solvers import SOLVERS, check_data_only, function_arguments, shape_of_call
from ppl.spelling import nearest
from ppl.stdlib.reference import PAGE_WIDTH
from ppl.types import INT, REAL, VECTOR, ArrayType, Type, array_dims, array_of, is_complex, is_tuple

HIGHER_ORDER = ("reduce_sum", "reduce_sum_static", "map_rect", *SOLVERS)
NOT_OVERLOADABLE = (
    *("reduce_sum", "reduce_sum_static", *calls.UNSUPPORTED),
    *(name for name, solver in SOLVERS.items() if solver.shared is None),
)
"""Names that no function of a program may have: what these take is not in a signature."""
SLICE_BOUNDS = (1, 2)
"""Where a function of reduce_sum gets the start and the end of its slice."""
MAP_RECT = (VECTOR, ArrayType(VECTOR), ArrayType(REAL, 2), ArrayType(INT, 2))
MAP_RECT_DATA = (3, 4)
"""Which of its arguments, the function before them, must be data."""


def check_higher_order(c: Check, e: ast.Call, args: Sequence[Type]) -> Type:
    """The type of the call; `args` are the types after the function's name."""
    expected, returns = function_wanted(e.name, args)
    function = named_function(c, e.args[0])
    if expected is None:
        raise c.refuse(call_messages.higher_order_arguments(e.name, args, call_wanted(e.name)), e.span)
    function_type = pure_function(c, e, function, expected, returns)
    calls.check_suffix_place(c, function)
    c.facts.calls[e] = function_type
    if e.name not in SOLVERS:
        calls.refuse_parameters(c, e, data_positions(e.name, function_type))
        return returns
    check_data_only(c, e, function_type)
    return SOLVERS[e.name].result


def named_function(c: Check, e: ast.Expr) -> ast.Variable:
    """An argument that is the name of a function."""
    if isinstance(e, ast.Variable) and calls.names_a_function(c, e.name):
        return e
    name = e.name if isinstance(e, ast.Variable) else None
    near = nearest(name, calls.known_functions(c)) if name else None
    raise c.refuse(messages.unknown_function(name or "this expression", near), e.span)


def pure_function(
    c: Check, e: ast.Call, function: ast.Variable, expected: Sequence[Type], returns: Type
) -> UserMatch:
    """The function of the program that the call names, which takes and returns that and has no effects."""
    if calls.suffix_of(function.name) in ("rng", "lp", "jacobian"):
        raise c.refuse(call_messages.function_suffix(e.name, function.name), function.span)
    overload = calls.find_overload(c, function.name, expected)
    if overload is not None:
        calls.refuse_ambiguous(c, ast.Call(function.span, function.name, ()), expected, overload)
    if not isinstance(overload, UserMatch) or overload.returns != returns:
        raise c.refuse(
            call_messages.higher_order_function(e.name, function.name, expected, returns), function.span
        )
    return overload


def data_positions(name: str, called: UserMatch) -> list[int]:
    """The arguments of a call that must be data, by position; bounds of a slice are."""
    positions = called.function.data_positions
    if name == "map_rect":
        return sorted({*(i + 1 for i in positions), *MAP_RECT_DATA})
    return [max(i, 1) for i in positions if i not in SLICE_BOUNDS]


def function_wanted(name: str, args: Sequence[Type]) -> tuple[Sequence[Type] | None, Type]:
    """The types that the function must take (None if the arguments do not fit) and return."""
    if name in SOLVERS:
        return function_arguments(name, args), SOLVERS[name].gives
    if name == "map_rect":
        return map_rect_arguments(args), VECTOR
    return reduce_sum_arguments(args), REAL


def call_wanted(name: str) -> str:
    """The call as it should look."""
    if name in SOLVERS:
        return shape_of_call(name)
    if name == "map_rect":
        return "map_rect(f, vector, array[] vector, array[,] data real, array[,] data int)"
    return f"{name}(f, array to slice, int grainsize, shared arguments...)"


def higher_order_page(name: str) -> str:
    """The page of `ppl docs` for the function: its meaning, its call and its arguments."""
    if name in SOLVERS:
        solver = SOLVERS[name]
        shared = ["..."] if solver.shared is None else [*map(str, solver.shared)]
        arguments, gives, result = [*map(str, solver.own), *shared], solver.gives, solver.result
    elif name == "map_rect":
        arguments, gives, result = ["vector", "vector", "array[] real", "array[] int"], VECTOR, VECTOR
    else:
        arguments, gives, result = ["array slice", "int start", "int end", "..."], REAL, REAL
    usage = (f"{call_wanted(name)} => {result}", f"f: ({', '.join(arguments)}) => {gives}")
    usage_lines = (fill(call, PAGE_WIDTH, initial_indent="  ", subsequent_indent="      ") for call in usage)
    return "\n".join((fill(f"{name}: {meaning(name)}", PAGE_WIDTH), "", *usage_lines))


def meaning(name: str) -> str:
    """The sentence for the longest beginning of the name that has one."""
    return next(text for start, text in MEANINGS if name.startswith(start))


MEANINGS = (
    (
        "reduce_sum",
        "the sum of f over slices of an array; computed in one slice for any grainsize; under JAX large "
        "arrays are distributed over the cores, as in any statement",
    ),
    ("map_rect", "the concatenated vectors that f returns for each shard"),
    (
        "integrate_1d_gauss_kronrod",
        "the integral of f(x, nan, ...) between two limits, on panels that are bisected: for integrands "
        "with peaks or kinks inside",
    ),
    (
        "integrate_1d_double_exponential",
        "the integral of f(x, distance of x to the nearer limit, ...) between two limits: for integrands "
        "that are smooth inside, also with singular ends",
    ),
    ("integrate_1d", "the integral of f(x, distance of x to the nearer limit, ...) between two limits"),
    ("integrate_ode", "the older form of ode_rk45"),
    ("ode", "the solution of dy/dt = f(t, y, ...) at given times"),
    ("algebra_solver", "the older form of solve_newton"),
    ("solve", "the root of f(x, ...) = 0 near a guess"),
)


def reduce_sum_arguments(args: Sequence[Type]) -> Sequence[Type] | None:
    """The slice, its start and end, and what is shared."""
    if len(args) < 2 or array_dims(args[0]) == 0 or args[1] != INT:
        return None
    if is_tuple(args[0]) or is_complex(args[0]):
        return None
    return (args[0], INT, INT, *args[2:])


def map_rect_arguments(args: Sequence[Type]) -> Sequence[Type] | None:
    """The arguments of one call: the shared vector, and one shard of each other argument."""
    if tuple(args) != MAP_RECT:
        return None
    return (args[0], *(array_of(a.element, a.dims - 1) for a in args[1:] if isinstance(a, ArrayType)))
