"""Stochastic search with control variates (Paisley, Blei and Jordan 2012, Algorithm 1)."""

from collections.abc import Callable, Sequence
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.elbo import FiniteDraws, draws_with_density
from ppl.kernel.advi.estimators.reparameterised import Estimate
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.gaussian import hessian
from ppl.kernel.advi.target import Target, blame
from ppl.records import dataclass

PILOT_DRAWS = 20
"""Draws that the scales of the control variates are estimated from."""


def score_function(
    target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator
) -> Estimate:
    """Average log p(u) times the score of q in params; the entropy is in closed form (Paisley eq. 6)."""
    draws = draws_with_density(target, family, params, n, rng)
    noisy = draws.log_density @ family.params_score(params, draws.u) / n
    gradient = noisy + family.entropy_gradient(params)
    return Estimate(gradient, float(draws.log_density.mean()), draws.dropped)


def black_box(target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator) -> Estimate:
    """BBVI's gradient with the score itself as control variate (Ranganath, Gerrish and Blei 2014, eq. 9-12).

    The scales a* of the control variate, one an entry of params, are estimated from pilot draws of their own,
    which keeps the gradient unbiased. At q = p it has no noise.
    """
    pilot = draws_with_density(target, family, params, PILOT_DRAWS, rng)
    a = _best_scales(*_excess_and_score(family, params, pilot.u, pilot.log_density))
    draws = draws_with_density(target, family, params, n, rng)
    excess, score = _excess_and_score(family, params, draws.u, draws.log_density)
    gradient = ((excess[:, None] - a) * score).mean(axis=0)
    return Estimate(gradient, float(draws.log_density.mean()), pilot.dropped + draws.dropped)


def _excess_and_score(
    family: Family, params: Floats, u: Floats, log_density: Floats
) -> tuple[Floats, Floats]:
    """log p - log q (n,), and the score of q in params (n, size)."""
    return log_density - family.log_density(params, u), family.params_score(params, u)


def _best_scales(excess: Floats, score: Floats) -> Floats:
    """a* = Cov(excess * score, score) / Var(score) of each entry of params; 0 where the score is constant."""
    centred = score - score.mean(axis=0)
    covariance = (excess[:, None] * score * centred).sum(axis=0)
    variance = (centred**2).sum(axis=0)
    return np.asarray(np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0))


@dataclass(frozen=True)
class Quadratic:
    """value + gradient'(u - centre) + (u - centre)' hessian (u - centre) / 2."""

    centre: Floats
    value: float
    gradient: Floats
    hessian: Floats

    def values(self, u: Floats) -> Floats:
        """At each row of u (n, dim), (n,)."""
        off = u - self.centre
        return np.asarray(self.value + off @ self.gradient + 0.5 * ((off @ self.hessian) * off).sum(axis=1))

    def gradients(self, u: Floats) -> Floats:
        """In u, at each row of u (n, dim)."""
        return self.gradient + (u - self.centre) @ self.hessian

    def expected_gradient(self, family: Family, params: Floats) -> Floats:
        """Gradient in params (size,) of the expectation under q, exact for every family.

        What is averaged is quadratic in the noise, so points that share its mean and covariance will do: two
        on each axis (the spherical rule of degree 3; Stroud 1971).
        """
        n = family.noise_dim
        axes = sqrt(n * family.standard.variance) * np.eye(n)
        z = np.concatenate([axes, -axes])
        return family.pull_back(params, z, self.gradients(family.transform(params, z)))


# A control variate for a target near the q with these params.
ControlVariate = Callable[[Target, Family, Floats], Quadratic]


def taylor(target: Target, family: Family, params: Floats) -> Quadratic:
    """The delta method: the target's second-order Taylor expansion about the mean of q (Paisley section 5.1).

    Raises InferenceError, naming the statement to blame, where the target has no expansion there.
    """
    centre = family.mean(params)
    value, gradient = target.log_density_gradient(centre)
    matrix = hessian(target, centre, family.scales(params))
    if not (np.isfinite(value) and np.isfinite(gradient).all() and np.isfinite(matrix).all()):
        why = blame(target, centre)
        raise InferenceError(f"The log density has no Taylor expansion at the mean of q. {why}")
    return Quadratic(centre, value, gradient, matrix)


MOST_DRAWS_A_GRADIENT = 10_000
"""Draws that one gradient may take to have the variance asked for."""


class Pilot(NamedTuple):
    """Estimates from pilot draws: the scale of each control, and the noise of one draw with them.

    The noise is the variance of one draw's gradient, averaged over params.
    """

    scales: Floats
    noise: float


def pilot_of(plain: Floats, controls: Floats) -> Pilot:
    """Scales that leave the least noise in plain (n, size) - scales @ controls (k, n, size).

    With one control that is Paisley's section 4.2: one scale for all params, from sums over them. Raises
    InferenceError when the terms are so large that their squares overflow.
    """
    terms = np.concatenate([controls, plain[None]])
    centred = (terms - terms.mean(axis=1, keepdims=True)).reshape(len(terms), -1)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = centred @ centred.T
    if not np.isfinite(gram).all():
        raise InferenceError("the log density at draws from q is too large for a score-function gradient")
    scales = np.linalg.lstsq(gram[:-1, :-1], gram[:-1, -1], rcond=None)[0]
    left = centred[-1] - scales @ centred[:-1]
    return Pilot(scales, float(left @ left) / (plain.size - plain.shape[1]))


@dataclass(frozen=True)
class StochasticSearch:
    """The score-function gradient of log p - sum a_k g_k - b, plus the exact one of sum a_k E g_k (eq. 12).

    The scales a come from pilot draws of their own, so the gradient is unbiased. So does b, beyond the paper:
    the constant that is left, whose gradient is 0 and whose noise is that of the score, as in BBVI. With a
    `variance` it also chooses the number of draws, at least the n asked for and at most `most`.
    """

    controls: tuple[ControlVariate, ...] = (taylor,)
    variance: float | None = None
    pilot: int = PILOT_DRAWS
    most: int = MOST_DRAWS_A_GRADIENT

    def __call__(
        self, target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator
    ) -> Estimate:
        gs = [control(target, family, params) for control in self.controls]
        first = draws_with_density(target, family, params, self.pilot, rng)
        pilot = pilot_of(*terms_of(gs, family, params, first))
        if self.variance is not None:
            n = max(n, min(self.most, ceil(pilot.noise / self.variance)))  # Algorithm 1, line 4
        draws = draws_with_density(target, family, params, n, rng)
        plain, controls = terms_of(gs, family, params, draws)
        gradient = (plain - np.tensordot(pilot.scales, controls, axes=1)).mean(axis=0)
        for a, g in zip(pilot.scales, gs, strict=False):
            gradient += a * g.expected_gradient(family, params)
        gradient += family.entropy_gradient(params)
        return Estimate(gradient, float(draws.log_density.mean()), first.dropped + draws.dropped)


def terms_of(
    gs: Sequence[Quadratic], family: Family, params: Floats, draws: FiniteDraws
) -> tuple[Floats, Floats]:
    """log p(u) s(u), (n, size), and g_k(u) s(u), then s(u), (k + 1, n, size), with s the score in params."""
    score = family.params_score(params, draws.u)
    controls = [*(g.values(draws.u) for g in gs), np.ones(len(draws.u))]
    return draws.log_density[:, None] * score, np.array(controls)[:, :, None] * score
