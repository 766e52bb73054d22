"""The logistic distribution.  Stan Functions Reference, "Logistic distribution"."""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import LOG_SCALE, location_scale
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, validity
from ppl.stdlib.special.log_add import expit, softplus


@with_partials(
    lambda xp, ans, y, mu, sigma: -xp.np.tanh(0.5 * (y - mu) / sigma) / sigma,
    lambda xp, ans, y, mu, sigma: xp.np.tanh(0.5 * (y - mu) / sigma) / sigma,
    lambda xp, ans, y, mu, sigma: (((y - mu) / sigma) * xp.np.tanh(0.5 * (y - mu) / sigma) - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    distance = xp.np.abs((y - mu) / sigma)
    value = -distance - 2.0 * xp.np.log1p(xp.np.exp(-distance)) - xp.np.log(sigma)
    return value + validity(xp, sigma > 0)


LOGISTIC = continuous(
    name="logistic",
    meaning="logistic with location mu and scale sigma",
    args=(("y", "real"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdfs=location_scale(expit, lambda xp, z: -softplus(xp, -z), lambda xp, z: -softplus(xp, z)),
    rng=lambda rng, mu, sigma: rng.logistic(mu, sigma),
    constants=(LOG_SCALE,),
    moments=Moments(
        "mu",
        "pi() ^ 2 * sigma ^ 2 / 3",
        beyond="sigma * (log1p_exp((mu - y) / sigma) + (y - mu) / sigma * inv_logit((mu - y) / sigma)) "
        "/ exp(logistic_lpdf(y | mu, sigma))",
    ),
)
