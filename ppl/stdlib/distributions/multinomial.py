"""The multinomial distribution by probabilities or logits.

Stan Functions Reference, "Multinomial distribution" and "Multinomial distribution, logit parameterization".
"""

from dataclasses import replace

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.late import special
from ppl.stdlib.distributions.quadratic_form import lifted
from ppl.stdlib.distributions.simplexes import on_simplex
from ppl.stdlib.functions.log_sums import log_softmax, softmax
from ppl.stdlib.moments import each
from ppl.stdlib.record import Distribution, supported
from ppl.stdlib.special.counts import per


def log_coefficient(xp: Namespace, y: Array) -> Array:
    """log (N! / (y_1! ... y_K!))."""
    total = xp.special.gammaln(xp.np.sum(y, axis=-1) + 1.0)
    return total - xp.np.sum(xp.special.gammaln(y + 1.0), axis=-1)


def _counts(xp: Namespace, y: Array, value: Array) -> Array:
    return supported(xp, xp.np.all(y >= 0, axis=-1), value)


@with_vjps(None, lambda xp, g, ans, y, theta: lifted(xp, g, 1) * per(xp, y, theta))
def log_density(xp: Namespace, y: Array, theta: Array) -> Array:
    value = log_coefficient(xp, y) + xp.np.sum(xp.special.xlogy(y, theta), axis=-1)
    return on_simplex(xp, theta, _counts(xp, y, value))


def _logit_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, gamma: Array) -> Array:
    expected = xp.np.sum(y, axis=-1, keepdims=True) * softmax(xp, gamma)
    return lifted(xp, g, 1) * (y - expected)


@with_vjps(None, _logit_adjoint)
def logit_log_density(xp: Namespace, y: Array, gamma: Array) -> Array:
    weighted = xp.np.where(y == 0, 0.0, y * log_softmax(xp, gamma))
    return _counts(xp, y, log_coefficient(xp, y) + xp.np.sum(weighted, axis=-1))


MULTINOMIAL = Distribution(
    name="multinomial",
    meaning="counts of categories with probabilities theta",
    signatures=("array[] int | vector",),
    args=(("y", "count"), ("theta", "simplex")),
    log_density=log_density,
    rng=lambda rng, theta, trials: rng.multinomial(trials, theta / np.sum(theta, axis=-1, keepdims=True)),
    rng_signatures=("(vector, int) => array[] int",),
    rng_args=(("theta", "simplex"), ("N", "count")),
    constants=((("y",), log_coefficient),),
    cores=(1, 1),
    moments=each("N * theta", "N * theta .* (1 - theta)"),
)

MULTINOMIAL_LOGIT = replace(
    MULTINOMIAL,
    name="multinomial_logit",
    meaning="counts of categories with probabilities softmax(gamma)",
    args=(("y", "count"), ("gamma", "real")),
    log_density=logit_log_density,
    rng=lambda rng, gamma, trials: rng.multinomial(trials, special.softmax(gamma, axis=-1)),
    rng_args=(("gamma", "real"), ("N", "count")),
    moments=each("N * softmax(gamma)", "N * softmax(gamma) .* (1 - softmax(gamma))"),
)
