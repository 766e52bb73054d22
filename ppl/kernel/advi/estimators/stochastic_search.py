"""Stochastic search with control variates (Paisley, Blei and Jordan 2012, Algorithm 1)."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.kernel.advi.estimators.control_variates import ControlVariate, Quadratic, taylor
from ppl.kernel.advi.estimators.estimate import Estimate
from ppl.kernel.advi.estimators.score_function import PILOT_DRAWS
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.finite_draws import Draws, draws_with_density
from ppl.kernel.advi.target import Array, Target
from ppl.records import dataclass

MOST_DRAWS_A_GRADIENT = 10_000
"""Draws that one gradient may take to have the variance asked for."""


class Pilot(NamedTuple):
    """What pilot draws say: the scale of each control, and the noise of one draw with them.

    The noise is the variance of one draw's gradient, averaged over params.
    """

    scales: Array
    noise: float


def pilot_of(plain: Array, controls: Array) -> Pilot:
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
        self, target: Target, family: Family, params: Array, n: int, rng: np.random.Generator
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


def terms_of(gs: Sequence[Quadratic], family: Family, params: Array, draws: Draws) -> tuple[Array, Array]:
    """log p(u) s(u), (n, size), and g_k(u) s(u), then s(u), (k + 1, n, size), with s the score in params."""
    score = family.params_score(params, draws.u)
    controls = [*(g.values(draws.u) for g in gs), np.ones(len(draws.u))]
    return draws.log_density[:, None] * score, np.array(controls)[:, :, None] * score
