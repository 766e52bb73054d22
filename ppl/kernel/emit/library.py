"""`lib`: the standard library and the runtime, bound to one namespace."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Namespace, Node
from ppl.kernel.emit import runtime
from ppl.kernel.emit.runtime import RUNTIME
from ppl.kernel.emit.scan import scan
from ppl.kernel.emit.text import Binding
from ppl.stdlib.constraints.bounds import LOWER_SOFTPLUS
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.drawing import drawn
from ppl.stdlib.functions.sums import product
from ppl.stdlib.over_draws import sum_from
from ppl.stdlib.record import Constant

Wrap = Callable[[str, Binding, Callable[..., Any]], Callable[..., Any]]


def library(
    xp: Namespace, bindings: Mapping[str, Binding], softplus: bool, wrap: Wrap | None = None
) -> SimpleNamespace:
    """Everything emitted code may call.

    `softplus` chooses the second map onto the positive reals; `wrap` may replace what a name is bound to.
    """
    lib = SimpleNamespace(**of_every_program(xp, softplus))
    plain = cache(lambda: lib if xp is NUMPY else library(NUMPY, bindings, softplus))
    lib.scan = partial(scan, xp, lib, plain)
    for name, binding in bindings.items():
        function = bound(xp, binding)
        setattr(lib, name, wrap(name, binding, function) if wrap else function)
    return lib


@cache
def of_every_program(xp: Namespace, softplus: bool) -> Mapping[str, Callable[..., Any]]:
    """The runtime and the constraints, the same for every program."""
    functions: dict[str, Callable[..., Any]] = {f.__name__.rstrip("_"): partial(f, xp) for f in RUNTIME}
    for constraint in CONSTRAINTS:
        chosen = LOWER_SOFTPLUS if softplus and constraint.keyword == "lower" else constraint
        functions[f"constrain_{constraint.keyword}"] = partial(runtime.constrain, xp, chosen)
        functions[f"free_{constraint.keyword}"] = partial(runtime.free, chosen)
    return functions


def bound(xp: Namespace, binding: Binding) -> Callable[..., Any]:
    """The implementation in this namespace; an rng draws from the generator it is given instead."""
    impl = binding.impl if not binding.drops else less_constants(binding)
    if binding.implicit == "rng":
        return drawn(binding.family) if binding.family is not None else binding.impl
    if binding.implicit == "jacobian":
        return partial(add_jacobian, xp, impl, int(binding.mode == "each"))
    match binding.mode:
        case "total":
            return total_of(xp, impl)
        case "rows":
            return sums_of(xp, impl, binding.leading_axes)
        case "product" | "products":
            return lambda *args: product(xp, flat_from(xp, impl(xp, *args), binding.leading_axes))
        case _:
            return partial(impl, xp, outer=binding.outer) if binding.outer else partial(impl, xp)


def less_constants(binding: Binding) -> Callable[..., Any]:
    """The log density without the terms it drops."""
    family, density = binding.family, binding.impl
    assert family is not None
    names = [name for name, _ in family.args]
    terms = [family.constants[k] for k in binding.drops]

    def unnormalised(xp: Namespace, *args: Any) -> Any:
        arguments = dict(zip(names, args, strict=False))
        return density(xp, *args) - sum(constant_term(xp, constant, arguments) for constant in terms)

    return unnormalised


def constant_term(xp: Namespace, constant: Constant, arguments: Mapping[str, Any]) -> Any:
    """The value of a term that propto drops; `arguments` are the arguments by name."""
    needs, term, sizes = constant if len(constant) == 3 else (*constant, ())
    return term(xp, *(arguments[name] for name in (*needs, *sizes)))


def total_of(xp: Namespace, impl: Callable[..., Any]) -> Callable[..., Any]:
    """The sum over the elements of what `impl` returns."""
    if isinstance(impl, Node):
        return partial(impl.summed, xp)
    return lambda *args: xp.np.sum(impl(xp, *args))


def add_jacobian(xp: Namespace, impl: Callable[..., Any], outer: int, jacobian: list[Any], *args: Any) -> Any:
    """A name_jacobian function: its value, the log-Jacobian of every draw, or of one, added on the way."""
    value, log_jacobian = impl(xp, *args)
    jacobian.append(runtime.total(xp, log_jacobian, min(outer, np.ndim(log_jacobian))))
    return value


def sums_of(xp: Namespace, impl: Callable[..., Any], leading_axes: int) -> Callable[..., Any]:
    """A sum over what `impl` returns for each entry of its first axes."""
    if isinstance(impl, Node):
        return partial(impl.summed_but(leading_axes), xp)
    return lambda *args: sum_from(xp, impl(xp, *args), leading_axes)


def flat_from(xp: Namespace, x: Any, leading_axes: int) -> Any:
    """The axes after the first `leading_axes` as one."""
    return xp.np.reshape(x, (*np.shape(x)[:leading_axes], -1))
