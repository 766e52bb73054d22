"""The outer coordinates: their marginal density by Laplace's approximation, its mode, a mixture over it."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ppl.inference.correct.population import StudentTs, fitted, is_good, moments
from ppl.inference.correct.tempering import effective_size
from ppl.inference.diagnose.mixture_sampling import Batch, missed
from ppl.inference.diagnose.psis import Psis, psis
from ppl.inference.nested.blocks import BLOCK_MODES, Blocks, Modes
from ppl.inference.nested.field import FieldModes, Fields
from ppl.inference.numerics.gaussian import Gaussian, made_positive
from ppl.inference.objective.target import Array
from ppl.late import special


@dataclass(frozen=True)
class OuterLimits:
    """How the marginal is searched."""

    most_steps: int = 40
    """Steps to its mode."""

    first_difference: float = 0.1
    """The first step of differences."""

    difference: float = 0.25
    """Later ones, in sds of the curvature."""

    longest: float = 3.0
    """The longest first step, in sds; a step that is taken whole lets the next be longer."""

    lengthening: float = 4.0
    """By how much."""

    near: float = 0.1
    """The mode is found where the next step is shorter, in sds."""

    shares: tuple[float, ...] = (1.0, 0.5, 0.2, 0.05)
    """Shares of a step that are tried."""

    draws: int = 512
    """Draws that a mixture is fitted to."""

    rounds: int = 4
    """Mixtures that are tried."""

    widening: float = 3.0
    """Distant draws come from Gaussians widened by powers of this."""

    widenings: int = 6
    """How many powers."""

    distant_draws: int = 64
    """Draws of each."""

    fewest_effective: float = 100.0
    """Effective draws that a mixture is fitted to."""

    flattening: float = 0.8
    """By how much log weights are shrunk until there are so many."""

    least_power: float = 0.02
    """How much they are shrunk at most."""

    width: float = 1.1
    """How much wider than a Gaussian one Student's t is."""

    degrees: float = 10.0
    """Its degrees of freedom."""


OUTER = OuterLimits()

Inner = Blocks | Fields
"""What is integrated out."""


@dataclass(frozen=True)
class Marginal:
    """The log density of the outer coordinates; modes of the rest are looked for from those at one point."""

    inner: Inner
    centre: Array
    latent: Array
    slope: Array | None = None
    """How the modes move with each outer coordinate, (d, ...)."""

    @property
    def dim(self) -> int:
        return len(self.centre)

    def modes(self, outer: Array, near: float = BLOCK_MODES.near) -> Modes | FieldModes:
        """At outer points (n, d)."""
        return self.inner.modes(outer, self.start(outer), near)

    def start(self, outer: Array) -> Array:
        """Where modes at outer points (n, d) are looked for, (n, ...)."""
        start = np.repeat(self.latent[None], len(outer), axis=0)
        if self.slope is not None:
            start += np.tensordot(outer - self.centre, self.slope, axes=1)
        return start

    def log_densities(self, outer: Array) -> Array:
        return self.modes(outer).log_marginals

    def log_density(self, outer: Array) -> float:
        return float(self.log_densities(outer[None])[0])


class Peak(NamedTuple):
    """The mode of a marginal, as its centre, and the Gaussian of the curvature there."""

    marginal: Marginal
    gaussian: Gaussian


def climb(marginal: Marginal) -> Peak | None:
    """To the mode, by Newton's method on differences of values; None where there is none."""
    scales, longest = np.full(marginal.dim, OUTER.first_difference), OUTER.longest
    for _ in range(OUTER.most_steps):
        seen = differences(marginal, scales)
        if seen is None:
            scales *= 0.3
            if scales.max() < 1e-4:
                return None
            continue
        here, value, gradient, curvature = seen
        units = 1 / np.sqrt(np.maximum(np.abs(np.diag(curvature)), 1e-6))
        precision, repaired = made_positive(-curvature * np.outer(units, units))
        gaussian = Gaussian.with_precision(marginal.centre, precision, units)
        half = gaussian.factor.T @ gradient
        length = float(np.sqrt(half @ half))
        sds = np.sqrt((gaussian.factor**2).sum(axis=1))
        if length < OUTER.near and not repaired:
            return Peak(here, gaussian)
        step = gaussian.factor @ half * min(1.0, longest / length)
        tried = marginal.centre + np.array(OUTER.shares)[:, None] * step
        found = here.modes(tried)
        best = int(np.argmax(found.log_marginals))
        if not found.log_marginals[best] > value:
            if length < 1:
                return Peak(here, gaussian) if not repaired else None
            scales *= 0.3
            continue
        marginal = replace(here, centre=tried[best], latent=found.at[best], slope=None)
        scales = np.minimum(OUTER.difference * sds, 1.0)
        longest = max(OUTER.longest, longest * (OUTER.lengthening if best == 0 else OUTER.shares[best]))
    return None


