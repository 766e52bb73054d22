"""`lib` for many draws at once: the same functions, which also take values that differ from draw to draw.

How a function of the standard library takes the axis of the draws is what its record says of a leading
axis; one that takes none is called once a draw.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, Node, stack
from ppl.backend import runtime
from ppl.backend.library import less_constants, library
from ppl.backend.per_draw import (
    PerDraw,
    agreed,
    aligned,
    beside,
    for_each,
    laid_out,
    number_of_draws,
    of_draw,
    of_draws,
    put_back,
    spaced,
    sum_each,
    widened,
)
from ppl.backend.runtime import Place
from ppl.backend.scan import Scan, Step
from ppl.backend.text import Binding
from ppl.errors import Rejection
from ppl.stdlib import batching
from ppl.stdlib.constraints.bounds import LOWER_SOFTPLUS
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD, CONSTRAINTS
from ppl.stdlib.functions.sums import product
from ppl.stdlib.functions.table import TRANSPARENT

Function = Callable[..., Any]


def per_draw_library(
    xp: Namespace, bindings: Mapping[str, Binding], softplus: bool = False
) -> SimpleNamespace:
    """Everything emitted code may call, for parameters that are PerDraw."""
    lib = library(xp, bindings, softplus)
    for rule in RUNTIME:
        name = rule.__name__.rstrip("_")
        setattr(lib, name, either(getattr(lib, name), partial(rule, xp)))
    lib.scan = either(lib.scan, partial(scan, xp, lib))
    for constraint in CONSTRAINTS:
        chosen = LOWER_SOFTPLUS if softplus and constraint.keyword == "lower" else constraint
        setattr(lib, f"constrain_{constraint.keyword}", constrainer(xp, chosen))
    for name, binding in bindings.items():
        if binding.passes != "rng":
            setattr(lib, name, over_draws(xp, binding, getattr(lib, name)))
    return lib


def either(once: Function, many: Function) -> Function:
    """`many` where an argument differs from draw to draw."""
    return lambda *args: many(*args) if number_of_draws(args) else once(*args)


# --- The standard library ------------------------------------------------------------------------


def over_draws(xp: Namespace, binding: Binding, once: Function) -> Function:
    """What a name is bound to, for arguments that may differ from draw to draw."""
    if binding.impl in AS_IT_IS:
        return once
    if binding.impl in HELPERS:
        return either(once, partial(HELPERS[binding.impl], xp))
    if binding.passes == "jacobian":
        return partial(add_jacobian, xp, binding, once)
    if binding.batch == "none" and not binding.cores:
        return either(once, partial(one_by_one, xp, once))
    lined_up = aligned if binding.batch == "elementwise" else partial(trailing, binding)
    reduced = reduction(xp, binding)
    return either(once, lambda *args: PerDraw(xp, reduced(*lined_up(xp, args))))


def one_by_one(xp: Namespace, f: Function, *args: Any) -> Any:
    """One call a draw."""
    return of_draws(xp, [f(*(of_draw(a, k) for a in args)) for k in range(number_of_draws(args))])


def trailing(binding: Binding, xp: Namespace, args: Sequence[Any]) -> list[Array]:
    """Arguments with the same number of axes before those the function works on; ints are agreed on."""
    if binding.family is None:
        args = [
            agreed(a) if core == 0 and of_ints(a) else a for a, core in zip(args, binding.cores, strict=True)
        ]
    leading = [np.ndim(a) - core for a, core in zip(args, binding.cores, strict=True)]
    return [widened(xp, a, max(leading) - own) for a, own in zip(args, leading, strict=True)]


def of_ints(x: Any) -> bool:
    return isinstance(x, PerDraw) and x.xp.plain(x.each).dtype.kind == "i"


def reduction(xp: Namespace, binding: Binding) -> Function:
    """The implementation, on arrays with the draws first, and what becomes of its elements."""
    impl = binding.impl if not binding.drops else less_constants(binding)
    match binding.mode:
        case "total":
            if isinstance(impl, Node):
                return partial(impl.summed_each, xp)
            return lambda *args: sum_each(xp, impl(xp, *args))
        case "rows":
            return lambda *args: sum_rows(xp, impl(xp, *args))
        case "product":
            return lambda *args: product(xp, flat_each(xp, impl(xp, *args)))
        case _:
            return partial(impl, xp)


def sum_rows(xp: Namespace, x: Array) -> Array:
    """One sum for each draw and entry of the axis after."""
    return xp.np.sum(x, axis=tuple(range(2, np.ndim(x))))


def flat_each(xp: Namespace, x: Array) -> Array:
    return xp.np.reshape(x, (x.shape[0], -1))


def add_jacobian(xp: Namespace, binding: Binding, once: Function, jacobian: list[Any], *args: Any) -> Any:
    """A name_jacobian function: its value, the log-Jacobian of each draw added on the way."""
    if not number_of_draws(args):
        return once(jacobian, *args)
    lined_up = aligned(xp, args) if binding.batch == "elementwise" else trailing(binding, xp, args)
    value, log_jacobian = binding.impl(xp, *lined_up)
    jacobian.append(jacobian_each(xp, log_jacobian))
    return PerDraw(xp, value)


def jacobian_each(xp: Namespace, log_jacobian: Array) -> Any:
    return PerDraw(xp, sum_each(xp, log_jacobian)) if np.ndim(log_jacobian) else log_jacobian


# --- Parameters ----------------------------------------------------------------------------------


def constrainer(xp: Namespace, constraint: Constraint) -> Function:
    """The transform of every draw's block of `u`."""

    def constrain(u: Sequence[PerDraw], place: Place, *args: Any) -> tuple[PerDraw, Any]:
        rank = len(place.dims) + len(place.core)
        bounds = [widened(xp, a, rank - np.ndim(a)) for a in args]
        x, log_jacobian = constraint.constrain(xp, u[place.order].each, place.core, *bounds)
        return PerDraw(xp, x), jacobian_each(xp, log_jacobian)

    return constrain


