"""Logarithms of probabilities that keep their digits at both ends."""

from ppl.arrays import Array, Namespace
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
