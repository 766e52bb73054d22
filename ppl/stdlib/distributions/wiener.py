"""The Wiener first passage time distribution, with four parameters or all seven.

Evidence starts at beta alpha, drifts at rate delta between the boundaries 0 and alpha, and y - tau is the
time at which it first hits the UPPER one.  Stan Functions Reference, "Wiener First Passage Time
Distribution".

The density of a hit at time t is exp(...) f(t / alpha^2, w) / alpha^2 with f that of a driftless process
between 0 and 1 which starts at a distance w = 1 - beta below the boundary.  f is summed by its small-time
series for short times and by its large-time series for long ones (Navarro & Fuss 2009, J. Math. Psychol.
53:222), each with enough terms for double precision at the switch.  The variability of drift is integrated in
closed form, those of starting point and non-decision time by quadrature (Henrich et al. 2024, Behav. Res.
Methods 56:3102).
"""

import math
from collections.abc import Sequence

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.moments import Moments
from ppl.stdlib.reals import reals
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI

SWITCH = 0.5
"""The scaled time t / alpha^2 at which the series take over from each other."""
ODD = np.arange(1.0, 12.0, 2.0)
WHOLE = np.arange(1.0, 8.0)
TIME_RULE, START_RULE = np.polynomial.legendre.leggauss(48), np.polynomial.legendre.leggauss(20)
TIME_NODES, START_NODES = (nodes.ravel() for nodes in np.meshgrid(TIME_RULE[0], START_RULE[0], indexing="ij"))
LOG_RULE_WEIGHTS = np.log(0.25 * np.outer(TIME_RULE[1], START_RULE[1])).ravel()


def _small_time(xp: Namespace, s: Array, w: Array) -> Array:
    """log f by the images of the start in the boundaries, for s <= SWITCH.

    Two images of opposite sign lie at m - e and m + e for each odd m, with e = 1 - w; joined, they lose no
    digits when e is small.
    """
    times, e = xp.np.expand_dims(s, -1), 1.0 - xp.np.expand_dims(w, -1)
    decay = xp.np.exp((1.0 - ODD) * (ODD + 1.0 - 2.0 * e) / (2.0 * times))
    mirror = -2.0 * ODD * e / times
    pairs = -ODD * xp.np.expm1(mirror) - e * (1.0 + xp.np.exp(mirror))
    total = xp.np.sum(decay * pairs, axis=-1)
    return xp.np.log(total) - w * w / (2.0 * s) - HALF_LOG_TWO_PI - 1.5 * xp.np.log(s)


def _large_time(xp: Namespace, s: Array, w: Array) -> Array:
    """log f by its Fourier series, for s >= SWITCH."""
    rate = 0.5 * math.pi**2 * s
    decay = xp.np.exp((1.0 - WHOLE**2) * xp.np.expand_dims(rate, -1))
    waves = xp.np.sin(WHOLE * math.pi * xp.np.expand_dims(w, -1))
    total = xp.np.sum(WHOLE * decay * waves, axis=-1)
    return math.log(math.pi) - rate + xp.np.log(total)


def _log_driftless(xp: Namespace, s: Array, w: Array) -> Array:
    early = s < SWITCH
    small = _small_time(xp, xp.np.where(early, s, SWITCH), w)
    return xp.np.where(early, small, _large_time(xp, xp.np.where(early, SWITCH, s), w))


def log_hit(xp: Namespace, t: Array, alpha: Array, w: Array, delta: Array, var_delta: Array) -> Array:
    """log density of hitting at time t > 0, with drift normal(delta, var_delta)."""
    spread = 1.0 + var_delta**2 * t
    distance = alpha * w
    drift = var_delta**2 * distance**2 + 2.0 * delta * distance - delta**2 * t
    tilt = 0.5 * drift / spread - 0.5 * xp.np.log(spread)
    return tilt - 2.0 * xp.np.log(alpha) + _log_driftless(xp, t / alpha**2, w)


def _log_mean_hit(xp: Namespace, *args: Array) -> Array:
    """`log_hit` averaged over uniform starting points and non-decision times, its nodes a trailing axis."""
    t, alpha, beta, delta, var_delta, var_beta, var_tau = (xp.np.expand_dims(v, -1) for v in args)
    span = xp.np.minimum(var_tau, t)
    share = xp.np.where(var_tau > 0.0, span / xp.np.where(var_tau > 0.0, var_tau, 1.0), 1.0)
    times = t - 0.5 * span * (TIME_NODES + 1.0)
    distances = 1.0 - beta - 0.5 * var_beta * START_NODES
    heights = log_hit(xp, times, alpha, distances, delta, var_delta) + LOG_RULE_WEIGHTS
    return xp.special.logsumexp(heights + xp.np.log(share), axis=-1)


def valid(alpha: Array, tau: Array, beta: Array, var_delta: Array, var_beta: Array, var_tau: Array) -> Array:
    inside = (alpha > 0) & (tau >= 0) & (beta > 0.5 * var_beta) & (beta < 1.0 - 0.5 * var_beta)
    return inside & (var_delta >= 0) & (var_beta >= 0) & (var_tau >= 0)


def split(more: Sequence[Array], known: int) -> tuple[Sequence[Array], Array]:
    """(var_delta, var_beta, var_tau), of which the first `known` are given, and the precision, or 1."""
    zero = np.float64(0.0)
    return [*more[:known], zero, zero, zero][:3], [*more[known:], np.float64(1.0)][0]


@reals
def log_density(
    xp: Namespace, y: Array, alpha: Array, tau: Array, beta: Array, delta: Array, *variability: Array
) -> Array:
    """The log density with var_delta or with (var_delta, var_beta, var_tau), else zero.

    A precision of Stan's gradient may come after either; it has no effect, but must be positive.
    """
    full = len(variability) > 2
    (var_delta, var_beta, var_tau), precision = split(variability, 3 if full else 1)
    t = xp.np.where(y > tau, y - tau, 1.0)
    if full:
        value = _log_mean_hit(xp, t, alpha, beta, delta, var_delta, var_beta, var_tau)
    else:
        value = log_hit(xp, t, alpha, 1.0 - beta, delta, var_delta)
    allowed = valid(alpha, tau, beta, var_delta, var_beta, var_tau) & (precision > 0)
    return guarded(xp, allowed, supported(xp, y > tau, value))


WIENER = Distribution(
    name="wiener",
    meaning="time at which a diffusion between 0 and alpha hits alpha, plus tau",
    signatures=(
        "reals | reals, reals, reals, reals",
        "real | real, real, real, real, real",
        "vector | vector, vector, vector, vector, vector",
        "real | real, real, real, real, real, real, real",
        "vector | vector, vector, vector, vector, vector, vector, vector",
        "real | real, real, real, real, real, real",
        "vector | vector, vector, vector, vector, vector, real",
        "real | real, real, real, real, real, real, real, real",
        "vector | vector, vector, vector, vector, vector, vector, vector, real",
    ),
    args=(
        ("y", "positive"),
        ("alpha", "positive"),
        ("tau", "nonnegative"),
        ("beta", "open_unit"),
        ("delta", "real"),
        ("var_delta", "nonnegative"),
        ("var_beta", "unit_interval"),
        ("var_tau", "nonnegative"),
        ("precision", "positive"),
    ),
    log_density=log_density,
    moments=Moments(without="its density is of one of two responses, which need not occur"),
)