def take(xp: Namespace, u: Sequence[PerDraw], place: Place) -> PerDraw:
    return PerDraw(xp, CONSTRAINT_BY_KEYWORD["identity"].constrain(xp, u[place.order].each, place.core)[0])


# --- The runtime ---------------------------------------------------------------------------------


def array(xp: Namespace, *items: Any) -> Any:
    return beside(xp, items)


def int_array(xp: Namespace, *items: Any) -> Any:
    return beside(xp, items)


def own(xp: Namespace, x: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)(own(xp, item) for item in x)
    return PerDraw(xp, xp.own(x.each)) if isinstance(x, PerDraw) else runtime.own(xp, x)


def put(xp: Namespace, x: Any, where: Any, value: Any) -> Any:
    if isinstance(x, list):
        return runtime.put(xp, x, where, value)
    draws = number_of_draws((x, value))
    index = for_each(where)
    axes = np.broadcast_to(np.False_, x.shape)[index[1:]].ndim
    value = widened(xp, value, axes - np.ndim(value))
    return PerDraw(xp, xp.put(laid_out(x, draws), index, value))


def elements(xp: Namespace, x: PerDraw, is_matrix: bool) -> list[Any]:
    if is_matrix:
        x = PerDraw(xp, flat_each(xp, xp.np.swapaxes(x.each, -1, -2)))
    return list(x)


def sum_terms(xp: Namespace, collected: Sequence[Any]) -> PerDraw:
    return PerDraw(xp, xp.add_all(*(t.each if isinstance(t, PerDraw) else t for t in collected)))


def total(xp: Namespace, x: PerDraw) -> PerDraw:
    return PerDraw(xp, sum_each(xp, x.each))


def mesh(xp: Namespace, x: Any, *items: Any) -> tuple[Any, ...]:
    return runtime.mesh(xp, x, *map(agreed, items))


def gather(xp: Namespace, x: Any, base_lifted: bool, lifted: Sequence[bool], *items: Any) -> Any:
    return runtime.gather(xp, x, base_lifted, lifted, *map(agreed, items))


def scatter_index(xp: Namespace, x: Any, lifted: Sequence[bool], *items: Any) -> tuple[Any, ...]:
    return runtime.scatter_index(xp, x, lifted, *map(agreed, items))


def widen(xp: Namespace, x: PerDraw, axes: int) -> PerDraw:
    return PerDraw(xp, spaced(xp, x.each, 2, axes))


def each(xp: Namespace, f: Function, lifted: Sequence[bool], *args: Any) -> Any:
    return one_array(xp, runtime.results(f, lifted, args))


def one_array(xp: Namespace, items: Sequence[Any]) -> Any:
    return beside(xp, items) if number_of_draws(items) else runtime.array(xp, *items)


