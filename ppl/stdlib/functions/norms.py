"""Dot products, norms and distances.  Stan Functions Reference, "Dot products and specialized products"."""

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.complex_parts import direction
from ppl.stdlib.functions.products import inner
from ppl.stdlib.functions.sums import LISTS, SIDES, spread
from ppl.stdlib.record import Function, Impl, Overload, leading

PAIRS = tuple((a, b) for a in SIDES for b in SIDES)


@with_vjps(lambda xp, g, ans, x: 2.0 * spread(xp, g) * x)
def dot_self(xp: Namespace, x: Array) -> Array:
    return xp.np.sum(x * x, axis=-1)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * xp.np.sign(x))
def norm1(xp: Namespace, x: Array) -> Array:
    return xp.np.sum(xp.np.abs(x), axis=-1)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * direction(xp, x, spread(xp, ans)))
def norm2(xp: Namespace, x: Array) -> Array:
    return xp.np.sqrt(xp.np.sum(x * x, axis=-1))


def distance(xp: Namespace, x: Array, y: Array) -> Array:
    return norm2(xp, x - y)


def _elementwise(xp: Namespace, x: Array, y: Array) -> Array:
    return x * y


def _one(xp: Namespace, x: Array, y: Array) -> Array:
    return spread(xp, inner(xp, x, y))


def with_itself(impl: Impl) -> Impl:
    """A product of two containers as a function of one."""
    return lambda xp, x: impl(xp, x, x)


def _reduction(name: str, meaning: str, kinds: tuple[str, ...], impl: Impl) -> Function:
    return leading(name, meaning, *[(f"({kind}) => real", impl) for kind in kinds])


def _of_pairs(name: str, meaning: str, impl: Impl, *more: tuple[str, str]) -> Function:
    pairs = (*PAIRS, *more)
    return leading(name, meaning, *[(f"({a}, {b}) => real", impl) for a, b in pairs])


def _by_lines(
    line: str, result: str, of_matrices: Impl, of_vectors: Impl, of_row_vectors: Impl
) -> tuple[Function, Function]:
    """The products of every column (or row) of two containers, and of one container with itself."""
    impls = {"vector": of_vectors, "row_vector": of_row_vectors, "matrix": of_matrices}
    pairs = [(f"({kind}, {kind}) => {result}", impl) for kind, impl in impls.items()]
    selves = [(f"({kind}) => {result}", with_itself(impl)) for kind, impl in impls.items()]
    return (
        leading(f"{line}s_dot_product", f"the dot product of each {line}", *pairs),
        leading(f"{line}s_dot_self", f"each {line}'s sum of squares", *selves),
    )


SQUARED_DISTANCE = Function(
    "squared_distance",
    "the squared Euclidean distance",
    (
        Overload("(real, real) => real", lambda xp, x, y: (x - y) * (x - y), "elementwise"),
        *[Overload(f"({a}, {b}) => real", lambda xp, x, y: dot_self(xp, x - y), "leading") for a, b in PAIRS],
    ),
)

FUNCTIONS = (
    _of_pairs("dot_product", "the dot product", inner, ("array[] real", "array[] real")),
    _reduction("dot_self", "the sum of squares", SIDES, dot_self),
    _reduction("norm1", "the sum of absolute values", LISTS, norm1),
    _reduction("norm2", "the Euclidean length", LISTS, norm2),
    SQUARED_DISTANCE,
    _of_pairs("distance", "the Euclidean distance", distance),
    *_by_lines("column", "row_vector", lambda xp, x, y: xp.np.sum(x * y, axis=-2), _one, _elementwise),
    *_by_lines("row", "vector", lambda xp, x, y: xp.np.sum(x * y, axis=-1), _elementwise, _one),
)
