"""Sums, products and moments of a container.

Stan Functions Reference, "Reductions".  A vector, row vector or one-dimensional array is reduced over its
last axis and a matrix over its last two, so that any leading axes pass through.
"""

from dataclasses import replace

from ppl.arrays import Array, Namespace, row_sums, with_vjps
from ppl.stdlib.functions.checks import require_some
from ppl.stdlib.reals import as_real
from ppl.stdlib.record import Function, Impl, Overload, function, guarded, leading

SIDES = ("vector", "row_vector")
LISTS = (*SIDES, "array[] real")


def flat(xp: Namespace, x: Array) -> Array:
    """A matrix with its elements on one axis."""
    return xp.np.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))


def over_matrix(impl: Impl) -> Impl:
    """The reduction `impl` of a list, for a matrix."""
    return lambda xp, x: impl(xp, flat(xp, x))


def reduction(name: str, meaning: str, impl: Impl, *more: tuple[str, Impl]) -> Function:
    """A function from a list of reals or a matrix to a real."""
    lists = tuple((f"({kind}) => real", impl) for kind in LISTS)
    return leading(name, meaning, *lists, ("(matrix) => real", over_matrix(impl)), *more)


def or_of_two_ints(f: Function, impl: Impl) -> Function:
    """The same function, also of two ints."""
    return replace(f, overloads=(*f.overloads, Overload("(int, int) => int", impl, "elementwise")))


def spread(xp: Namespace, g: Array) -> Array:
    """The adjoint of a reduction, ready to multiply the elements it came from."""
    return xp.np.expand_dims(g, -1)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * xp.np.ones(x.shape))
def total(xp: Namespace, x: Array) -> Array:
    return row_sums(xp, x)


def _others(xp: Namespace, x: Array) -> Array:
    """The product of all elements but each, right also where elements are zero."""
    zero = x == 0
    factors = xp.np.where(zero, 1.0, x)
    other_zeros = xp.np.sum(zero, axis=-1, keepdims=True) - zero
    return xp.np.where(other_zeros == 0, xp.np.prod(factors, axis=-1, keepdims=True) / factors, 0.0)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * _others(xp, x))
def product(xp: Namespace, x: Array) -> Array:
    return xp.np.prod(x, axis=-1)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * xp.np.full(x.shape, 1.0 / x.shape[-1]))
def mean(xp: Namespace, x: Array) -> Array:
    require_some("mean", x)
    return xp.np.mean(x, axis=-1)


def _centred(xp: Namespace, x: Array) -> Array:
    return x - xp.np.mean(x, axis=-1, keepdims=True)


def _degrees(x: Array) -> int:
    return max(int(x.shape[-1]) - 1, 1)


@with_vjps(lambda xp, g, ans, x: spread(xp, g) * 2.0 / _degrees(x) * _centred(xp, x))
def variance(xp: Namespace, x: Array) -> Array:
    """Divided by n - 1; 0 of a single element."""
    require_some("variance", x)
    return row_sums(xp, _centred(xp, x) ** 2) / _degrees(x)


def _sd_adjoint(xp: Namespace, g: Array, ans: Array, x: Array) -> Array:
    """Of equal elements the sd has a kink; the slope of one element alone, 1 / sqrt(n), stands in."""
    ans = spread(xp, ans)
    slope = _centred(xp, x) / (_degrees(x) * xp.np.where(ans == 0, 1.0, ans))
    return spread(xp, g) * xp.np.where(ans == 0, x.shape[-1] ** -0.5, slope)


@with_vjps(_sd_adjoint)
def sd(xp: Namespace, x: Array) -> Array:
    require_some("sd", x)
    return xp.np.sqrt(variance(xp, x))


def least(xp: Namespace, x: Array) -> Array:
    return xp.np.min(x, axis=-1) if x.shape[-1] else xp.np.full(x.shape[:-1], xp.np.inf)


def greatest(xp: Namespace, x: Array) -> Array:
    return xp.np.max(x, axis=-1) if x.shape[-1] else xp.np.full(x.shape[:-1], -xp.np.inf)


def least_int(xp: Namespace, x: Array) -> Array:
    require_some("min", x)
    return xp.np.min(x, axis=-1)


def greatest_int(xp: Namespace, x: Array) -> Array:
    require_some("max", x)
    return xp.np.max(x, axis=-1)


def cumulative_sum(xp: Namespace, x: Array) -> Array:
    return xp.np.cumsum(x, axis=-1)


def quantile(xp: Namespace, x: Array, p: Array) -> Array:
    """Definition 7 of Hyndman & Fan (1996), as in R and NumPy: linear between order statistics.

    nan for a p outside [0, 1], and where an element is nan.
    """
    require_some("quantile", x)
    ordered = x[xp.np.argsort(xp.plain(x), stable=True)]
    known = (p >= 0) & (p <= 1) & (ordered[-1] == ordered[-1])
    place = xp.np.where(known, as_real(p), 0.0) * (x.shape[-1] - 1)
    below = xp.np.floor(place).astype(int)
    above = xp.np.minimum(below + 1, x.shape[-1] - 1)
    return guarded(xp, known, ordered[below] + (place - below) * (ordered[above] - ordered[below]))


FUNCTIONS = (
    reduction("sum", "the sum of the elements", total, ("(array[] int) => int", total)),
    reduction("prod", "the product of the elements", product, ("(array[] int) => int", product)),
    reduction("mean", "the mean of the elements", mean),
    reduction("variance", "the variance of the elements, over n - 1", variance),
    reduction("sd", "the standard deviation of the elements, over n - 1", sd),
    or_of_two_ints(
        reduction("min", "the least element, or int", least, ("(array[] int) => int", least_int)),
        lambda xp, a, b: xp.np.minimum(a, b),
    ),
    or_of_two_ints(
        reduction("max", "the greatest element, or int", greatest, ("(array[] int) => int", greatest_int)),
        lambda xp, a, b: xp.np.maximum(a, b),
    ),
    leading(
        "cumulative_sum",
        "the running sums",
        *[(f"({x}) => {x}", cumulative_sum) for x in (*LISTS, "array[] int")],
    ),
    function(
        "quantile",
        "the p-quantile, linear between order statistics",
        *[(f"({x}, {p}) => {p}", quantile) for x in LISTS for p in ("real", "array[] real")],
    ),
)
