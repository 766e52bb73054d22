"""The maps of the constraints as functions: name_constrain, name_jacobian, name_unconstrain.

Stan Functions Reference 2.37, "Transform Functions".  The first two are the same map; name_jacobian also adds
its log-Jacobian to the target, so that its implementation returns both.
"""

from collections.abc import Callable, Iterator
from typing import Any

from ppl.stdlib.functions.constraint_maps import SCALARS, STRUCTURED, Map, Transform
from ppl.stdlib.record import Function, Impl, Overload

MAX_DIMS = 7
"""Array axes that the functions of structured types take, as many as in Stan."""


def _value(constrain: Map) -> Impl:
    return lambda *args: constrain(*args)[0]


def _arrays_of(base: str) -> Iterator[str]:
    if base == "T":  # stands for arrays already
        return iter(["T"])
    return (f"array[{',' * (dims - 1)}] {base}" if dims else base for dims in range(MAX_DIMS + 1))


def _overloads(
    t: Transform, source: str, target: str, further: tuple[str, ...], impl: Impl
) -> list[Overload]:
    return [
        Overload(f"({', '.join([u, *further])}) => {x}", impl, t.batch)
        for u, x in zip(_arrays_of(source), _arrays_of(target), strict=True)
    ]


def _forward(t: Transform, impl: Impl) -> list[Overload]:
    return _overloads(t, t.free, t.constrained, t.further, impl)


def _backward(t: Transform) -> list[Overload]:
    further = t.further if t.free == "T" else ()
    return _overloads(t, t.constrained, t.free, further, t.unconstrain)


def _records(
    suffix: str, meaning: str, overloads: Callable[[Transform], list[Overload]]
) -> tuple[Function, ...]:
    """One function a name; a name may stand for several transforms."""
    found: dict[str, list[Any]] = {}
    for t in (*SCALARS, *STRUCTURED):
        _, have = found.setdefault(t.name, [t.noun, []])
        have += overloads(t)
    return tuple(
        Function(f"{name}_{suffix}", meaning.format(noun), tuple(have))
        for name, (noun, have) in found.items()
    )


FUNCTIONS: tuple[Function, ...] = (
    *_records("constrain", "free numbers to {}", lambda t: _forward(t, _value(t.constrain))),
    *_records("unconstrain", "{} to free numbers", _backward),
)

JACOBIAN_FUNCTIONS: tuple[Function, ...] = _records(
    "jacobian",
    "free numbers to {}, adding the log-Jacobian to the target",
    lambda t: _forward(t, t.constrain),
)
"""Implementations return (value, terms of the log-Jacobian)."""
