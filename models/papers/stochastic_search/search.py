"""Stochastic search for a Gaussian posterior of logistic regression, and the noise that it meets."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.estimators.stochastic_search import ControlVariate, Quadratic, StochasticSearch
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.steps.decaying import RobbinsMonro
from ppl.kernel.advi.steps.step_rule import Polynomial
from ppl.kernel.advi.target import Target

from frame.exact_logistic import ExactBound

Array = NDArray[np.float64]

VARIANCE = 0.1
"""Of an entry of the gradient, in units of the Gaussian that a search starts at: the paper's epsilon."""
RATE = 0.1
MOST_DRAWS = 2000
PILOT = 300


class Noise(NamedTuple):
    """Draws needed for VARIANCE, variance without control over variance with it, the scale a*."""

    draws: float
    reduction: float
    scale: float
    plain_draws: float


class Search(NamedTuple):
    """The bound that a search reached, its seconds, and the noise at some of its iterations."""

    bound: float
    seconds: float
    iterations: tuple[int, ...]
    noise: tuple[Noise, ...]
    seconds_a_draw: float

    @property
    def draws(self) -> float:
        """Needed in the mean."""
        return float(np.mean([n.draws for n in self.noise]))

    @property
    def plain_draws(self) -> float:
        """Needed in the mean without a control variate."""
        return float(np.mean([n.plain_draws for n in self.noise]))

    @property
    def without_control(self) -> float:
        """Seconds that the same steps would take at that variance without a control variate."""
        return self.plain_draws * self.seconds_a_draw * self.iterations[-1]


@dataclass(frozen=True, eq=False)
class InCoordinates:
    """A control variate for u, seen from v where u = centre + A v."""

    control: ControlVariate
    centre: Array
    factor: Array

    def __call__(self, target: Target, family: Family, params: Array) -> Quadratic:
        assert isinstance(target, Scaled)
        a = self.factor
        g = self.control(target.target, family, family.push_forward(params, self.centre, a))
        here = self.centre[None]
        value, gradient = float(g.values(here)[0]) + target.log_jacobian, g.gradients(here)[0]
        return Quadratic(0 * self.centre, value, a.T @ gradient, a.T @ g.hessian @ a)


def search(target: Scaled, control: ControlVariate, exact: ExactBound, steps: int) -> Search:
    """Algorithm 1 from the standard normal in these coordinates."""
    family = FullRank(target.dim)
    estimator = StochasticSearch((control,), variance=VARIANCE, most=MOST_DRAWS)
    rule, averaging, rng = RobbinsMonro(RATE), Polynomial(power=3.0), np.random.default_rng(1)
    params = average = family.start(np.zeros(target.dim))
    state = rule.init(params)
    checks = np.unique(np.geomspace(1, steps, 10).astype(int))
    noise, spent = [], 0.0
    for k in range(1, steps + 1):
        if k in checks:
            noise.append(measure(target, control, family, params, np.random.default_rng(k)))
        began = time.process_time()
        gradient = estimator(target, family, params, 2, rng).gradient
        params, state = rule.step(state, params, gradient)
        average = averaging.update(average, params, k)
        spent += time.process_time() - began
    whole = family.push_forward(average, target.centre, target.factor)
    bound = exact.value(family.mean(whole), family.factor(whole))
    return Search(bound, spent, tuple(map(int, checks)), tuple(noise), seconds_a_draw(target, family, params))


def measure(target: Target, control: ControlVariate, family: Family, params: Array, rng: Any) -> Noise:
    """Paisley's section 4.2 at one q: the best single scale, and what it leaves of the variance."""
    u = family.transform(params, family.noise(PILOT, rng))
    score = family.params_score(params, u)
    plain = target.log_densities(u)[:, None] * score
    steady = control(target, family, params).values(u)[:, None] * score
    plain, steady = plain - plain.mean(axis=0), steady - steady.mean(axis=0)
    scale = float((plain * steady).sum() / (steady**2).sum())
    entries = plain.size - plain.shape[1]
    left = float(((plain - scale * steady) ** 2).sum() / entries)
    whole = float((plain**2).sum() / entries)
    return Noise(left / VARIANCE, whole / left, scale, whole / VARIANCE)


def seconds_a_draw(target: Target, family: Family, params: Array) -> float:
    """What a draw costs: its log density and its score."""
    began = time.process_time()
    u = family.transform(params, family.noise(PILOT, np.random.default_rng(1)))
    target.log_densities(u) @ family.params_score(params, u)
    return (time.process_time() - began) / PILOT
