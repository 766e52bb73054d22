"""The maps of the constraints as functions: name_constrain, name_jacobian, name_unconstrain.

Stan Functions Reference 2.37, "Transform Functions".  The first two are the same map; name_jacobian also adds
its log-Jacobian to the target, so that its implementation returns both.
"""

from collections.abc import Callable, Iterator
from typing import Any

from ppl.arrays import Array, Namespace
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.functions.constraint_maps import SCALARS, STRUCTURED, Map, Transform, free_elements
from ppl.stdlib.record import Batch, Function, Impl, Overload

MAX_STRUCTURED_DIMS = 7
"""Array axes that the functions of structured types take, as many as in Stan."""


def _value(constrain: Map) -> Impl:
    return lambda *args: constrain(*args)[0]


def _arrays_of(base: str) -> Iterator[str]:
    if base == "T":  # stands for arrays already
        return iter(["T"])
    return (f"array[{',' * (dims - 1)}] {base}" if dims else base for dims in range(MAX_STRUCTURED_DIMS + 1))


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


# --- A user's constraint --------------------------------------------------------------------------

SIZES = {"real": 0, "vector": 1, "matrix": 2}
"""How many sizes a value of each type has."""


def functions_of(c: Constraint) -> tuple[Function, Function]:
    """keyword_constrain and keyword_jacobian of a constraint that the language has no type for.

    Of a real they are elementwise and take the constraint's arguments; a vector is made of its free
    elements and its size, a matrix of those and its two sizes, as in Stan's cov_matrix_jacobian(u, K).

    Raises:
        ValueError: the record does not say what type a value has, or has arguments that are not for reals.
    """
    if c.value is None:
        raise ValueError(f'the constraint `{c.keyword}` must say its `value`: "real", "vector" or "matrix"')
    if c.arguments and c.value != "real":
        raise ValueError(f"the constraint `{c.keyword}`: only one of reals may have arguments")
    forward = _elementwise(c) if c.value == "real" else _sized(c)
    value, jacobian = _value(forward), forward
    source, further = ("T", ["T"] * len(c.arguments)) if c.value == "real" else ("vector", [])
    batch: Batch = "elementwise" if c.value == "real" else "leading"
    target = "T" if c.value == "real" else c.value
    taken = ", ".join([source, *further, *["int"] * SIZES[c.value]])
    signature = f"({taken}) => {target}"
    return (
        Function(
            f"{c.keyword}_constrain", f"free numbers to {c.meaning}", (Overload(signature, value, batch),)
        ),
        Function(
            f"{c.keyword}_jacobian",
            f"free numbers to {c.meaning}, adding the log-Jacobian to the target",
            (Overload(signature, jacobian, batch),),
        ),
    )


def _elementwise(c: Constraint) -> Map:
    return lambda xp, u, *args: c.constrain(xp, u, (), *args)


def _sized(c: Constraint) -> Map:
    def constrain(xp: Namespace, u: Array, *sizes: int) -> tuple[Array, Array]:
        shape = tuple(map(int, sizes))
        if wrong := c.bad_shape(shape):
            raise ValueError(f"{c.keyword}: {wrong}")
        (expected,), found = c.free_shape(shape), u.shape[-1]
        if found != expected:
            raise ValueError(free_elements(c, shape, expected, found))
        return c.constrain(xp, u, shape)

    return constrain
