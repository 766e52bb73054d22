"""Stan's Newton method: the sizes of the Hessian's eigenvalues, and a step halved until it gains."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.methods.maximise.rules import NEWTON_GAIN, Rules, SearchPoint, Stop

STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
"""Offsets and weights of the central difference of fourth order."""


class NewtonLimits(NamedTuple):
    """The constants of Stan's Newton step."""

    spacing: float = 1e-3
    """That of the stencil. At a kink of the density it is as wide as a kink counts."""

    longest: float = 1e6
    """Newton steps in the first that is tried. Stan's Hessian lacks the factor 1 / spacing^2."""

    shortest: float = 1e-50
    """The share of the longest step at which a search ends."""

    at_once: int = 32
    """Step sizes that are tried by one evaluation of many points."""


NEWTON_LIMITS = NewtonLimits()


def climb_by_newton(target: Target, start: Floats, rules: Rules) -> Iterator[SearchPoint]:
    """The steps from `start` (dim,) on, where the log density is finite; the last has a `stop`.

    The last step is a Newton step of length 1, where that gains; one of Stan's may be up to twice as long.
    """
    value, gradient = target.log_density_gradient(start)
    here = SearchPoint(start, value, gradient)
    yield here
    while not here.stop:
        direction = _direction(here.gradient, stencil_hessian(target, here.u))
        before, here = here, _step(target, here, direction)
        if here.value - before.value <= NEWTON_GAIN:
            unit = _step_by(target, here, (1 - here.alpha) * direction)
            here = replace(unit if unit.value > here.value else here, stop=Stop.OBJECTIVE)
        elif here.number == rules.iter:
            here = replace(here, stop=Stop.ITERATIONS)
        yield here


def _step(target: Target, here: SearchPoint, direction: Floats) -> SearchPoint:
    """The longest of the halved steps at which the log density is no lower, or no step at all."""
    alpha, tried = _longest_gain(target, here, direction)
    evaluations = here.evaluations + len(STENCIL) * target.dim + tried + 1
    after = replace(here, number=here.number + 1, alpha=alpha, evaluations=evaluations, length=0.0)
    return _step_by(target, after, alpha * direction) if alpha else after


def _step_by(target: Target, here: SearchPoint, by: Floats) -> SearchPoint:
    value, gradient = target.log_density_gradient(here.u + by)
    return replace(here, u=here.u + by, value=value, gradient=gradient, length=float(np.linalg.norm(by)))


def stencil_hessian(target: Target, u: Floats) -> Floats:
    """The Hessian (dim, dim) by differences of gradients over a stencil that is wide, as Stan's is."""
    offsets = NEWTON_LIMITS.spacing * np.array([offset for offset, _ in STENCIL])
    points = (u + offsets[:, None, None] * np.eye(len(u))).reshape(-1, len(u))
    slopes = target.gradients_alone(points).reshape(len(STENCIL), len(u), len(u))
    rows = np.tensordot([weight for _, weight in STENCIL], slopes, 1) / NEWTON_LIMITS.spacing
    return np.asarray(0.5 * (rows + rows.T))


def _direction(gradient: Floats, hessian: Floats) -> Floats:
    """Uphill: the gradient over the sizes of the curvatures along their eigenvectors."""
    curvatures, vectors = np.linalg.eigh(hessian)
    return np.asarray(vectors @ ((vectors.T @ gradient) / np.abs(curvatures)))


def _longest_gain(target: Target, here: SearchPoint, direction: Floats) -> tuple[float, int]:
    """The longest of the halved alphas that gains, 0 for none, and how many were tried."""
    alpha, tried = NEWTON_LIMITS.longest, 0
    while alpha >= NEWTON_LIMITS.longest * NEWTON_LIMITS.shortest:
        alphas = alpha * 0.5 ** np.arange(NEWTON_LIMITS.at_once)
        values = target.log_densities(here.u + alphas[:, None] * direction)
        tried += len(alphas)
        gains = np.flatnonzero(np.isfinite(values) & (values >= here.value))
        if gains.size:
            return float(alphas[gains[0]]), tried
        alpha = alphas[-1] / 2
    return 0.0, tried
