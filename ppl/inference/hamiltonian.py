"""Hamiltonian moves of many points at once, each of which leaves q^(1-beta) p^beta as it is.

Neal (2011), "MCMC using Hamiltonian dynamics", section 5.3.2.1; Buchholz, Chopin and Jacob (2021), Bayesian
Analysis 16, for its use within sequential Monte Carlo.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppl.inference.reference import Reference
from ppl.inference.target import Array, Target, log_density_gradients
from ppl.inference.triangular import diagonal_of, times, transposed_times

LEAPS = 6
# Each point draws a step size of its own, from exp(-1) to exp(0.3) of the common one: a funnel needs many.
SHORTEST, LONGEST = -1.0, 0.3


@dataclass(frozen=True)
class Cloud:
    """Points u (n, dim) with the log densities (n,) and gradients (n, dim) of p and of q there.

    Where p has no density its logarithm is -inf and its gradient is taken as zero.
    """

    u: Array
    log_p: Array
    slope_p: Array
    log_q: Array
    slope_q: Array

    def log_path(self, beta: float) -> Array:
        return np.where(self.log_p > -np.inf, (1 - beta) * self.log_q + beta * self.log_p, -np.inf)

    def slope(self, beta: float) -> Array:
        return (1 - beta) * self.slope_q + beta * self.slope_p

    def at(self, places: NDArray[np.intp]) -> "Cloud":
        """Those points."""
        return Cloud(*(part[places] for part in vars(self).values()))

    def rescaled(self, factor: Array, inverse: Array) -> "Cloud":
        """The same over x, where u = factor x and x = inverse u, for lower-triangular matrices (dim, dim)
        or their diagonals."""
        change = float(np.log(diagonal_of(factor)).sum())
        return Cloud(
            u=times(inverse, self.u),
            log_p=self.log_p + change,
            slope_p=transposed_times(factor, self.slope_p),
            log_q=self.log_q + change,
            slope_q=transposed_times(factor, self.slope_q),
        )

    def replaced(self, where: NDArray[np.bool_], by: "Cloud") -> "Cloud":
        """These points, but those of `by` where (n,) that is true."""
        pairs = zip(vars(self).values(), vars(by).values(), strict=True)
        return Cloud(*(np.where(where if own.ndim == 1 else where[:, None], new, own) for own, new in pairs))


def cloud_at(target: Target, reference: Reference | None, u: Array) -> Cloud:
    """Both densities at u (n, dim); q counts as flat where there is no reference, as where beta is 1."""
    log_p, slope = log_density_gradients(target, u)
    bad = ~(np.isfinite(log_p) & np.isfinite(slope).all(axis=1))
    log_p, slope = np.where(bad, -np.inf, log_p), np.where(bad[:, None], 0.0, slope)
    log_q, slope_q = (
        reference.log_density_gradients(u) if reference else (np.zeros(len(u)), np.zeros(u.shape))
    )
    return Cloud(u, log_p, slope, log_q, slope_q)


def move(
    cloud: Cloud, look: Callable[[Array], Cloud], beta: float, step: float, rng: np.random.Generator
) -> tuple[Cloud, float]:
    """Every point moved along `LEAPS` leapfrog steps, or left where that is refused; and the share accepted.

    The coordinates are taken to be uncorrelated, of sd 1 or about; `look` evaluates the densities.
    """
    n, dim = cloud.u.shape
    steps = step * np.exp(rng.uniform(SHORTEST, LONGEST, (n, 1)))
    begin = rng.standard_normal((n, dim))
    momentum, now = begin + 0.5 * steps * cloud.slope(beta), cloud
    for leap in range(LEAPS):
        now = look(now.u + steps * momentum)
        momentum = momentum + (1.0 if leap < LEAPS - 1 else 0.5) * steps * now.slope(beta)
    kinetic = 0.5 * ((begin**2).sum(axis=1) - (momentum**2).sum(axis=1))
    gain = now.log_path(beta) - cloud.log_path(beta) + kinetic
    chance = np.exp(np.minimum(0.0, np.where(np.isnan(gain), -np.inf, gain)))
    return cloud.replaced(rng.random(n) < chance, now), float(chance.mean())