def differences(marginal: Marginal, h: Array) -> tuple[Marginal, float, Array, Array] | None:
    """The value at the centre, gradient (d,), Hessian (d, d), and how modes move, by differences."""
    d = marginal.dim
    unit = np.diag(h)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    both = np.array([unit[i] + unit[j] for i, j in pairs]).reshape(-1, d)
    steps = np.concatenate([np.zeros((1, d)), unit, -unit, both])
    found = marginal.modes(marginal.centre + steps)
    values = found.log_marginals
    if not np.isfinite(values).all():
        return None
    here, ahead, behind, cross = values[0], values[1 : d + 1], values[d + 1 : 2 * d + 1], values[2 * d + 1 :]
    gradient = (ahead - behind) / (2 * h)
    curvature = np.diag((ahead + behind - 2 * here) / h**2)
    for (i, j), value in zip(pairs, cross, strict=True):
        mixed = (value - ahead[i] - ahead[j] + here) / (h[i] * h[j])
        # f(i, j) - f(i) - f(j) + f is the mixed derivative but for third ones
        curvature[i, j] = curvature[j, i] = mixed
    moved = found.at[1 : d + 1] - found.at[d + 1 : 2 * d + 1]
    slope = moved / (2 * h).reshape(d, *(1,) * (moved.ndim - 1))
    seen = replace(marginal, latent=found.at[0], slope=slope)
    return seen, float(here), gradient, curvature


def mixture_over(peak: Peak, rng: np.random.Generator) -> StudentTs | None:
    """A mixture of Student's t whose draws have good weights under the marginal; None where none has."""
    mixture = one_over(peak.gaussian)
    for k in range(OUTER.rounds):
        u = mixture.draws(OUTER.draws, rng)
        weights = psis(peak.marginal.log_densities(u) - mixture.log_density(u))
        if is_good(weights):
            return mixture
        mixture = fitted_to(u, weights, rng, one=k == 0)
    return None


def misses(mixture: StudentTs, marginal: Marginal, rng: np.random.Generator) -> float:
    """The share of the marginal beyond a mixture, where draws of wider and wider Gaussians see it."""
    u = mixture.draws(OUTER.draws, rng)
    own = Batch(u, marginal.log_densities(u), mixture.log_density)
    centre = spread_of(u)
    powers = range(1, OUTER.widenings + 1)
    wide = [Gaussian(centre.mean, OUTER.widening**k * centre.factor) for k in powers]
    far = [each.draws(rng.standard_normal((OUTER.distant_draws, marginal.dim))) for each in wide]
    found = marginal.modes(np.concatenate(far), BLOCK_MODES.about)
    heights = np.split(found.log_marginals, len(far))
    distant = [Batch(u, log_p, each.log_densities) for u, log_p, each in zip(far, heights, wide, strict=True)]
    return missed(own, *distant)


def spread_of(u: Array) -> Gaussian:
    """The Gaussian with the moments of points u (n, d)."""
    return Gaussian.with_covariance(*moments(u, np.full(len(u), 1 / len(u))))


def one_over(gaussian: Gaussian) -> StudentTs:
    """One Student's t, a little wider than a Gaussian."""
    wide = Gaussian(gaussian.mean, OUTER.width * gaussian.factor)
    return StudentTs(np.ones(1), (wide,), OUTER.degrees)


def fitted_to(u: Array, weights: Psis, rng: np.random.Generator, one: bool) -> StudentTs:
    """One Student's t, or a mixture, of the weighted draws u (n, d).

    The weights are flattened where few draws have most.
    """
    log_weights, power = weights.log_weights, 1.0
    while effective_size(power * log_weights) < OUTER.fewest_effective and power > OUTER.least_power:
        power *= OUTER.flattening
    flat = power * log_weights
    flat -= special.logsumexp(flat)
    return one_over(Gaussian.with_covariance(*moments(u, np.exp(flat)))) if one else fitted(u, flat, rng)
