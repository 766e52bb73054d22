"""What emitted code needs beside the standard library, for values that differ from draw to draw.

The rules stand in for functions of runtime.py, or of the standard library's batching.py, by their names; a
value that is the same for all draws may stand anywhere among the arguments.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, stack
from ppl.backend import runtime, scan_draws
from ppl.backend.lanes import in_lanes
from ppl.backend.per_draw import (
    DrawsRejected,
    PerDraw,
    agreed,
    aligned,
    beside,
    for_each,
    for_entries,
    laid_out,
    number_of_draws,
    of_draw,
    one_by_one,
    put_back,
    spaced,
    sum_each,
    widened,
)
from ppl.backend.runtime import Place
from ppl.backend.scan import Scan, Step
from ppl.errors import Rejection
from ppl.stdlib import batching
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD
from ppl.stdlib.functions.complex_parts import made_complex

Function = Callable[..., Any]


def take(xp: Namespace, u: Sequence[PerDraw], place: Place) -> PerDraw:
    return PerDraw(xp, CONSTRAINT_BY_KEYWORD["identity"].constrain(xp, u[place.order].each, place.core)[0])


def as_complex(xp: Namespace, x: PerDraw) -> PerDraw:
    return PerDraw(xp, made_complex(xp, x.each))


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


def widen(xp: Namespace, x: PerDraw, batch: int, axes: int) -> PerDraw:
    return PerDraw(xp, spaced(xp, x.each, 1 + batch, axes))


def each(xp: Namespace, f: Function, lifted: Sequence[bool], *args: Any) -> Any:
    draws = number_of_draws(args)
    if not any(isinstance(a, list | tuple) for a in args):
        return in_lanes(xp, f, lifted, args, draws)
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
    """Raise DrawsRejected when a transformed quantity of some draws breaks its declared constraint."""
    if isinstance(x, PerDraw) and all_satisfy(xp, constraint, x, shape, args):
        return
    complaints = []
    for k in range(number_of_draws((x, *args))):
        try:
            runtime.check(xp, constraint, name, of_draw(x, k), shape, *(of_draw(a, k) for a in args))
        except Rejection as complaint:
            complaints.append((k, complaint))
    if complaints:
        raise DrawsRejected(np.array([k for k, _ in complaints]), str(complaints[0][1]))


def all_satisfy(
    xp: Namespace, constraint: str, x: PerDraw, shape: tuple[int, ...], args: Sequence[Any]
) -> bool:
    bounds = [xp.plain(widened(xp, a, x.ndim - np.ndim(a))) for a in args]
    return CONSTRAINT_BY_KEYWORD[constraint].check(xp.plain(x.each), shape, *bounds) is None


RUNTIME = (
    *(take, as_complex, array, int_array, own, put, sum_terms, total, mesh, gather, scatter_index, widen),
    *(each, join, print_, reject, fatal_error, check),
)
"""What takes the place of the runtime's functions of the same names; the others do for many draws too."""


def scan(
    xp: Namespace,
    lib: Any,
    plain: Callable[[], Any],
    step: Step,
    batch: Step,
    start: Sequence[Any],
    entries: Sequence[Any],
    fixed: Sequence[Any],
) -> tuple[Any, ...]:
    """Step by step, all draws together."""
    return scan_draws.scan(xp, Scan(step, batch, plain(), lib), start, entries, fixed)


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


def sum_at(xp: Namespace, values: Any, whole: Any, *positions: Any) -> PerDraw:
    places, draws = [agreed(p) for p in positions], number_of_draws((values, whole, *positions))
    for p, size in zip(places, np.shape(whole), strict=False):
        batching.refuse_outside(p, size)
    index = (slice(None), *(p - 1 for p in places))
    return PerDraw(xp, put_back(xp, laid_out(values, draws), index, (draws, *np.shape(whole))))


def rectangle(xp: Namespace, values: PerDraw, rows: Any, columns: Any) -> PerDraw:
    return PerDraw(xp, xp.np.reshape(values.each, (-1, agreed(rows), agreed(columns))))


def row_by_row(xp: Namespace, values: PerDraw) -> PerDraw:
    return PerDraw(xp, xp.np.reshape(values.each, (len(values.each), -1, *values.shape[2:])))


def tile(xp: Namespace, values: PerDraw, batch: Array) -> PerDraw:
    return row_by_row(xp, PerDraw(xp, for_entries(xp, values.each, len(batch))))


def expand(xp: Namespace, values: PerDraw) -> PerDraw:
    return PerDraw(xp, spaced(xp, values.each, 2, 1))


def sum_across(xp: Namespace, values: PerDraw) -> PerDraw:
    return PerDraw(xp, xp.np.sum(values.each, axis=2))


def before(xp: Namespace, start: Any, after: Any) -> PerDraw:
    first, later = (laid_out(x, number_of_draws((start, after))) for x in (start, after))
    return PerDraw(xp, xp.np.concatenate([spaced(xp, first, 1, 1), later[:, :-1]], axis=1))


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
    batching.rectangle: rectangle,
    batching.row_by_row: row_by_row,
    batching.tile: tile,
    batching.expand: expand,
    batching.sum_across: sum_across,
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