def join(xp: Namespace, f: Function, lifted: Sequence[bool], *args: Any) -> Any:
    vectors, draws = runtime.results(f, lifted, args), number_of_draws(args)
    return PerDraw(xp, xp.np.concatenate([laid_out(v, draws) for v in vectors], axis=1))


def print_(xp: Namespace, *args: Any) -> None:
    one_by_one(xp, partial(runtime.print_, xp), *args)


def reject(xp: Namespace, *args: Any) -> None:
    runtime.reject(xp, *(of_draw(a, 0) for a in args))


def fatal_error(xp: Namespace, *args: Any) -> None:
    runtime.fatal_error(xp, *(of_draw(a, 0) for a in args))


def check(xp: Namespace, constraint: str, name: str, x: Any, shape: tuple[int, ...], *args: Any) -> None:
    """Draws of which only some satisfy a declared constraint part."""
    complaints = []
    for k in range(number_of_draws((x, *args))):
        try:
            runtime.check(xp, constraint, name, of_draw(x, k), shape, *(of_draw(a, k) for a in args))
        except Rejection as complaint:
            complaints.append((k, complaint))
    if complaints:
        wrong = np.zeros(number_of_draws((x, *args)), dtype=bool)
        wrong[[k for k, _ in complaints]] = True
        agreed(PerDraw(xp, wrong))
        raise complaints[0][1]


RUNTIME = (
    *(take, array, int_array, own, put, elements, sum_terms, total, mesh, gather, scatter_index, widen),
    *(each, join, print_, reject, fatal_error, check),
)
"""What takes the place of the runtime's functions of the same names; the others do for many draws too."""


def scan(
    xp: Namespace,
    lib: Any,
    step: Step,
    batch: Step,
    start: Sequence[Any],
    entries: Sequence[Any],
    fixed: Sequence[Any],
) -> tuple[Any, ...]:
    """Step by step, all draws together."""
    states = Scan(step, batch, lib, lib).run(lib, start, entries, fixed)
    return tuple(one_array(xp, items) for items in zip(*states, strict=True))


# --- Loops that became arrays --------------------------------------------------------------------


def spread(xp: Namespace, value: Any, batch: Array) -> PerDraw:
    return PerDraw(xp, spaced(xp, value.each, 1, 1) * np.ones((len(batch), *(1,) * value.ndim)))


def spread_ints(xp: Namespace, value: Any, batch: Array) -> PerDraw:
    return PerDraw(xp, np.repeat(value.each[:, None], len(batch), axis=1))


def bundle(xp: Namespace, *items: Any) -> PerDraw:
    draws = number_of_draws(items)
    return PerDraw(xp, stack(2, *(laid_out(i, draws) for i in items)))


def sum_entries(xp: Namespace, values: PerDraw) -> PerDraw:
    return PerDraw(xp, xp.np.sum(values.each, axis=1))


def sum_at(xp: Namespace, values: PerDraw, positions: Array, whole: Any) -> PerDraw:
    places = agreed(positions)
    batching.sum_at(NUMPY, np.zeros(len(places)), places, whole)  # refuses a position outside
    return PerDraw(xp, put_back(xp, values.each, (slice(None), places - 1), (len(values.each), len(whole))))


def before(xp: Namespace, start: Any, after: PerDraw) -> PerDraw:
    first = spaced(xp, laid_out(start, len(after.each)), 1, 1)
    return PerDraw(xp, xp.np.concatenate([first, after.each[:, :-1]], axis=1))


def last(xp: Namespace, after: PerDraw) -> PerDraw:
    return after[-1]


def by_logic(impl: Function) -> Function:
    return lambda xp, a, b: PerDraw(xp, impl(xp, *aligned(xp, (a, b))))


def index_set(impl: Function) -> Function:
    return lambda xp, *args: impl(xp, *map(agreed, args))


HELPERS: Mapping[Function, Function] = {
    batching.spread: spread,
    batching.spread_ints: spread_ints,
    batching.bundle: bundle,
    batching.sum_entries: sum_entries,
    batching.sum_at: sum_at,
    batching.before: before,
    batching.last: last,
    batching.both: by_logic(batching.both),
    batching.either: by_logic(batching.either),
    batching.where_true: index_set(batching.where_true),
    batching.where_false: index_set(batching.where_false),
    batching.loop_range: index_set(batching.loop_range),
    batching.nested_positions: index_set(batching.nested_positions),
    batching.nested_range: index_set(batching.nested_range),
}

AS_IT_IS = TRANSPARENT | {batching.batch_size, batching.positions}
"""What needs no array."""
