"""The ELBO by Monte Carlo, and the draws of q, at which the target is finite, that it is an average over."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.parts import row_parts
from ppl.kernel.advi.target import Target, blame

TRIES_A_DRAW = 10
"""Times in a row that a draw may have no finite log density or gradient before that is an error."""

TRIES_A_WRITTEN_DRAW = 100
"""The same of draws of the answer: a q that lies half outside the support still has its draws written; the
count of those dropped tells.
"""


class FiniteDraws(NamedTuple):
    """n draws: noise `z`, points `u` (n, dim), log densities (n,), gradients (n, dim) or (n, 0)."""

    z: Floats
    u: Floats
    log_density: Floats
    gradient: Floats
    dropped: int


def draws_with_density(
    target: Target,
    family: Family,
    params: Floats,
    n: int,
    rng: np.random.Generator,
    tries: int = TRIES_A_DRAW,
    gradients: bool = False,
) -> FiniteDraws:
    """Draw n points from q, each with a finite log density, and gradient if it is asked for.

    Draws where they are not finite are made again, and counted as dropped. Raises InferenceError, naming the
    statement to blame, when one draw fails `tries` times in a row.
    """

    def evaluate(u: Floats) -> tuple[Floats, Floats]:
        if gradients:
            return target.log_density_gradients(u)
        return target.log_densities(u), np.empty((len(u), 0))

    z = family.noise(n, rng)
    u = family.transform(params, z)
    value, gradient = evaluate(u)
    bad = _not_finite(value, gradient)
    dropped = 0
    for _ in range(tries - 1):
        if not bad.size:
            return FiniteDraws(z, u, value, gradient, dropped)
        dropped += bad.size
        z[bad] = family.noise(bad.size, rng)
        u[bad] = family.transform(params, z[bad])
        value[bad], gradient[bad] = evaluate(u[bad])
        bad = bad[_not_finite(value[bad], gradient[bad])]
    if bad.size:
        draws = f"{bad.size} of {n} draws from the approximation have no finite log density or gradient"
        raise InferenceError(f"{draws}, {tries} times in a row.\n{blame(target, u[bad[0]])}", "PPL971")
    return FiniteDraws(z, u, value, gradient, dropped)


def draws_with_gradient(
    target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator
) -> FiniteDraws:
    """The same, each with a finite log density and gradient."""
    return draws_with_density(target, family, params, n, rng, gradients=True)


def points_with_density(
    target: Target,
    family: Family,
    params: Floats,
    n: int,
    rng: np.random.Generator,
    tries: int = TRIES_A_DRAW,
) -> tuple[Floats, Floats, int]:
    """The points u (n, dim) of `draws_with_density`, the log densities there (n,), and how many were dropped.

    They are drawn some at a time, so that their noise is never in memory with all of them.
    """
    u, value, dropped = np.empty((n, family.dim)), np.empty(n), 0
    for part in row_parts(n, family.dim):
        drawn = draws_with_density(target, family, params, part.stop - part.start, rng, tries)
        u[part], value[part] = drawn.u, drawn.log_density
        dropped += drawn.dropped
    return u, value, dropped


def _not_finite(value: Floats, gradient: Floats) -> NDArray[np.intp]:
    return np.asarray((~(np.isfinite(value) & np.isfinite(gradient).all(axis=1))).nonzero()[0])


# --- The ELBO by Monte Carlo, with its standard error --------------------------------------------


class Elbo(NamedTuple):
    """An estimate of the ELBO in nats, its standard error (nan for one draw), draws that were dropped."""

    value: float
    se: float
    dropped: int


def estimate_elbo(target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator) -> Elbo:
    """Estimate the ELBO of q from n fresh draws: mean log density plus entropy (ADVI eq. 5)."""
    draws = draws_with_density(target, family, params, n, rng)
    return elbo_of(draws.log_density, family.entropy(params), draws.dropped)


def elbo_by_ratios(target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator) -> Elbo:
    """The same from log(p/q) at the draws, which differs less from draw to draw where q is near p."""
    draws = draws_with_density(target, family, params, n, rng)
    return elbo_of(draws.log_density - family.log_density(params, draws.u), 0.0, draws.dropped)


def elbo_of(terms: Floats, entropy: float, dropped: int) -> Elbo:
    """The ELBO from log densities at draws of q (n,) and the entropy of q.

    Or from log(p/q), without an entropy: these differ less from draw to draw, where q is near p.
    """
    n = len(terms)
    se = float(np.std(terms, ddof=1)) / n**0.5 if n > 1 else float("nan")
    return Elbo(float(np.mean(terms) + entropy), se, dropped)
