"""The log-logistic distribution: log y is logistic(log alpha, 1 / beta).

Stan Functions Reference, "Log-logistic distribution".
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, guarded, supported


def _above(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    """tanh(s / 2) with s = beta log(y / alpha): twice the cdf, less one."""
    return xp.np.tanh(0.5 * beta * xp.np.log(y / alpha))


@with_partials(
    lambda xp, ans, y, alpha, beta: -(1.0 + beta * _above(xp, y, alpha, beta)) / y,
    lambda xp, ans, y, alpha, beta: beta * _above(xp, y, alpha, beta) / alpha,
    lambda xp, ans, y, alpha, beta: 1.0 / beta - xp.np.log(y / alpha) * _above(xp, y, alpha, beta),
)
def log_density(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    distance = beta * xp.np.abs(xp.np.log(y / alpha))
    value = xp.np.log(beta / y) - distance - 2.0 * xp.np.log1p(xp.np.exp(-distance))
    return guarded(xp, (alpha > 0) & (beta > 0), supported(xp, y > 0, value))


def cdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    inside = y > 0
    value = xp.special.expit(beta * xp.np.log(xp.np.where(inside, y, 1.0) / alpha))
    return guarded(xp, (alpha > 0) & (beta > 0), xp.np.where(inside, value, 0.0))


def rng(rng: np.random.Generator, alpha: Any, beta: Any) -> Any:
    return alpha * np.exp(np.divide(rng.logistic(size=np.broadcast(alpha, beta).shape), beta))


LOGLOGISTIC = continuous(
    name="loglogistic",
    meaning="log-logistic with scale alpha and shape beta",
    args=(("y", "positive"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdfs=(cdf, None, None),
    rng=rng,
    constants=((("alpha", "beta"), lambda xp, alpha, beta: xp.np.log(beta) - beta * xp.np.log(alpha)),),
    moments=Moments(
        "alpha * (pi() / beta) / sin(pi() / beta)",
        "alpha ^ 2 * (2 * pi() / (beta * sin(2 * pi() / beta)) - (pi() / (beta * sin(pi() / beta))) ^ 2)",
        "beta > 1",
        "beta > 2",
    ),
)
