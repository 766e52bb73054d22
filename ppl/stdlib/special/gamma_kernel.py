"""The gamma density without the cancellation of large shapes."""

from ppl.arrays import Array, Namespace
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI
from ppl.stdlib.special.log_gamma_ratio import CUTOFF, stirling_remainder


def _log_peak(xp: Namespace, a: Array) -> Array:
    """a log a - a - lgamma(a), which grows only as log(a / (2 pi)) / 2."""
    small, large = xp.np.minimum(a, CUTOFF), xp.np.maximum(a, CUTOFF)
    direct = small * xp.np.log(small) - small - xp.special.gammaln(small)
    asymptotic = 0.5 * xp.np.log(large) - HALF_LOG_TWO_PI - stirling_remainder(xp, large)
    return xp.np.where(a < CUTOFF, direct, asymptotic)


def log_gamma_kernel(xp: Namespace, a: Array, log_x: Array) -> Array:
    """log(x^a exp(-x) / Gamma(a)), that is log of x times the gamma(a, 1) density.

    Written around its peak x = a as a (t - expm1(t)) + _log_peak(a) with t = log(x / a), because a log x and
    lgamma(a) are of the size of a log a while the result is not.
    """
    t = log_x - xp.np.log(a)
    return a * (t - xp.np.expm1(t)) + _log_peak(xp, a)
