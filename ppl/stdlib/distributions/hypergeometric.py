"""The hypergeometric distribution.  Stan Functions Reference, "Hypergeometric distribution"."""

from ppl.arrays import Array, Namespace
from ppl.stdlib.distributions.binomial import log_coefficient
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, Relation, guarded, supported


def log_density(xp: Namespace, y: Array, draws: Array, good: Array, bad: Array) -> Array:
    """Every argument is an int, so nothing here has a derivative."""
    least, most = xp.np.maximum(0, draws - bad), xp.np.minimum(good, draws)
    inside, valid = (y >= least) & (y <= most), (good >= 0) & (bad >= 0) & (least <= most)
    y = xp.np.clip(y, least, xp.np.maximum(least, most))
    ways = log_coefficient(xp, y, good) + log_coefficient(xp, draws - y, bad)
    value = ways - log_coefficient(xp, draws, good + bad)
    return guarded(xp, valid, supported(xp, inside, value))


HYPERGEOMETRIC = Distribution(
    name="hypergeometric",
    meaning="successes in N draws without replacement from a successes and b failures",
    signatures=("int | int, int, int",),
    args=(("y", "count"), ("N", "trials"), ("a", "trials"), ("b", "trials")),
    log_density=log_density,
    rng=lambda rng, draws, good, bad: rng.hypergeometric(good, bad, draws),
    rng_args=(("N", "positive_count"), ("a", "positive_count"), ("b", "positive_count")),
    relations=(Relation("N", "at most a + b", lambda draws, good, bad: draws <= good + bad),),
    moments=Moments("N * a / (a + b)", "N * a * b * (a + b - N) / ((a + b) ^ 2 * (a + b - 1))"),
)
