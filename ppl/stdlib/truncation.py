"""The term that `T[lower, upper]` adds to a density.  Reference manual, "Truncated distributions".

Each function is given the variate, the bounds and the log probabilities of the bounds, elementwise, and
returns minus the log normaliser for each element; -inf where the variate lies outside.
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import supported


@with_partials(
    lambda xp, ans, a, b: -1.0 / xp.np.expm1(b - a),
    lambda xp, ans, a, b: -1.0 / xp.np.expm1(a - b),
)
def _log_difference(xp: Namespace, a: Array, b: Array) -> Array:
    """log(exp(a) - exp(b)) for a > b."""
    return a + xp.np.log(-xp.np.expm1(b - a))


def truncated_below(xp: Namespace, y: Array, lower: Array, log_above: Array) -> Array:
    return supported(xp, xp.plain(y) >= xp.plain(lower), -log_above)


def truncated_above(xp: Namespace, y: Array, upper: Array, log_below: Array) -> Array:
    return supported(xp, xp.plain(y) <= xp.plain(upper), -log_below)


def truncated(
    xp: Namespace, y: Array, lower: Array, upper: Array, log_below_lower: Array, log_below_upper: Array
) -> Array:
    value = xp.plain(y)
    inside = (value >= xp.plain(lower)) & (value <= xp.plain(upper))
    return supported(xp, inside, -_log_difference(xp, log_below_upper, log_below_lower))
