"""The binomial distribution by its chance of success or its log-odds.

Stan Functions Reference, "Binomial distribution" and "Binomial distribution, logit parameterization".
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import AT_ENDS
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import DensityParts, Distribution, Impl, guarded, supported
from ppl.stdlib.special.counts import per
from ppl.stdlib.special.incomplete_beta import ABOVE
from ppl.stdlib.special.log_add import expit, softplus
from ppl.stdlib.special.log_gamma_ratio import log_choose


def _is_valid(trials: Array, theta: Array) -> Array:
    return (trials >= 0) & (theta >= 0) & (theta <= 1)


def _is_inside(y: Array, trials: Array) -> Array:
    return (y >= 0) & (y <= trials)


def log_coefficient(xp: Namespace, y: Array, trials: Array) -> Array:
    """log_choose where it is defined, and a finite number elsewhere."""
    trials = xp.np.maximum(trials, 0)
    return log_choose(xp, trials, xp.np.clip(y, 0, trials))


def _score(xp: Namespace, ans: Array, y: Array, trials: Array, theta: Array) -> Array:
    return per(xp, y, theta) - per(xp, trials - y, 1.0 - theta)


@with_partials(None, None, _score)
def log_density(xp: Namespace, y: Array, trials: Array, theta: Array) -> Array:
    value = log_coefficient(xp, y, trials) + kernel(xp, y, trials, theta)
    return guarded(xp, _is_valid(trials, theta), supported(xp, _is_inside(y, trials), value))


def _through(tail: Impl, below: float, above: float) -> Impl:
    """`tail` of the (y + 1)th least of N uniforms, which is beta(y + 1, N - y)."""

    def function(xp: Namespace, y: Array, trials: Array, theta: Array) -> Array:
        inside = xp.np.clip(y, 0, xp.np.maximum(trials, 1) - 1)
        value = tail(xp, inside + 1.0, xp.np.maximum(trials, 1.0) - inside, theta, 1.0 - theta)
        value = xp.np.where(y < 0, below, xp.np.where(y >= trials, above, value))
        return guarded(xp, _is_valid(trials, theta), value)

    return function


CDFS = tuple(map(_through, ABOVE, *AT_ENDS))


@with_partials(None, None, _score)
def kernel(xp: Namespace, y: Array, trials: Array, theta: Array) -> Array:
    value = xp.special.xlogy(y, theta) + xp.special.xlog1py(trials - y, -theta)
    return guarded(xp, _is_valid(trials, theta), value)


def _logit_score(xp: Namespace, ans: Array, y: Array, trials: Array, alpha: Array) -> Array:
    return y * expit(xp, -alpha) - (trials - y) * expit(xp, alpha)


@with_partials(None, None, _logit_score)
def logit_kernel(xp: Namespace, y: Array, trials: Array, alpha: Array) -> Array:
    """-y log(1 + exp(-alpha)) - (trials - y) log(1 + exp(alpha)), with one logarithm for both."""
    sure = y * xp.np.minimum(alpha, 0.0) - (trials - y) * xp.np.maximum(alpha, 0.0)
    return guarded(xp, trials >= 0, sure - trials * softplus(xp, -xp.np.abs(alpha)))


@with_partials(None, None, _logit_score)
def logit_log_density(xp: Namespace, y: Array, trials: Array, alpha: Array) -> Array:
    value = log_coefficient(xp, y, trials) + logit_kernel(xp, y, trials, alpha)
    return guarded(xp, trials >= 0, supported(xp, _is_inside(y, trials), value))


def term(xp: Namespace, times: Array, y: Array, trials: Array) -> Array:
    value = times * log_coefficient(xp, y, trials)
    return guarded(xp, trials >= 0, supported(xp, _is_inside(y, trials), value))


CONSTANTS = ((("y", "N"), log_coefficient),)

BINOMIAL = Distribution(
    name="binomial",
    meaning="successes in N trials, each with chance theta",
    signatures=("ints | ints, reals",),
    args=(("y", "count"), ("N", "trials"), ("theta", "unit_interval")),
    log_density=log_density,
    cdfs=CDFS,
    rng=lambda rng, trials, theta: rng.binomial(trials, theta),
    constants=CONSTANTS,
    parts=DensityParts(kernel, term, ("y", "N")),
    moments=Moments("N * theta", "N * theta * (1 - theta)", beyond="y * (1 - theta)"),
)

BINOMIAL_LOGIT = Distribution(
    name="binomial_logit",
    meaning="successes in N trials, each with log-odds alpha",
    signatures=("ints | ints, reals",),
    args=(("y", "count"), ("N", "trials"), ("alpha", "real")),
    log_density=logit_log_density,
    constants=CONSTANTS,
    parts=DensityParts(logit_kernel, term, ("y", "N")),
    moments=Moments("N * inv_logit(alpha)", "N * inv_logit(alpha) * inv_logit(-alpha)"),
)
