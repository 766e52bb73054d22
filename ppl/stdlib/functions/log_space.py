"""Composed logarithms, stable where the naive formula loses all digits.

Stan Functions Reference, "Composed functions".
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import Function, binary, guarded, unary
from ppl.stdlib.special import log_add
from ppl.stdlib.special.log_add import expit, softplus


@with_partials(lambda xp, ans, x: -1.0 / (1.0 - x))
def log1m(xp: Namespace, x: Array) -> Array:
    return xp.np.log1p(-x)


@with_partials(lambda xp, ans, x: expit(xp, x))
def log1p_exp(xp: Namespace, x: Array) -> Array:
    return softplus(xp, x)


@with_partials(lambda xp, ans, x: xp.np.true_divide(-1.0, xp.np.expm1(-x)))
def log1m_exp(xp: Namespace, x: Array) -> Array:
    """log(1 - e^x) for x <= 0; nan for x > 0."""
    return log_add.log1m_exp(xp, x)


@with_partials(lambda xp, ans, x: expit(xp, -x))
def log_inv_logit(xp: Namespace, x: Array) -> Array:
    return -softplus(xp, -x)


@with_partials(lambda xp, ans, x: -expit(xp, x))
def log1m_inv_logit(xp: Namespace, x: Array) -> Array:
    return -softplus(xp, x)


@with_partials(
    lambda xp, ans, x, y: xp.np.true_divide(-1.0, xp.np.expm1(y - x)),
    lambda xp, ans, x, y: xp.np.true_divide(-1.0, xp.np.expm1(x - y)),
)
def log_diff_exp(xp: Namespace, x: Array, y: Array) -> Array:
    """log(e^x - e^y) for x >= y; nan otherwise.  Two equal infinities cancel: -inf for a negative pair."""
    gap = xp.np.where(x == y, 0.0, xp.np.subtract(y, x))
    return xp.np.where(xp.np.isposinf(x) & xp.np.isposinf(y), xp.np.nan, x + log1m_exp(xp, gap))


@with_partials(
    lambda xp, ans, x, y: expit(xp, -x) + xp.np.true_divide(1.0, xp.np.expm1(x - y)),
    lambda xp, ans, x, y: xp.np.true_divide(-1.0, xp.np.expm1(x - y)) - expit(xp, y),
)
def log_inv_logit_diff(xp: Namespace, x: Array, y: Array) -> Array:
    """log(inv_logit(x) - inv_logit(y)) for x > y."""
    return log_inv_logit(xp, x) - log1p_exp(xp, y) + log1m_exp(xp, y - x)


@with_partials(lambda xp, ans, x, y: xp.np.log(y), lambda xp, ans, x, y: xp.np.true_divide(x, y))
def lmultiply(xp: Namespace, x: Array, y: Array) -> Array:
    """x log y, 0 at x = y = 0 but nan at x = 0 > y."""
    return guarded(xp, 1.0 * y >= 0, xp.special.xlogy(x, y))


FUNCTIONS: tuple[Function, ...] = (
    unary("log1m", "log(1 - x), accurate near 0", log1m),
    unary("log1p_exp", "log(1 + exp(x))", log1p_exp),
    unary("log1m_exp", "log(1 - exp(x))", log1m_exp),
    unary("log_inv_logit", "log(inv_logit(x))", log_inv_logit),
    unary("log1m_inv_logit", "log(1 - inv_logit(x))", log1m_inv_logit),
    binary("log_diff_exp", "log(exp(x) - exp(y))", log_diff_exp),
    binary("log_inv_logit_diff", "log(inv_logit(x) - inv_logit(y))", log_inv_logit_diff),
    binary("lmultiply", "x log(y), 0 if both are 0", lmultiply),
)
