"""The exponential distribution.  Stan Functions Reference, "Exponential distribution"."""

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import of_survival
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, guarded, supported


@with_partials(lambda xp, ans, y, beta: -beta, lambda xp, ans, y, beta: 1.0 / beta - y)
def log_density(xp: Namespace, y: Array, beta: Array) -> Array:
    return guarded(xp, beta > 0, supported(xp, y >= 0, xp.np.log(beta) - beta * y))


def lccdf(xp: Namespace, y: Array, beta: Array) -> Array:
    return guarded(xp, beta > 0, -beta * xp.np.where(y >= 0, y, 0.0))


EXPONENTIAL = continuous(
    name="exponential",
    meaning="exponential with inverse scale beta",
    args=(("y", "nonnegative"), ("beta", "positive")),
    log_density=log_density,
    cdfs=of_survival(lccdf),
    rng=lambda rng, beta: rng.exponential(np.divide(1.0, beta)),
    constants=((("beta",), lambda xp, beta: xp.np.log(beta)),),
    moments=Moments("1 / beta", "1 / beta ^ 2", beyond="y / beta"),
)
