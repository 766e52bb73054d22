"""The hypergeometric distribution.  Stan Functions Reference, "Hypergeometric distribution"."""

from ppl.arrays import Array, Namespace
from ppl.stdlib.record import Distribution, Relation, guarded, supported
from ppl.stdlib.special.log_gamma_ratio import log_choose


def log_density(xp: Namespace, y: Array, draws: Array, good: Array, bad: Array) -> Array:
    """Every argument is an int, so nothing here has a derivative."""
    least, most = xp.np.maximum(0, draws - bad), xp.np.minimum(good, draws)
    inside, valid = (y >= least) & (y <= most), (good >= 0) & (bad >= 0) & (least <= most)
    y = xp.np.clip(y, least, xp.np.maximum(least, most))
    value = _log_choose(xp, good, y) + _log_choose(xp, bad, draws - y) - _log_choose(xp, good + bad, draws)
    return guarded(xp, valid, supported(xp, inside, value))


def _log_choose(xp: Namespace, n: Array, k: Array) -> Array:
    n = xp.np.maximum(n, 0)
    return log_choose(xp, n, xp.np.clip(k, 0, n))


HYPERGEOMETRIC = Distribution(
    name="hypergeometric",
    meaning="successes in N draws without replacement from a successes and b failures",
    signatures=("int | int, int, int",),
    args=(("y", "count"), ("N", "trials"), ("a", "trials"), ("b", "trials")),
    log_density=log_density,
    rng=lambda rng, draws, good, bad: rng.hypergeometric(good, bad, draws),
    rng_args=(("N", "size"), ("a", "size"), ("b", "size")),
    relations=(Relation("N", "at most a + b", lambda draws, good, bad: draws <= good + bad),),
)

FAMILIES = (HYPERGEOMETRIC,)
