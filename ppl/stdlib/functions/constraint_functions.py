"""The maps of the constraints as functions: name_constrain, name_jacobian, name_unconstrain.

Stan Functions Reference 2.37, "Transform Functions".  The first two are the same map; name_jacobian also adds
its log-Jacobian to the target, so that its implementation returns both.
"""

from collections.abc import Callable
from typing import NamedTuple

from ppl.arrays import Array, Namespace
from ppl.stdlib.constraints.layout import flatten, unflatten
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.functions.sizes import nested
from ppl.stdlib.record import Function, Impl, LeadingAxis, Overload, function, guarded

MAX_STRUCTURED_DIMS = 7
"""Array axes that the functions of structured types take, as many as in Stan."""

Map = Callable[..., tuple[Array, Array]]  # (xp, u, *arguments) -> (x, log-Jacobian)


class Transform(NamedTuple):
    """The map of a constraint between these types, without array axes, and `further` arguments."""

    free: str
    constrained: str
    further: tuple[str, ...]
    constrain: Map
    batch: LeadingAxis = "leading"


def transform(c: Constraint) -> Transform:
    """Of reals elementwise, with arguments; a vector of a vector; a matrix of a smaller one or
    of a vector and its sizes.
    """
    if c.value == "real":
        return Transform("T", "T", ("T",) * len(c.arguments), _of_reals(c), "elementwise")
    if c.value == "vector":
        return Transform("vector", "vector", (), _of_vectors(c))
    if c.fewer:
        return Transform("matrix", "matrix", (), _of_matrices(c, *c.fewer))
    return Transform("vector", "matrix", ("int",) * max(c.sizes), _sized(c))


def _of_reals(c: Constraint) -> Map:
    return lambda xp, u, *args: c.constrain(xp, u, (), *args)


def _of_vectors(c: Constraint) -> Map:
    """Vectors of as many elements as are free, or of one more."""

    def constrain(xp: Namespace, u: Array) -> tuple[Array, Array]:
        free = u.shape[-1:]
        return c.constrain(xp, u, free if c.free_shape(free) == free else (free[0] + 1,))

    return constrain


def _of_matrices(c: Constraint, more_rows: int, more_columns: int) -> Map:
    """Of matrices of free elements, which the constraint takes flat."""

    def constrain(xp: Namespace, u: Array) -> tuple[Array, Array]:
        rows, columns = u.shape[-2:]
        return c.constrain(xp, flatten(xp, u, (rows, columns)), (rows + more_rows, columns + more_columns))

    return constrain


def _sized(c: Constraint) -> Map:
    """Of free elements in a vector and the sizes of the value, of which one stands for both of a matrix.

    Raises:
        ValueError: no value has this shape, or it has more or fewer free elements.
    """

    def constrain(xp: Namespace, u: Array, *sizes: int) -> tuple[Array, Array]:
        shape = tuple(map(int, sizes)) * (2 if c.value == "matrix" and len(sizes) == 1 else 1)
        if wrong := c.bad_shape(shape):
            raise ValueError(f"{c.keyword}: {wrong}")
        (expected,), length = c.free_shape(shape), u.shape[-1]
        if length != expected:
            size = " x ".join(map(str, shape))
            raise ValueError(
                f"A {c.keyword} of size {size} is made of {expected} free elements, but got {length}."
            )
        return c.constrain(xp, u, shape)

    return constrain


def _inverse(c: Constraint) -> Impl:
    """The free elements, nan in place of those of a value that lies outside."""
    if c.value == "real":
        return lambda xp, x, *args: c.unconstrain(x, (), *args, xp=xp)
    axes = 1 if c.value == "vector" else 2

    def unconstrain(xp: Namespace, x: Array) -> Array:
        shape: Shape = x.shape[x.ndim - axes :]
        inside = xp.np.expand_dims(c.contains(xp, x), tuple(range(-axes, 0)))
        u = c.unconstrain(guarded(xp, inside, x), shape, xp=xp)
        return unflatten(xp, u, (shape[0] - c.fewer[0], shape[1] - c.fewer[1])) if c.fewer else u

    return unconstrain


def _value(constrain: Map) -> Impl:
    return lambda *args: constrain(*args)[0]


# --- The language's constraints --------------------------------------------------------------------


def _overloads(
    t: Transform, source: str, target: str, further: tuple[str, ...], impl: Impl
) -> list[Overload]:
    most = 0 if source == "T" else MAX_STRUCTURED_DIMS  # T stands for arrays already
    return [
        Overload(f"({', '.join([u, *further])}) => {x}", impl, t.batch)
        for u, x in zip(nested(source, most), nested(target, most), strict=True)
    ]


def _forward(t: Transform, impl: Impl) -> list[Overload]:
    return _overloads(t, t.free, t.constrained, t.further, impl)


def _backward(c: Constraint, t: Transform) -> list[Overload]:
    return _overloads(t, t.constrained, t.free, t.further if t.free == "T" else (), _inverse(c))


def _records(
    suffix: str, meaning: str, overloads: Callable[[Constraint, Transform], list[Overload]]
) -> tuple[Function, ...]:
    """One function a name; a name may stand for several constraints."""
    by_name: dict[str, tuple[str, list[Overload]]] = {}
    for c in CONSTRAINTS:
        if c.value:
            _, have = by_name.setdefault(c.function or c.keyword, (c.meaning.partition(":")[0], []))
            have += overloads(c, transform(c))
    return tuple(
        Function(f"{name}_{suffix}", meaning.format(noun), tuple(have))
        for name, (noun, have) in by_name.items()
    )


CONSTRAIN = "free numbers to {}"
JACOBIAN = "free numbers to {}, adding the log-Jacobian to the target"

FUNCTIONS: tuple[Function, ...] = (
    *_records("constrain", CONSTRAIN, lambda c, t: _forward(t, _value(t.constrain))),
    *_records("unconstrain", "{} to free numbers", _backward),
)

JACOBIAN_FUNCTIONS: tuple[Function, ...] = _records(
    "jacobian", JACOBIAN, lambda c, t: _forward(t, t.constrain)
)
"""Implementations return (value, terms of the log-Jacobian)."""


# --- A user's constraint --------------------------------------------------------------------------


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
    t = transform(c)
    if c.value == "vector":
        t = t._replace(further=("int",), constrain=_sized(c))
    signature = f"({', '.join([t.free, *t.further])}) => {t.constrained}"
    forms = ("constrain", CONSTRAIN, _value(t.constrain)), ("jacobian", JACOBIAN, t.constrain)
    value, jacobian = (
        function(f"{c.keyword}_{suffix}", meaning.format(c.meaning), (signature, impl), batch=t.batch)
        for suffix, meaning, impl in forms
    )
    return value, jacobian
