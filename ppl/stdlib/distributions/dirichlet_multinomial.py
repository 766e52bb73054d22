"""Multinomial counts whose probabilities are Dirichlet.

Stan Functions Reference, "Dirichlet-multinomial distribution".
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.distributions import dirichlet
from ppl.stdlib.distributions.multinomial import log_coefficient
from ppl.stdlib.moments import each
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.log_gamma_ratio import log_rise


def log_density(xp: Namespace, y: Array, alpha: Array) -> Array:
    """log N! / prod y_k! + sum_k log (alpha_k)_{y_k} - log (sum alpha)_N, in rising factorials."""
    inside = np.all(np.asarray(y) >= 0, axis=-1)
    y = np.maximum(y, 0.0)
    rises = xp.np.sum(log_rise(xp, alpha, y), axis=-1)
    value = rises - log_rise(xp, xp.np.sum(alpha, axis=-1), np.sum(y, axis=-1)) + log_coefficient(xp, y)
    return guarded(xp, xp.np.all(alpha > 0, axis=-1), supported(xp, inside, value))


def _log_counts(xp: Namespace, y: Array) -> Array:
    """log N - sum log y_k over y_k > 0: what is left of the constants in Stan's form by beta functions."""
    counts = np.maximum(np.sum(y, axis=-1), 1)
    return np.log(counts) - np.sum(np.log(np.maximum(y, 1)), axis=-1)


def rng(rng: np.random.Generator, alpha: Any, trials: Any) -> Any:
    """Probabilities of their own for all counts, also where only the trials differ."""
    lead = np.broadcast_shapes(np.shape(alpha)[:-1], np.shape(trials))
    alpha = np.broadcast_to(alpha, (*lead, np.shape(alpha)[-1]))
    return rng.multinomial(trials, dirichlet.rng(rng, alpha))


DIRICHLET_MULTINOMIAL = Distribution(
    name="dirichlet_multinomial",
    meaning="multinomial counts with probabilities that are dirichlet(alpha)",
    signatures=("array[] int | vector",),
    args=(("y", "count"), ("alpha", "positive")),
    log_density=log_density,
    rng=rng,
    rng_signatures=("(vector, int) => array[] int",),
    rng_args=(("alpha", "positive"), ("N", "count")),
    constants=((("y",), _log_counts),),
    cores=(1, 1),
    moments=each(
        "N * alpha / sum(alpha)",
        "N * alpha .* (sum(alpha) - alpha) * (N + sum(alpha)) / (sum(alpha) ^ 2 * (sum(alpha) + 1))",
    ),
)
