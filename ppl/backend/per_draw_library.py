"""`lib` for many draws at once: the same functions, which also take values that differ from draw to draw.

How a function of the standard library takes the axis of the draws is what its record says of a leading
axis; one that takes none is called once a draw.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, Node
from ppl.backend.library import less_constants, library, sum_last
from ppl.backend.per_draw import (
    PerDraw,
    agreed,
    aligned,
    flat_each,
    number_of_draws,
    one_by_one,
    sum_each,
    widened,
)
from ppl.backend.per_draw_runtime import HELPERS, RUNTIME, scan
from ppl.backend.runtime import Place
from ppl.backend.text import Binding
from ppl.stdlib import batching
from ppl.stdlib.constraints.bounds import LOWER_SOFTPLUS
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.constraints.table import CONSTRAINTS
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
    lib.scan = either(lib.scan, partial(scan, xp, lib, in_numpy(xp, lib, bindings, softplus)))
    for constraint in CONSTRAINTS:
        chosen = LOWER_SOFTPLUS if softplus and constraint.keyword == "lower" else constraint
        setattr(lib, f"constrain_{constraint.keyword}", constrainer(xp, chosen))
    for name, binding in bindings.items():
        if binding.passes != "rng":
            setattr(lib, name, over_draws(xp, binding, getattr(lib, name)))
    return lib


def in_numpy(
    xp: Namespace, lib: SimpleNamespace, bindings: Mapping[str, Binding], softplus: bool
) -> Callable[[], SimpleNamespace]:
    """The same library in plain NumPy, made when it is first asked for."""
    return cache(lambda: lib if xp is NUMPY else per_draw_library(NUMPY, bindings, softplus))


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


def trailing(binding: Binding, xp: Namespace, args: Sequence[Any]) -> list[Array]:
    """Arguments with the same number of axes before those the function works on; ints are agreed on.

    A density that works row by row gets an axis for the rows even of one row alone.
    """
    by_rows = binding.family is not None and bool(binding.family.cores)
    if binding.family is None:
        args = [
            agreed(a) if core == 0 and of_ints(a) else a for a, core in zip(args, binding.cores, strict=True)
        ]
    leading = [np.ndim(a) - core for a, core in zip(args, binding.cores, strict=True)]
    most = max([int(by_rows), *leading])
    return [widened(xp, a, most - own) for a, own in zip(args, leading, strict=True)]


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
            return lambda *args: sum_last(xp, impl(xp, *args), binding.summed)
        case "product":
            return lambda *args: product(xp, flat_each(xp, impl(xp, *args)))
        case _:
            return partial(impl, xp)


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


AS_IT_IS = TRANSPARENT | {batching.batch_size, batching.positions}
"""What needs no array."""
