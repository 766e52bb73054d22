"""Ordered categories: which of the intervals between cutpoints a latent variable falls into.

Stan Functions Reference, "Ordered logistic distribution" and "Ordered probit distribution".  Category k has
chance F(eta - c_{k-1}) - F(eta - c_k) with c_0 = -inf and c_K = inf.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, Node, with_vjps
from ppl.stdlib.batching import sum_at
from ppl.stdlib.distributions.normal import standard_lcdf, standard_log_density
from ppl.stdlib.distributions.quadratic_form import lifted
from ppl.stdlib.distributions.simplexes import one_hot, pick
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.log_add import expit, log1m_exp, softplus
from ppl.stdlib.special.mills import inverse_mills

Slopes = tuple[Array, Array, Array]  # of log(F(a) - F(b)): in a, in b, and in both at once

NARROW = 0.1
"""Half the width of a category, times its distance from the latent mean where that is above 1, below which a
difference of two cdfs loses digits, and four terms of its series do not.
"""


def _cuts(xp: Namespace, y: Array, c: Array) -> tuple[Array, Array]:
    """The cutpoints below and above category y."""
    edge = np.full((*c.shape[:-1], 1), np.inf)
    lower, upper = xp.np.concatenate([-edge, c], axis=-1), xp.np.concatenate([c, edge], axis=-1)
    return pick(xp, lower, y), pick(xp, upper, y)


def _of_width(f: Callable[[Array], Array], xp: Namespace, y: Array, c: Array) -> Array:
    """f of the width of category y, computed once for each category."""
    edge = np.full((*c.shape[:-1], 1), np.inf)
    return pick(xp, f(xp.np.concatenate([edge, c[..., 1:] - c[..., :-1], edge], axis=-1)), y)


def _logistic(xp: Namespace, y: Array, c: Array, a: Array, b: Array) -> Array:
    """log(F(a) - F(b)) = log F(a) + log F(-b) + log(1 - exp(b - a)) for the logistic F and a > b."""
    within = _of_width(lambda width: log1m_exp(xp, -width), xp, y, c)
    return -softplus(xp, -a) - softplus(xp, b) + within


def _logistic_slopes(xp: Namespace, ans: Array, y: Array, c: Array, a: Array, b: Array) -> Slopes:
    within = _of_width(lambda width: 1.0 / xp.np.expm1(width), xp, y, c)
    above, below = expit(xp, -a), expit(xp, b)
    return above + within, -below - within, above - below


def _probit(xp: Namespace, y: Array, c: Array, a: Array, b: Array) -> Array:
    """The same for the normal, taken in the tail where both chances are small."""
    is_narrow, half, middle = _narrow(xp, y, c, a, b)
    right = b > 0
    high, low = xp.np.where(right, -b, a), xp.np.where(right, -a, b)
    log_high = standard_lcdf(xp, high)
    wide = log_high + log1m_exp(xp, xp.np.where(is_narrow, -1.0, standard_lcdf(xp, low) - log_high))

    def narrow() -> Array:
        share = _series(xp, half, middle)[0]
        return xp.np.where(is_narrow, standard_log_density(xp, middle) + xp.np.log(2 * half * share), wide)

    return xp.rarely(is_narrow, narrow, wide)


def _probit_slopes(xp: Namespace, ans: Array, y: Array, c: Array, a: Array, b: Array) -> Slopes:
    above, below = (_density_over(xp, xp.np.where(b > 0, -x, x), ans) for x in (a, b))
    is_narrow, half, middle = _narrow(xp, y, c, a, b)

    def of_both() -> Array:
        value, slope = _series(xp, half, middle)
        return xp.np.where(is_narrow, slope / value - middle, above - below)

    return above, -below, xp.rarely(is_narrow, of_both, above - below)


def _density_over(xp: Namespace, x: Array, log_chance: Array) -> Array:
    """phi(x) / exp(log_chance), by phi / Phi: far in a tail log phi and log Phi round to the same."""
    finite = xp.np.isfinite(x)
    inside = xp.np.where(finite, x, 0.0)
    share = inverse_mills(xp, inside) * xp.np.exp(standard_lcdf(xp, inside) - log_chance)
    return xp.np.where(finite, share, 0.0)


def _narrow(xp: Namespace, y: Array, c: Array, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Whether category y is narrow, half its width and the middle of a and b; those of no other count."""
    half, middle = 0.5 * _of_width(lambda width: width, xp, y, c), 0.5 * (a + b)
    is_narrow = (half > 0) & (half * xp.np.maximum(1.0, xp.np.abs(middle)) < NARROW)
    return is_narrow, xp.np.where(is_narrow, half, NARROW), xp.np.where(is_narrow, middle, 0.0)


