"""The normal distribution and its standard form.  Stan Functions Reference, "Normal distribution"."""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import LOG_SCALE, location_scale
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, guarded
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI
from ppl.stdlib.special.mills import inverse_mills


@with_partials(
    lambda xp, ans, y, mu, sigma: (mu - y) / sigma**2,
    lambda xp, ans, y, mu, sigma: (y - mu) / sigma**2,
    lambda xp, ans, y, mu, sigma: (((y - mu) / sigma) ** 2 - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    z = (y - mu) / sigma
    # what depends on sigma alone is mostly of fewer numbers
    return -0.5 * z * z + guarded(xp, sigma > 0, -xp.np.log(sigma) - HALF_LOG_TWO_PI)


@with_partials(lambda xp, ans, y: -y)
def standard_log_density(xp: Namespace, y: Array) -> Array:
    return -0.5 * y * y - HALF_LOG_TWO_PI


@with_partials(lambda xp, ans, z: xp.np.exp(standard_log_density(xp, z)))
def standard_cdf(xp: Namespace, z: Array) -> Array:
    return xp.special.ndtr(z)


@with_partials(lambda xp, ans, z: inverse_mills(xp, z))
def standard_lcdf(xp: Namespace, z: Array) -> Array:
    return xp.special.log_ndtr(z)


def standard_lccdf(xp: Namespace, z: Array) -> Array:
    return standard_lcdf(xp, -z)


NORMAL = continuous(
    name="normal",
    meaning="normal with mean mu and standard deviation sigma",
    args=(("y", "real"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdfs=location_scale(standard_cdf, standard_lcdf, standard_lccdf),
    rng=lambda rng, mu, sigma: rng.normal(mu, sigma),
    constants=(((), lambda xp: -HALF_LOG_TWO_PI), LOG_SCALE),
    moments=Moments("mu", "sigma ^ 2", beyond="sigma ^ 2"),
)

STD_NORMAL = continuous(
    name="std_normal",
    meaning="normal with mean 0 and standard deviation 1",
    args=(("y", "real"),),
    log_density=standard_log_density,
    cdfs=(standard_cdf, standard_lcdf, standard_lccdf),
    rng=lambda rng: rng.standard_normal(),
    constants=(((), lambda xp: -HALF_LOG_TWO_PI),),
    moments=Moments("0", "1", beyond="1"),
)
