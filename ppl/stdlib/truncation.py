"""What `T[lower, upper]` adds to a density.  Reference manual, "Truncated distributions".

Each function is given the variate, the bounds and the log probabilities of the bounds, elementwise, and
returns minus the log normaliser, summed over the variate; -inf when a variate lies outside.
"""

from ppl.arrays import Array, Namespace, with_partials


@with_partials(
    lambda xp, ans, a, b: -1.0 / xp.np.expm1(b - a),
    lambda xp, ans, a, b: -1.0 / xp.np.expm1(a - b),
)
def _log_difference(xp: Namespace, a: Array, b: Array) -> Array:
    """log(exp(a) - exp(b)) for a > b."""
    return a + xp.np.log(-xp.np.expm1(b - a))


def _over_variate(xp: Namespace, y: Array, inside: Array, log_normaliser: Array) -> Array:
    total = xp.np.sum(log_normaliser + xp.np.zeros(xp.np.shape(y)))
    return -total if xp.np.all(inside) else -xp.np.inf


def truncated_below(xp: Namespace, y: Array, lower: Array, log_above: Array) -> Array:
    return _over_variate(xp, y, xp.plain(y) >= xp.plain(lower), log_above)


def truncated_above(xp: Namespace, y: Array, upper: Array, log_below: Array) -> Array:
    return _over_variate(xp, y, xp.plain(y) <= xp.plain(upper), log_below)


def truncated(
    xp: Namespace, y: Array, lower: Array, upper: Array, log_below_lower: Array, log_below_upper: Array
) -> Array:
    value = xp.plain(y)
    inside = (value >= xp.plain(lower)) & (value <= xp.plain(upper))
    return _over_variate(xp, y, inside, _log_difference(xp, log_below_upper, log_below_lower))