def _series(xp: Namespace, half: Array, middle: Array) -> tuple[Array, Array]:
    """The mean of the normal density over middle ± half, as a share of that at the middle, and its slope.

    The sum of He_2n(middle) half^2n / (2n + 1)!: exp(-xt - t^2/2) generates the Hermite polynomials (NIST
    Digital Library of Mathematical Functions, 18.12.16).
    """
    before, term, x = 1.0, middle * half, middle * half
    value, slope, factorial = 1.0, 0.0, 1.0
    for n in range(2, 10, 2):
        factorial *= n * (n + 1)
        slope = slope + n * half * term / factorial
        before, term = term, x * term - (n - 1) * half**2 * before
        value = value + term / factorial
        before, term = term, x * term - n * half**2 * before
    return value, slope


def _family(log_chance: Callable[..., Array], slopes: Callable[..., Slopes]) -> Node:
    """The log density of an ordered category for one latent distribution, a single node of the tape."""

    def score(xp: Namespace, ans: Array, y: Array, eta: Array, c: Array) -> Slopes:
        lower, upper = _cuts(xp, y, c)
        return slopes(xp, ans, y, c, eta - lower, eta - upper)

    def cuts_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, eta: Array, c: Array) -> Array:
        below, above = (g * slope for slope in score(xp, ans, y, eta, c)[:2])
        size = c.shape[-1]
        if c.ndim == 1 and below.shape == np.shape(y) != ():
            at = xp.np.clip(y, 1, size + 1)
            per = np.zeros(size + 1)
            return -(sum_at(xp, below, per, at)[1:] + sum_at(xp, above, per, at)[:-1])
        below, above = lifted(xp, below, 1), lifted(xp, above, 1)
        return -xp.np.where(one_hot(xp, y - 1, size), below, xp.np.where(one_hot(xp, y, size), above, 0.0))

    @with_vjps(None, lambda xp, g, ans, y, eta, c: g * score(xp, ans, y, eta, c)[2], cuts_adjoint)
    def log_density(xp: Namespace, y: Array, eta: Array, c: Array) -> Array:
        lower, upper = _cuts(xp, y, c)
        inside = supported(
            xp, (y >= 1) & (y <= c.shape[-1] + 1), log_chance(xp, y, c, eta - lower, eta - upper)
        )
        return guarded(xp, xp.np.all(c[..., 1:] > c[..., :-1], axis=-1), inside)

    return log_density


logistic_log_density = _family(_logistic, _logistic_slopes)
probit_log_density = _family(_probit, _probit_slopes)


def _category(latent: Any, c: Any) -> Any:
    return 1 + np.sum(np.asarray(c) < np.asarray(latent)[..., None], axis=-1)


def _shape(eta: Any, c: Any) -> tuple[int, ...]:
    """That of the latent variables: one for every category, also where only the cutpoints differ."""
    return np.broadcast_shapes(np.shape(eta), np.shape(c)[:-1])


ORDERED_LOGISTIC = Distribution(
    name="ordered_logistic",
    meaning="the interval between cutpoints c that a logistic variable around eta falls into",
    signatures=("int | real, vector", "array[] int | vector, vector", "array[] int | vector, array[] vector"),
    args=(("y", "category"), ("eta", "real"), ("c", "ordered")),
    log_density=logistic_log_density,
    rng=lambda rng, eta, c: _category(rng.logistic(eta, size=_shape(eta, c)), c),
    rng_signatures=("(real, vector) => int",),
    rng_args=(("eta", "real"), ("c", "cutpoints")),
    cores=(0, 0, 1),
    moments=Moments(probabilities="append_row(1, inv_logit(eta - c)) - append_row(inv_logit(eta - c), 0)"),
)

ORDERED_PROBIT = replace(
    ORDERED_LOGISTIC,
    name="ordered_probit",
    meaning="the interval between cutpoints c that a normal variable around eta falls into",
    signatures=(
        "int | real, vector",
        "array[] int | real, vector",
        "array[] int | real, array[] vector",
        "array[] int | vector, vector",
        "array[] int | vector, array[] vector",
    ),
    log_density=probit_log_density,
    rng=lambda rng, eta, c: _category(rng.normal(eta, size=_shape(eta, c)), c),
    moments=Moments(probabilities="append_row(1, Phi(eta - c)) - append_row(Phi(eta - c), 0)"),
)
