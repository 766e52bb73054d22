"""The categorical distribution by probabilities or logits, with categories 1..K.

Stan Functions Reference, "Categorical distribution".
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, summed_to, with_vjps
from ppl.late import special
from ppl.stdlib.distributions.quadratic_form import lifted
from ppl.stdlib.distributions.simplexes import on_simplex, pick, picked_adjoint
from ppl.stdlib.functions.log_sums import log_softmax, softmax
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution


def _theta_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, theta: Array) -> Array:
    picked = picked_adjoint(xp, g, y, theta)
    return xp.np.where(picked != 0, picked / theta, 0.0)


@with_vjps(None, _theta_adjoint)
def log_density(xp: Namespace, y: Array, theta: Array) -> Array:
    return on_simplex(xp, theta, pick(xp, xp.np.log(theta), y))


def _logit_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, beta: Array) -> Array:
    each = summed_to(xp.np.zeros(beta.shape[:-1]), g)
    return picked_adjoint(xp, g, y, beta) - lifted(xp, each, 1) * softmax(xp, beta)


@with_vjps(None, _logit_adjoint)
def logit_log_density(xp: Namespace, y: Array, beta: Array) -> Array:
    return pick(xp, log_softmax(xp, beta), y)


def draw(rng: np.random.Generator, theta: Any) -> Any:
    reached = np.cumsum(theta, axis=-1)
    level = rng.uniform(size=(*reached.shape[:-1], 1)) * reached[..., -1:]
    return 1 + np.sum(reached[..., :-1] <= level, axis=-1)


CATEGORICAL = Distribution(
    name="categorical",
    meaning="a category with probabilities theta",
    signatures=("ints | vector",),
    args=(("y", "category"), ("theta", "simplex")),
    log_density=log_density,
    rng=draw,
    rng_signatures=("(vector) => int",),
    moments=Moments(probabilities="theta"),
)

CATEGORICAL_LOGIT = replace(
    CATEGORICAL,
    name="categorical_logit",
    meaning="a category with probabilities softmax(beta)",
    args=(("y", "category"), ("beta", "real")),
    log_density=logit_log_density,
    rng=lambda rng, beta: draw(rng, special.softmax(beta, axis=-1)),
    moments=Moments(probabilities="softmax(beta)"),
)
