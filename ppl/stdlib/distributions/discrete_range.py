"""The uniform distribution over a range of ints.  Stan Functions Reference, "Discrete range distribution"."""

from ppl.arrays import Array, Namespace
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, Relation, guarded, supported


def log_density(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
    """Every argument is an int, so nothing here has a derivative."""
    value = -xp.np.log(xp.np.maximum(upper - lower + 1.0, 1.0))
    return guarded(xp, lower <= upper, supported(xp, (y >= lower) & (y <= upper), value))


def _share(xp: Namespace, n: Array, lower: Array, upper: Array) -> Array:
    """n of the values in the range, as a chance."""
    size = xp.np.maximum(upper - lower + 1.0, 1.0)
    return guarded(xp, lower <= upper, xp.np.clip(n / size, 0.0, 1.0))


def cdf(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
    return _share(xp, y - lower + 1.0, lower, upper)


def lcdf(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
    return xp.np.log(cdf(xp, y, lower, upper))


def lccdf(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
    return xp.np.log(_share(xp, upper - y + 0.0, lower, upper))


DISCRETE_RANGE = Distribution(
    name="discrete_range",
    meaning="every int from lower to upper alike",
    signatures=("ints | ints, ints",),
    args=(("y", "int"), ("lower", "lower_int"), ("upper", "upper_int")),
    log_density=log_density,
    cdfs=(cdf, lcdf, lccdf),
    rng=lambda rng, lower, upper: rng.integers(lower, upper, endpoint=True),
    relations=(Relation("upper", "at least lower", lambda lower, upper: upper >= lower),),
    moments=Moments("(lower + upper) / 2", "((upper - lower + 1) ^ 2 - 1) / 12"),
)
