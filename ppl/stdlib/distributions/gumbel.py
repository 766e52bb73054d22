"""The Gumbel distribution.  Stan Functions Reference, "Gumbel distribution"."""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import location_scale
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, guarded
from ppl.stdlib.special.log_add import log1m_exp

SURE = -700.0
"""Below, the chance of more is 1, and exp(-z) would overflow."""
FAR_RIGHT = 37.0
"""Beyond it exp(-z) is below half an ulp of 1, so that log(1 - exp(-exp(-z))) is -z to double precision."""


@with_partials(
    lambda xp, ans, y, mu, beta: xp.np.expm1((mu - y) / beta) / beta,
    lambda xp, ans, y, mu, beta: -xp.np.expm1((mu - y) / beta) / beta,
    lambda xp, ans, y, mu, beta: -((y - mu) / beta * xp.np.expm1((mu - y) / beta) + 1.0) / beta,
)
def log_density(xp: Namespace, y: Array, mu: Array, beta: Array) -> Array:
    z = (y - mu) / beta
    return guarded(xp, beta > 0, -z - xp.np.exp(-z) - xp.np.log(beta))


def standard_lcdf(xp: Namespace, z: Array) -> Array:
    return -xp.np.exp(-z)


def standard_lccdf(xp: Namespace, z: Array) -> Array:
    near = (z > SURE) & (z < FAR_RIGHT)
    inside = log1m_exp(xp, -xp.np.exp(-xp.np.where(near, z, 0.0)))
    return xp.np.where(near, inside, xp.np.where(z <= SURE, 0.0, -z))


GUMBEL = continuous(
    name="gumbel",
    meaning="Gumbel (largest extreme value) with location mu and scale beta",
    args=(("y", "real"), ("mu", "real"), ("beta", "positive")),
    log_density=log_density,
    cdfs=location_scale(lambda xp, z: xp.np.exp(-xp.np.exp(-z)), standard_lcdf, standard_lccdf),
    rng=lambda rng, mu, beta: rng.gumbel(mu, beta),
    constants=((("beta",), lambda xp, beta: -xp.np.log(beta)),),
    moments=Moments("mu - beta * digamma(1)", "pi() ^ 2 * beta ^ 2 / 6"),
)
