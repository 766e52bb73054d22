"""The lognormal distribution.  Stan Functions Reference, "Lognormal distribution"."""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions import normal
from ppl.stdlib.distributions.cumulative import LOG_SCALE, above_zero
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, guarded, supported
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI


@with_partials(
    lambda xp, ans, y, mu, sigma: ((mu - xp.np.log(y)) / sigma**2 - 1.0) / y,
    lambda xp, ans, y, mu, sigma: (xp.np.log(y) - mu) / sigma**2,
    lambda xp, ans, y, mu, sigma: (((xp.np.log(y) - mu) / sigma) ** 2 - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    log_y = xp.np.log(y)
    z = (log_y - mu) / sigma
    value = -0.5 * z * z - xp.np.log(sigma) - log_y - HALF_LOG_TWO_PI
    return guarded(xp, sigma > 0, supported(xp, y > 0, value))


LOGNORMAL = continuous(
    name="lognormal",
    meaning="the exponential of a normal(mu, sigma)",
    args=(("y", "nonnegative"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdfs=above_zero(
        lambda mu, sigma: sigma > 0,
        lambda xp, tail, y, mu, sigma: tail(xp, (xp.np.log(y) - mu) / sigma),
        normal.standard_cdf,
        normal.standard_lcdf,
        normal.standard_lccdf,
    ),
    rng=lambda rng, mu, sigma: rng.lognormal(mu, sigma),
    constants=(LOG_SCALE, (("y",), lambda xp, y: -xp.np.log(y))),  # Stan keeps the 2 pi of this one
    moments=Moments(
        "exp(mu + sigma ^ 2 / 2)",
        "(exp(sigma ^ 2) - 1) * exp(2 * mu + sigma ^ 2)",
        beyond="exp(mu + sigma ^ 2 / 2) * (Phi((mu + sigma ^ 2 - log(y)) / sigma) "
        "- Phi((mu - log(y)) / sigma)) / exp(lognormal_lpdf(y | mu, sigma))",
    ),
)
