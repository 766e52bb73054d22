"""The Dirichlet distribution on simplexes.  Stan Functions Reference, "Dirichlet distribution"."""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.late import special
from ppl.stdlib.distributions.quadratic_form import lifted
from ppl.stdlib.distributions.simplexes import on_simplex
from ppl.stdlib.moments import each
from ppl.stdlib.record import Distribution, guarded


def _log_normaliser(xp: Namespace, alpha: Array) -> Array:
    """lgamma(sum alpha) - sum lgamma(alpha)."""
    total = xp.special.gammaln(xp.np.sum(alpha, axis=-1))
    return total - xp.np.sum(xp.special.gammaln(alpha), axis=-1)


def _alpha_adjoint(xp: Namespace, g: Array, ans: Array, theta: Array, alpha: Array) -> Array:
    total = xp.special.digamma(xp.np.sum(alpha, axis=-1, keepdims=True))
    return lifted(xp, g, 1) * (total - xp.special.digamma(alpha) + xp.np.log(theta))


@with_vjps(lambda xp, g, ans, theta, alpha: lifted(xp, g, 1) * (alpha - 1.0) / theta, _alpha_adjoint)
def log_density(xp: Namespace, theta: Array, alpha: Array) -> Array:
    value = _log_normaliser(xp, alpha) + xp.np.sum(xp.special.xlogy(alpha - 1.0, theta), axis=-1)
    return on_simplex(xp, theta, guarded(xp, xp.np.all(alpha > 0, axis=-1), value))


def rng(rng: np.random.Generator, alpha: Any) -> Any:
    """Gamma variates over their sum; of many simplexes on the log scale, where the smallest do not vanish.

    A gamma(a) is a gamma(a + 1) times u^(1 / a), u uniform (Marsaglia and Tsang 2000).
    """
    if np.ndim(alpha) == 1:
        return rng.dirichlet(alpha)
    if np.any(np.less(alpha, 0.0)):
        raise ValueError("alpha < 0")
    gammas = rng.standard_gamma(np.add(alpha, 1.0))
    powers = np.divide(rng.standard_exponential(np.shape(alpha)), alpha)
    return special.softmax(np.log(gammas) - powers, axis=-1)


DIRICHLET = Distribution(
    name="dirichlet",
    meaning="a simplex with concentrations alpha",
    signatures=("vectors | vectors",),
    args=(("theta", "simplex"), ("alpha", "positive")),
    log_density=log_density,
    rng=rng,
    rng_signatures=("(vector) => vector",),
    constants=((("alpha",), _log_normaliser),),
    moments=each("alpha / sum(alpha)", "alpha .* (sum(alpha) - alpha) / (sum(alpha) ^ 2 * (sum(alpha) + 1))"),
)
