"""Logs of the chances that a diffusion has hit its upper boundary by a time, and that it will hit it later.

Stan Functions Reference, "Wiener First Passage Time Distribution".  The two chances add up to that of ever
hitting the upper boundary, not to 1.  s is the scaled time, w the scaled distance to the boundary and x the
scaled drift, which is made positive: the sign of the drift changes both chances by a factor only.  The images
of the start in the boundaries are summed for short times and the Fourier series for long ones (Blurton,
Kesselmeier & Gondan 2012, J. Math. Psychol. 56:470; Gondan, Blurton & Kesselmeier 2014, 60:20).

With variability between trials the density, which has it in closed form for the drift, is integrated over the
time.  Stan integrates the chances, to a precision that may be given; here it is not needed.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.distributions.normal import standard_lcdf
from ppl.stdlib.distributions.wiener import (
    LOG_RULE_WEIGHTS,
    START_NODES,
    TIME_NODES,
    log_hit,
    split,
    valid,
)
from ppl.stdlib.functions.log_sums import log_sum_exp
from ppl.stdlib.reals import reals
from ppl.stdlib.record import Function, Impl, LeadingAxis, Overload, guarded
from ppl.stdlib.special.mills import log_tilted_tail

LONG_TIME = 0.5
"""The scaled time from which the chance of an earlier hit is the complement of that of a later one."""
FOURIER_TIME = 0.1
"""The scaled time from which the Fourier series gives the chance of a later hit."""
STRONG_DRIFT = 5.0
"""The scaled drift from which a few images give the chance of a later hit at shorter times."""
REFLECTIONS = np.arange(4.0)
FREQUENCIES = np.arange(1.0, 10.0)
SMALL_ANGLE = 0.1
"""Below it log(sinh(y) / y) is summed as a series."""
SINHC_SERIES = (1 / 6, -1 / 180, 1 / 2835, -1 / 37800, 1 / 467775)
"""Coefficients of y^2, y^4, ... in it."""
REMAINDER = 40.0
"""Exponent of what is left out of an integral over the time."""


def _log_sinhc(xp: Namespace, y: Array) -> Array:
    """log(sinh(y) / y) for y >= 0."""
    small, large = xp.np.minimum(y, SMALL_ANGLE), xp.np.maximum(y, SMALL_ANGLE)
    square = small * small
    series = 0.0 * square
    for coefficient in reversed(SINHC_SERIES):
        series = square * (coefficient + series)
    exact = large - xp.np.log(2.0 * large) + xp.np.log1p(-xp.np.exp(-2.0 * large))
    return xp.np.where(y < SMALL_ANGLE, series, exact)


def _log_ever(xp: Namespace, w: Array, x: Array) -> Array:
    """log chance of hitting the upper boundary, for a drift x >= 0."""
    start = 1.0 - w
    return xp.np.log(start) + x * w + _log_sinhc(xp, x * start) - _log_sinhc(xp, x)


def _log_images(xp: Namespace, s: Array, w: Array, x: Array, later: bool) -> Array:
    """log chance of a hit before s, or after it, by the hits of single boundaries at the images."""
    s, w, x = (xp.np.expand_dims(v, -1) for v in (s, w, x))
    distances = xp.np.concatenate([2.0 * REFLECTIONS + w, 2.0 * REFLECTIONS + 2.0 - w], axis=-1)
    z, drift = x * xp.np.sqrt(s) - distances / xp.np.sqrt(s), 2.0 * x * xp.np.sqrt(s)
    reflected = log_tilted_tail(xp, z, drift + 0.0 * z)
    if later:
        missed = standard_lcdf(xp, -z)
        one = missed + xp.np.log(-xp.np.expm1(xp.np.minimum(reflected - missed, -SMALLEST_GAP)))
    else:
        one = xp.np.logaddexp(standard_lcdf(xp, z), reflected)
    logs = x * (w - distances) + one
    first = logs[..., :1]
    n = len(REFLECTIONS)
    terms = xp.np.exp(logs - first)
    return first[..., 0] + xp.np.log(xp.np.sum(terms[..., :n] - terms[..., n:], axis=-1))


SMALLEST_GAP = 1e-300
"""Keeps a logarithm finite where a chance is 0."""


def _log_series(xp: Namespace, s: Array, w: Array, x: Array) -> Array:
    """log chance of a hit after s by the Fourier series."""
    rates = (FREQUENCIES * math.pi) ** 2
    squares = xp.np.expand_dims(x * x, -1) + rates
    decay = xp.np.exp(-0.5 * (rates - rates[0]) * xp.np.expand_dims(s, -1))
    waves = xp.np.sin(FREQUENCIES * math.pi * xp.np.expand_dims(w, -1))
    total = xp.np.sum(FREQUENCIES * decay * waves / squares, axis=-1)
    return x * w - 0.5 * (x * x + rates[0]) * s + math.log(2.0 * math.pi) + xp.np.log(total)


def _log_rest(xp: Namespace, log_whole: Array, log_part: Array) -> Array:
    """log(exp(log_whole) - exp(log_part))."""
    gap = xp.np.minimum(log_part - log_whole, -SMALLEST_GAP)
    return log_whole + xp.np.log(-xp.np.expm1(gap))


def _log_before(xp: Namespace, s: Array, w: Array, x: Array) -> Array:
    early = s < LONG_TIME
    images = _log_images(xp, xp.np.where(early, s, LONG_TIME), w, x, later=False)
    series = _log_series(xp, xp.np.where(early, LONG_TIME, s), w, x)
    return xp.np.where(early, images, _log_rest(xp, _log_ever(xp, w, x), series))


def _log_after(xp: Namespace, s: Array, w: Array, x: Array) -> Array:
    early, strong = s < FOURIER_TIME, x > STRONG_DRIFT
    short = xp.np.where(early, s, FOURIER_TIME)
    before = _log_images(xp, short, w, xp.np.where(strong, STRONG_DRIFT, x), later=False)
    by_complement = _log_rest(xp, _log_ever(xp, w, xp.np.where(strong, STRONG_DRIFT, x)), before)
    by_images = _log_images(xp, short, w, xp.np.where(strong, x, STRONG_DRIFT), later=True)
    series = _log_series(xp, xp.np.where(early, FOURIER_TIME, s), w, x)
    return xp.np.where(early, xp.np.where(strong, by_images, by_complement), series)


Chance = Callable[..., Array]


def _between_boundaries(
    chance: Chance, xp: Namespace, t: Array, alpha: Array, beta: Array, delta: Array
) -> Array:
    """The log of a chance at the time t > 0, for either sign of the drift."""
    w, backwards = 1.0 - beta, delta < 0
    x = alpha * xp.np.where(backwards, -delta, delta)
    against = 2.0 * w * alpha * xp.np.where(backwards, delta, 0.0)
    return against + chance(xp, t / alpha**2, w, x)


# --- With variability between trials ---------------------------------------------------------------


def _log_integral(xp: Namespace, t: Array, depth: Array, sign: float, log_integrand: Chance) -> Array:
    """log of the mean over the starts of an integral over the times t exp(sign z), z from 0 to `depth`.

    All have a trailing axis, that of the nodes.
    """
    z = 0.5 * depth * (1.0 + TIME_NODES)
    times = t * xp.np.exp(sign * z)
    logs = LOG_RULE_WEIGHTS + xp.np.log(depth * times) + log_integrand(times)
    return log_sum_exp(xp, xp.np.where(depth > 0, logs, -xp.np.inf))


def _varied(later: bool, xp: Namespace, *args: Array) -> Array:
    """The log of a chance; the non-decision time between tau and tau + var_tau weighs each hit by a ramp."""
    t, alpha, beta, delta, var_delta, var_beta, var_tau = (xp.np.expand_dims(v, -1) for v in args)
    w = 1.0 - beta - 0.5 * var_beta * START_NODES
    spread = var_tau > 0
    width = xp.np.where(spread, var_tau, 1.0)
    sure = xp.np.maximum(t - var_tau, 0.0)  # hits by then have been seen whatever the non-decision time
    log_density = partial(_log_density, xp, alpha, w, delta, var_delta)
    to_mode = REMAINDER * 2.0 / (alpha * w) ** 2

    def log_ramp(u: Array) -> Array:
        share = (u - t) / width + 1.0 if later else (t - u) / width
        return xp.np.log(xp.np.where(spread, xp.np.maximum(share, SMALLEST_GAP), 1.0)) + log_density(u)

    back = xp.np.log1p(to_mode * t)
    down = -xp.np.log(xp.np.where(sure > 0, sure, 1.0) / t)
    down = xp.np.where(spread, xp.np.where(sure > 0, xp.np.minimum(back, down), back), 0.0)
    ramp = _log_integral(xp, t, down, -1.0, log_ramp)
    if later:
        ahead = xp.np.log1p(2.0 * REMAINDER * (alpha / math.pi) ** 2 / t)
        return xp.np.logaddexp(ramp, _log_integral(xp, t, ahead, 1.0, log_density))
    known = xp.np.where(sure > 0, sure, 1.0)
    whole = xp.np.where(sure > 0, xp.np.log1p(to_mode * known), 0.0)
    return xp.np.logaddexp(ramp, _log_integral(xp, known, whole, -1.0, log_density))


def _log_density(xp: Namespace, alpha: Array, w: Array, delta: Array, var_delta: Array, t: Array) -> Array:
    return log_hit(xp, t, alpha, w, delta, var_delta)


def log_chance(
    later: bool, xp: Namespace, y: Array, alpha: Array, tau: Array, beta: Array, delta: Array, *more: Array
) -> Array:
    """log P(hit by y), or later; `more` are var_delta, var_beta, var_tau and a precision without effect."""
    full = len(more) > 2
    variability, precision = split(more, 3 if full else 0)
    allowed = valid(alpha, tau, beta, *variability) & (y > tau) & (precision > 0)
    t = xp.np.where(y > tau, y - tau, 1.0)
    if full:
        value = _varied(later, xp, t, alpha, beta, delta, *variability)
    else:
        chance = _log_after if later else _log_before
        value = _between_boundaries(chance, xp, t, alpha, beta, delta)
    return guarded(xp, allowed, value)


def _function(name: str, later: bool) -> Function:
    """Of numbers, or of vectors whose logs are summed; the last argument may be a precision."""
    one = reals(partial(log_chance, later))
    when = "after" if later else "by"

    def total(xp: Namespace, *args: Array) -> Array:
        *vectors, last = args  # which is a number where it is a precision
        return xp.np.sum(
            one(xp, *vectors, last if len(args) in (5, 8) else xp.np.expand_dims(last, -1)), axis=-1
        )

    def overloads(kind: str, impl: Impl, batch: LeadingAxis) -> list[Overload]:
        arguments = [[kind] * count + precision for count in (5, 8) for precision in ([], ["real"])]
        return [Overload(f"({', '.join(types)}) => real", impl, batch) for types in arguments]

    return Function(
        name,
        f"the log of the probability that a diffusion hits its upper boundary {when} y, with up to three "
        "variabilities; a precision as last argument has no effect",
        (*overloads("real", one, "elementwise"), *overloads("vector", total, "leading")),
    )


BY, AFTER = _function("wiener_lcdf_unnorm", later=False), _function("wiener_lccdf_unnorm", later=True)

FUNCTIONS: tuple[Function, ...] = (
    BY,
    AFTER,
    replace(BY, name="wiener_lcdf_defective"),  # as the release notes of Stan 2.38 have it
    replace(AFTER, name="wiener_lccdf_defective"),
)
