"""Covariance matrices of Gaussian processes over one or two sets of points.

Stan Functions Reference, "Gaussian process covariance functions"; Rasmussen & Williams, "Gaussian Processes
for Machine Learning" (2006), section 4.2.  A stationary kernel is a function of the squared distance divided
by the squared length scale, in which it is smooth at 0 (but for the exponential one, which has a corner).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from ppl.arrays import Array, Namespace, with_partials, with_vjps
from ppl.stdlib.functions.products import matrix_matrix, transposed
from ppl.stdlib.record import Function, Impl, guarded, leading

Correlation = Callable[[Namespace, Array], Array]
Domain = Callable[[Array], Array]
Points = Callable[[Array], Array]

COINCIDENT = 1e-24
"""Two points whose squared distance in length scales is at most this are one, but for rounding."""


def _distances_left(xp: Namespace, g: Array, ans: Array, x: Array, y: Array) -> Array:
    return 2.0 * (xp.np.sum(g, axis=-1)[..., None] * x - matrix_matrix(xp, g, y))


@with_vjps(_distances_left, lambda xp, g, ans, x, y: _distances_left(xp, transposed(xp, g), ans, y, x))
def squared_distances(xp: Namespace, x: Array, y: Array) -> Array:
    """(N, M), between points (N, D) and (M, D); never by expanding the square, which loses the zeros."""
    squares = ((x[..., :, None, d] - y[..., None, :, d]) ** 2 for d in range(x.shape[-1]))
    return sum(squares) + np.zeros((x.shape[-2], y.shape[-2]))


def _wide(xp: Namespace, x: Array) -> Array:
    """One number for a whole matrix, under any leading axes."""
    return x if np.ndim(x) == 0 else xp.np.expand_dims(x, (-1, -2))


def _positive(x: Array) -> Array:
    return x > 0


def _positive_finite(x: Array) -> Array:
    return (x > 0) & (x < math.inf)


def _if(xp: Namespace, domain: Domain, x: Array) -> Array:
    """`x`, nan outside the domain, as Stan refuses what lies there, although its square would do."""
    return guarded(xp, domain(x), x)


def _stationary(shape: Correlation, slope: Correlation, domain: Domain) -> Impl:
    """sigma^2 shape(d2 / l^2), of squared distances d2; `slope` is the derivative of `shape`.

    The domain is that of sigma and of l.
    """

    @with_partials(
        lambda xp, ans, d2, sigma, scale: sigma**2 / scale**2 * slope(xp, d2 / scale**2),
        lambda xp, ans, d2, sigma, scale: 2.0 * sigma * shape(xp, d2 / scale**2),
        lambda xp, ans, d2, sigma, scale: -2.0 * sigma**2 * d2 / scale**3 * slope(xp, d2 / scale**2),
    )
    def kernel(xp: Namespace, d2: Array, sigma: Array, scale: Array) -> Array:
        return _if(xp, domain, sigma) ** 2 * shape(xp, d2 / _if(xp, domain, scale) ** 2)

    return kernel


def _exp_quad(xp: Namespace, s: Array) -> Array:
    return xp.np.exp(-0.5 * s)


def _exponential_slope(xp: Namespace, s: Array) -> Array:
    distinct = s > COINCIDENT
    r = xp.np.sqrt(xp.np.where(distinct, s, 1.0))
    return xp.np.where(distinct, -0.5 * xp.np.exp(-r) / r, 0.0)


def _matern32(xp: Namespace, s: Array) -> Array:
    u = xp.np.sqrt(3.0 * s)
    return (1.0 + u) * xp.np.exp(-u)


def _matern52(xp: Namespace, s: Array) -> Array:
    u = xp.np.sqrt(5.0 * s)
    return (1.0 + u + u * u / 3.0) * xp.np.exp(-u)


def _matern52_slope(xp: Namespace, s: Array) -> Array:
    u = xp.np.sqrt(5.0 * s)
    return -5.0 / 6.0 * (1.0 + u) * xp.np.exp(-u)


KINDS: tuple[tuple[str, Points], ...] = (
    ("array[] real", lambda x: x[..., None]),
    ("array[] vector", lambda x: x),
)
"""The types of a set of points, reals being points of one coordinate."""


def _overloads(
    further: str, covariance: Impl, kinds: Sequence[tuple[str, Points]] = KINDS
) -> Iterator[tuple[str, Impl]]:
    """A covariance of two sets of points (N, D) and (M, D), for one set and for two."""
    for (kind, points), sets in product(kinds, (1, 2)):
        yield f"({f'{kind}, ' * sets}{further}) => matrix", _of_sets(covariance, points, sets)


def _of_sets(covariance: Impl, points: Points, sets: int) -> Impl:
    """The covariance between the first argument and the last of so many sets."""
    return lambda xp, *args: covariance(xp, points(args[0]), points(args[sets - 1]), *args[sets:])


def _of_distances(kernel: Impl) -> Impl:
    """The covariance of which `kernel` is a function of squared distances and single numbers."""
    return lambda xp, x, y, *further: kernel(
        xp, squared_distances(xp, x, y), *(_wide(xp, a) for a in further)
    )


@with_partials(lambda xp, ans, x: 1.0)
def _if_positive_finite(xp: Namespace, x: Array) -> Array:
    return _if(xp, _positive_finite, x)


def _by_coordinate(kernel: Impl) -> Impl:
    """With a length scale for each coordinate."""

    def covariance(xp: Namespace, x: Array, y: Array, sigma: Array, scale: Array) -> Array:
        sigma, scale = _if_positive_finite(xp, sigma), _if_positive_finite(xp, scale)
        scale = xp.np.expand_dims(scale, -2)
        return kernel(xp, squared_distances(xp, x / scale, y / scale), _wide(xp, sigma), 1.0)

    return covariance


def _record(name: str, meaning: str, kernel: Impl) -> Function:
    return leading(
        name,
        meaning,
        *_overloads("real, real", _of_distances(kernel)),
        *_overloads("real, array[] real", _by_coordinate(kernel), KINDS[1:]),
    )


def _waves(xp: Namespace, d2: Array, period: Array) -> Array:
    return xp.np.sin(math.pi * xp.np.sqrt(d2) / period) ** 2


def _by_period(xp: Namespace, ans: Array, d2: Array, sigma: Array, scale: Array, period: Array) -> Array:
    angle = math.pi * xp.np.sqrt(d2) / period
    return ans * 2.0 / scale**2 * xp.np.sin(2.0 * angle) * angle / period


def _by_distance(xp: Namespace, ans: Array, d2: Array, sigma: Array, scale: Array, period: Array) -> Array:
    cardinal = xp.np.sinc(2.0 * xp.np.sqrt(d2) / period)
    return -ans * 2.0 / scale**2 * (math.pi / period) ** 2 * cardinal


@with_partials(
    _by_distance,
    lambda xp, ans, d2, sigma, scale, period: 2.0 * ans / sigma,
    lambda xp, ans, d2, sigma, scale, period: 4.0 * ans * _waves(xp, d2, period) / scale**3,
    _by_period,
)
def periodic(xp: Namespace, d2: Array, sigma: Array, scale: Array, period: Array) -> Array:
    """sigma^2 exp(-2 sin^2(pi d / p) / l^2)."""
    sigma, scale, period = (_if(xp, _positive, x) for x in (sigma, scale, period))
    return sigma**2 * xp.np.exp(-2.0 * _waves(xp, d2, period) / scale**2)


@with_partials(lambda xp, ans, sigma: 2.0 * sigma)
def _squared_bias(xp: Namespace, sigma: Array) -> Array:
    return _if(xp, lambda x: (x >= 0) & (x < math.inf), sigma) ** 2


def dot_product(xp: Namespace, x: Array, y: Array, sigma: Array) -> Array:
    return _wide(xp, _squared_bias(xp, sigma)) + matrix_matrix(xp, x, transposed(xp, y))


FUNCTIONS: tuple[Function, ...] = (
    _record(
        "gp_exp_quad_cov",
        "exponentiated quadratic covariance: sigma^2 exp(-d^2 / (2 l^2))",
        _stationary(_exp_quad, lambda xp, s: -0.5 * _exp_quad(xp, s), _positive),
    ),
    _record(
        "gp_exponential_cov",
        "exponential covariance: sigma^2 exp(-d / l)",
        _stationary(lambda xp, s: xp.np.exp(-xp.np.sqrt(s)), _exponential_slope, _positive_finite),
    ),
    _record(
        "gp_matern32_cov",
        "Matern covariance of smoothness 3/2",
        _stationary(_matern32, lambda xp, s: -1.5 * xp.np.exp(-xp.np.sqrt(3.0 * s)), _positive_finite),
    ),
    _record(
        "gp_matern52_cov",
        "Matern covariance of smoothness 5/2",
        _stationary(_matern52, _matern52_slope, _positive_finite),
    ),
    leading(
        "gp_periodic_cov",
        "periodic covariance: sigma^2 exp(-2 sin^2(pi d / p) / l^2)",
        *_overloads("real, real, real", _of_distances(periodic)),
    ),
    leading("gp_dot_prod_cov", "dot product covariance: sigma^2 + x'y", *_overloads("real", dot_product)),
)
