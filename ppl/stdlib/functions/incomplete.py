"""The regularised incomplete gamma and beta functions.

Stan Functions Reference, "Combinatorial functions".
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.late import special
from ppl.stdlib.record import Function, binary, elementwise, guarded
from ppl.stdlib.special import incomplete_beta, incomplete_gamma


def gamma_p(xp: Namespace, a: Array, x: Array) -> Array:
    return guarded(xp, a > 0, incomplete_gamma.lower(xp, 1.0 * a, 1.0 * x))


def gamma_q(xp: Namespace, a: Array, x: Array) -> Array:
    return guarded(xp, a > 0, incomplete_gamma.upper(xp, 1.0 * a, 1.0 * x))


def inc_beta(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    return incomplete_beta.lower(xp, 1.0 * a, 1.0 * b, 1.0 * x, 1.0 - x)


def _slope(xp: Namespace, x: Array, a: Array, b: Array, k: int) -> Array:
    """dx/da (k = 0) or dx/db (k = 1) where I(a, b, x) stays what it is."""
    value = incomplete_beta.lower(xp, a, b, x, 1.0 - x)
    return -value * incomplete_beta.slope(xp, a, b, x, 1.0 - x, k) * _by_probability(xp, x, a, b)


def _by_probability(xp: Namespace, x: Array, a: Array, b: Array) -> Array:
    return xp.np.exp(-incomplete_beta.log_density(xp, a, b, x, 1.0 - x))


@with_partials(
    lambda xp, ans, a, b, p: _slope(xp, ans, 1.0 * a, 1.0 * b, 0),
    lambda xp, ans, a, b, p: _slope(xp, ans, 1.0 * a, 1.0 * b, 1),
    lambda xp, ans, a, b, p: _by_probability(xp, ans, 1.0 * a, 1.0 * b),
)
def inv_inc_beta(xp: Namespace, a: Array, b: Array, p: Array) -> Array:
    """x with I(a, b, x) = p."""
    return special.betaincinv(a, b, p)


FUNCTIONS: tuple[Function, ...] = (
    binary("gamma_p", "the lower incomplete gamma function P(a, x)", gamma_p),
    binary("gamma_q", "the upper incomplete gamma function Q(a, x)", gamma_q),
    elementwise(
        "inc_beta",
        "the incomplete beta function I_x(a, b) of (a, b, x)",
        ("(real, real, real) => real", inc_beta),
    ),
    elementwise("inv_inc_beta", "the inverse of inc_beta in x", ("(real, real, real) => real", inv_inc_beta)),
)
