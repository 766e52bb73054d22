"""log(exp(x) + exp(y)) and its slopes by exp and log1p, which NumPy runs on whole vector registers.

By logaddexp and SciPy's expit it does not: ten thousand numbers take four times as long. Of a few numbers
they take less, and are used.
"""

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.special.constants import LOG_TWO


def log1m_exp(xp: Namespace, x: Array) -> Array:
    """log(1 - exp(x)) for x <= 0.  Maechler (2012), "Accurately computing log(1 - exp(-|a|))"."""
    near = x > -LOG_TWO
    return xp.np.where(
        near,
        xp.np.log(-xp.np.expm1(xp.np.where(near, x, -1.0))),
        xp.np.log1p(-xp.np.exp(xp.np.where(near, -1.0, x))),
    )


def log_probability(xp: Namespace, p: Array, q: Array) -> Array:
    """log p of a probability p whose complement q = 1 - p is known as well: right for p near 0 and near 1."""
    small = p < 0.5
    return xp.np.where(small, xp.np.log(xp.np.where(small, p, 0.5)), xp.np.log1p(-xp.np.where(small, 0.5, q)))


FEW_TERMS = 64
"""Sizes below it are not worth the function that is faster on long arrays."""


def softplus(xp: Namespace, x: Array) -> Array:
    """log(1 + exp(x)), finite for every finite x."""
    if np.size(x) < FEW_TERMS:
        return xp.np.logaddexp(0.0, x)
    return xp.np.maximum(x, 0.0) + xp.np.log1p(xp.np.exp(-xp.np.abs(x)))


def expit(xp: Namespace, x: Array) -> Array:
    """1 / (1 + exp(-x)), the slope of softplus."""
    if xp is not NUMPY or np.size(x) < FEW_TERMS:
        return xp.special.expit(x)
    with np.errstate(over="ignore"):  # of a number below -709, of which SciPy gives 0 too
        return np.asarray(1.0 / (1.0 + np.exp(-x)))


def log_add(xp: Namespace, x: Array, y: Array) -> Array:
    """log(exp(x) + exp(y)), also of infinities, whose difference would be nan."""
    if max(np.size(x), np.size(y)) < FEW_TERMS:
        return xp.np.logaddexp(x, y)
    return xp.np.maximum(x, y) + xp.np.log1p(_ratio(xp, x, y))


def shares(xp: Namespace, x: Array, y: Array) -> tuple[Array, Array]:
    """exp(x) and exp(y) as shares of their sum, the slopes of `log_add`; none where both are exp(-inf).

    Of the exponential that `log_add` has taken already: compiled code takes it once.  It keeps what a
    division gives, and works out anew, wherever it is used, what comes after.  Of a few numbers one will do.
    """
    ratio, first_leads = _ratio(xp, x, y), x >= y
    whole = xp.np.where(xp.np.maximum(x, y) == -np.inf, np.inf, 1.0 + ratio)
    if max(np.size(x), np.size(y)) >= FEW_TERMS:
        return xp.np.where(first_leads, 1.0, ratio) / whole, xp.np.where(first_leads, ratio, 1.0) / whole
    leading = 1.0 / whole
    trailing = leading * ratio
    return xp.np.where(first_leads, leading, trailing), xp.np.where(first_leads, trailing, leading)


def _ratio(xp: Namespace, x: Array, y: Array) -> Array:
    """The smaller of exp(x) and exp(y) over the larger."""
    return xp.np.exp(xp.np.where(x == y, 0.0, -xp.np.abs(x - y)))
