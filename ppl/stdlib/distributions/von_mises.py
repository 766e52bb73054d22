"""The von Mises distribution.  Stan Functions Reference, "Von Mises distribution".

The density is exp(kappa cos(y - mu)) / (2 pi I0(kappa)) for any real y; the cdfs integrate it from -pi, and
from y to pi, whatever mu is, as Stan's do.  With exp(-kappa) taken out of both, the exponent is
-2 kappa sin^2((y - mu) / 2), which is exact near the mode.
"""

import math
from functools import reduce

import numpy as np

from ppl.arrays import Array, Namespace, no_derivative, with_partials, with_vjps
from ppl.stdlib.moments import Moments
from ppl.stdlib.reals import as_real
from ppl.stdlib.record import continuous, guarded
from ppl.stdlib.special.constants import LOG_TWO_PI
from ppl.stdlib.special.log_bessel import bessel_ratio, log_scaled_i0

NODES, WEIGHTS = np.polynomial.legendre.leggauss(96)
TAIL = 40.0
"""exp(-40) is far below double precision."""


@with_partials(
    lambda xp, ans, y, mu, kappa: -kappa * xp.np.sin(y - mu),
    lambda xp, ans, y, mu, kappa: kappa * xp.np.sin(y - mu),
    lambda xp, ans, y, mu, kappa: xp.np.cos(y - mu) - bessel_ratio(xp, kappa),
)
def log_density(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
    value = _exponent(xp, y - mu, kappa) - log_scaled_i0(xp, kappa) - LOG_TWO_PI
    return guarded(xp, kappa > 0, value)


def _exponent(xp: Namespace, angle: Array, kappa: Array) -> Array:
    return -2.0 * kappa * xp.np.sin(0.5 * angle) ** 2


def _arc(xp: Namespace, a: Array, b: Array, kappa: Array) -> tuple[Array, Array]:
    """Log of the integral of exp(_exponent) over 0 <= a <= angle <= b <= pi, and the mean of cos there.

    Gauss-Legendre quadrature from a to b or to where the exponent has dropped by TAIL, whichever is first.
    """
    drop = xp.np.sin(0.5 * a) ** 2 + 0.5 * TAIL / xp.np.maximum(kappa, 1e-300)
    end = xp.np.minimum(b, 2.0 * xp.np.arcsin(xp.np.sqrt(xp.np.minimum(drop, 1.0))))
    half = 0.5 * (end - a)[..., None]
    angles = a[..., None] + half * (NODES + 1.0)
    heights = _exponent(xp, angles, kappa[..., None])
    peak = _exponent(xp, a, kappa)
    mass = xp.np.exp(heights - peak[..., None]) * half * WEIGHTS
    total = xp.np.sum(mass, axis=-1)
    mean = xp.np.sum(mass * xp.np.cos(angles), axis=-1) / xp.np.where(total > 0.0, total, 1.0)
    return xp.np.log(total) + peak, mean


def _between(xp: Namespace, low: Array, high: Array, kappa: Array) -> tuple[Array, Array]:
    """Log probability that the angle from mu lies in (low, high), and its derivative in kappa.

    The interval, inside (-2 pi, 2 pi), is cut at the multiples of pi into arcs on which the density is
    monotone, each measured from its nearest mode.
    """
    low, high, kappa = xp.np.broadcast_arrays(*(xp.np.asarray(x, float) for x in (low, high, kappa)))
    arcs = []
    for left in (-2.0 * np.pi, -np.pi, 0.0, np.pi):
        mode = left if left in (-2.0 * np.pi, 0.0) else left + np.pi
        ends = xp.np.abs(xp.np.clip(xp.np.stack([low, high]), left, left + np.pi) - mode)
        arcs.append(_arc(xp, xp.np.min(ends, axis=0), xp.np.max(ends, axis=0), kappa))
    logs, means = (xp.np.stack(part) for part in zip(*arcs, strict=True))
    log_total = reduce(xp.np.logaddexp, logs)
    mean = xp.np.sum(xp.np.exp(logs - log_total) * means, axis=0)
    log_p = log_total - log_scaled_i0(xp, kappa) - LOG_TWO_PI
    return xp.np.minimum(log_p, 0.0), mean - bessel_ratio(xp, kappa)


def _below(xp: Namespace, y: Array, mu: Array, kappa: Array) -> tuple[Array, Array]:
    """`_between` for (-pi, y), of an angle with its location in (-pi, pi)."""
    location = mu - 2.0 * np.pi * xp.np.round(mu / (2.0 * np.pi))
    return _between(xp, -np.pi - location, xp.np.clip(y, -np.pi, np.pi) - location, kappa)


@with_vjps(no_derivative, no_derivative, no_derivative)
def _slope_below(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
    return _below(xp, y, mu, kappa)[1]


def _density_over(xp: Namespace, y: Array, mu: Array, kappa: Array, log_p: Array) -> Array:
    return xp.np.exp(log_density(xp, y, mu, kappa) - log_p)


@with_partials(
    lambda xp, ans, y, mu, kappa: _density_over(xp, y, mu, kappa, ans),
    lambda xp, ans, y, mu, kappa: (
        _density_over(xp, -math.pi, mu, kappa, ans) - _density_over(xp, y, mu, kappa, ans)
    ),
    lambda xp, ans, y, mu, kappa: _slope_below(xp, y, mu, kappa),
)
def _log_below(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
    return _below(xp, y, mu, kappa)[0]


def lcdf(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
    return guarded(xp, kappa > 0, _log_below(xp, y, mu, kappa))


def lccdf(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
    return lcdf(xp, -y, -mu, kappa)


VON_MISES = continuous(
    name="von_mises",
    meaning="von Mises on the circle with location mu and concentration kappa",
    args=(("y", "angle"), ("mu", "real"), ("kappa", "positive")),
    log_density=log_density,
    cdfs=(lambda xp, *args: xp.np.exp(lcdf(xp, *args)), lcdf, lccdf),
    rng=lambda rng, mu, kappa: rng.vonmises(mu, kappa),
    rng_args=(("mu", "real"), ("kappa", "nonnegative")),
    constants=(
        ((), lambda xp: -LOG_TWO_PI),
        (("kappa",), lambda xp, kappa: -log_scaled_i0(xp, as_real(kappa)) - kappa),
    ),
    moments=Moments(without="the mean of an angle depends on where the circle is cut"),
)
