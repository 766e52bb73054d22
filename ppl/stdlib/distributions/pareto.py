"""The Pareto distributions of type 1 and 2.

Stan Functions Reference, "Pareto distribution" and "Pareto type 2 distribution".
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import of_survival
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, guarded, supported


@with_partials(
    lambda xp, ans, y, y_min, alpha: -(alpha + 1.0) / y,
    lambda xp, ans, y, y_min, alpha: alpha / y_min,
    lambda xp, ans, y, y_min, alpha: 1.0 / alpha - xp.np.log(y / y_min),
)
def log_density(xp: Namespace, y: Array, y_min: Array, alpha: Array) -> Array:
    value = xp.np.log(alpha / y) - alpha * xp.np.log(y / y_min)
    return guarded(xp, (y_min > 0) & (alpha > 0), supported(xp, y >= y_min, value))


def lccdf(xp: Namespace, y: Array, y_min: Array, alpha: Array) -> Array:
    # At y_min the slope of the support, and 0 exactly below: XLA rounds y_min / y_min.
    value = -alpha * xp.np.log1p(xp.np.where(y >= y_min, y - y_min, 0.0) / y_min)
    return guarded(xp, (y_min > 0) & (alpha > 0), value)


@with_partials(
    lambda xp, ans, y, mu, scale, alpha: -(alpha + 1.0) / (scale + y - mu),
    lambda xp, ans, y, mu, scale, alpha: (alpha + 1.0) / (scale + y - mu),
    lambda xp, ans, y, mu, scale, alpha: (alpha * (y - mu) - scale) / (scale * (scale + y - mu)),
    lambda xp, ans, y, mu, scale, alpha: 1.0 / alpha - xp.np.log1p((y - mu) / scale),
)
def type_2_log_density(xp: Namespace, y: Array, mu: Array, scale: Array, alpha: Array) -> Array:
    value = xp.np.log(alpha / scale) - (alpha + 1.0) * xp.np.log1p((y - mu) / scale)
    return guarded(xp, (scale > 0) & (alpha > 0), supported(xp, y >= mu, value))


def type_2_lccdf(xp: Namespace, y: Array, mu: Array, scale: Array, alpha: Array) -> Array:
    value = -alpha * xp.np.log1p(xp.np.where(y >= mu, y - mu, 0.0) / scale)
    return guarded(xp, (scale > 0) & (alpha > 0), value)


PARETO = continuous(
    name="pareto",
    meaning="Pareto above y_min with shape alpha",
    args=(("y", "positive"), ("y_min", "positive"), ("alpha", "positive")),
    log_density=log_density,
    cdfs=of_survival(lccdf),
    rng=lambda rng, y_min, alpha: y_min * (1.0 + rng.pareto(alpha, np.broadcast(y_min, alpha).shape)),
    constants=(
        (("alpha",), lambda xp, alpha: xp.np.log(alpha)),
        (("y_min", "alpha"), lambda xp, y_min, alpha: alpha * xp.np.log(y_min)),
        (("y", "alpha"), lambda xp, y, alpha: -(alpha + 1.0) * xp.np.log(y)),
    ),
    moments=Moments(
        "alpha * y_min / (alpha - 1)",
        "alpha * y_min ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
        beyond="y * (y - y_min) / (alpha - 1)",
    ),
)

PARETO_TYPE_2 = continuous(
    name="pareto_type_2",
    meaning="Pareto of type 2 above mu with scale lambda and shape alpha",
    args=(("y", "real"), ("mu", "real"), ("lambda", "positive"), ("alpha", "positive")),
    log_density=type_2_log_density,
    cdfs=of_survival(type_2_lccdf),
    rng=lambda rng, mu, scale, alpha: mu + scale * rng.pareto(alpha, np.broadcast(mu, scale, alpha).shape),
    constants=(
        (("alpha",), lambda xp, alpha: xp.np.log(alpha)),
        (("lambda",), lambda xp, scale: -xp.np.log(scale)),
    ),
    moments=Moments(
        "mu + lambda / (alpha - 1)",
        "alpha * lambda ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
        beyond="(y - mu) * (y - mu + lambda) / (alpha - 1)",
    ),
)
