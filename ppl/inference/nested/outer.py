"""The outer coordinates: their marginal density by Laplace's approximation, its mode, a mixture over it."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ppl.inference.correct.population import StudentTs, fitted, is_reliable, moments, most_count
from ppl.inference.correct.tempering import effective_size
from ppl.inference.diagnose.mixture_sampling import Batch, log_weights
from ppl.inference.diagnose.psis import Psis, psis
from ppl.inference.nested.blocks import BLOCK_MODES, Blocks, Modes
from ppl.inference.nested.field import FieldModes, Fields
from ppl.inference.nested.skewed import SinhArcsinh, SkewedTs
from ppl.inference.numerics.gaussian import Gaussian, made_positive
from ppl.inference.numerics.parts import row_parts
from ppl.inference.objective.target import Array, gradients
from ppl.late import special


@dataclass(frozen=True)
class OuterLimits:
    """How the marginal is searched."""

    most_steps: int = 40
    """Steps to its mode."""

    fewer_steps: int = 20
    """The same of more than `most_whole` coordinates."""

    first_difference: float = 0.1
    """The first step of differences."""

    most_whole: int = 10
    """Outer coordinates up to which the Hessian of the log determinant is found anew at every step."""

    difference: float = 0.25
    """Later ones, in sds of the curvature."""

    longest: float = 3.0
    """The longest first step, in sds; a step that is taken whole lets the next be longer."""

    farthest: float = 5.0
    """How far a step may move a coordinate: where a scale is near 0 its density is flat."""

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

    scales: int = 6
    """How many powers."""

    distant_draws: int = 64
    """Draws of each."""

    negligible: float = 20.0
    """A distant draw whose log weight is so much below the largest of near ones counts for nothing."""

    fewest_effective: float = 100.0
    """Effective draws that a mixture is fitted to."""

    flattening: float = 0.8
    """By how much log weights are shrunk until there are so many."""

    least_power: float = 0.02
    """How much they are shrunk at most."""

    degrees: int = 10
    """The degrees of freedom of one Student's t, or one for each coordinate if these are more.

    By the inverse of these it is wider than a Gaussian.
    """

    defensive_width: float = 4.0
    """How many times as wide a second one is, for the tails."""

    defensive_share: float = 0.2
    """Its share of the draws."""

    most_mixed: int = 10
    """Outer coordinates up to which mixtures of several are fitted."""

    fewest_skewed: int = 5
    """Outer coordinates from which one is of skewed coordinates; of fewer, several tell what is skewed."""

    draws_each: int = 40
    """Draws for each outer coordinate that one is fitted to, if these are more than `draws`."""


OUTER = OuterLimits()

Inner = Blocks | Fields
"""What is integrated out."""

Mixture = StudentTs | SkewedTs
"""What outer coordinates are drawn by."""


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

    def modes(
        self, outer: Array, near: float = BLOCK_MODES.near, least: Array | None = None
    ) -> Modes | FieldModes:
        """At outer points (n, d); those are given up that seem to have a log density below `least` (n,)."""
        return self.inner.modes(outer, self.start(outer), near, least)

    def gradients(self, outer: Array, latent: Array) -> Array:
        """Gradients (n, d) of the joint density by the outer coordinates at points, (n, d) and (n, ...)."""
        found = gradients(self.inner.target, self.inner.points(outer, latent))
        return np.asarray(found[:, self.inner.structure.outer])

    def start(self, outer: Array) -> Array:
        """Where modes at outer points (n, d) are looked for, (n, ...)."""
        here = np.repeat(self.latent[None], len(outer), axis=0)
        if self.slope is None:
            return here
        predicted = here + np.tensordot(outer - self.centre, self.slope, axes=1)
        # far away the prediction may mislead
        higher = self.inner.values(outer, predicted) > self.inner.values(outer, here)
        return np.where(higher.reshape(-1, *(1,) * (here.ndim - 1)), predicted, here)

    def log_density(self, outer: Array) -> float:
        return float(self.modes(outer[None]).log_marginals[0])

    def log_densities(self, outer: Array, least: Array | None = None) -> Array:
        """By Laplace's approximation about modes at outer points (n, d), some at a time, (n,)."""

        def of(k: slice) -> Array:
            lowest = None if least is None else least[k]
            return self.modes(outer[k], BLOCK_MODES.about, lowest).log_marginals

        return np.concatenate([of(k) for k in row_parts(len(outer), self.latent.size)])


class Peak(NamedTuple):
    """The mode of a marginal, as its centre, and the Gaussian of the curvature there."""

    marginal: Marginal
    gaussian: Gaussian


def climb(marginal: Marginal) -> Peak | None:
    """To the mode, by Newton's method; None where there is none.

    Steps are measured in directions (d, d), first those of the coordinates, then ones in which the curvature
    is about the same in all.
    """
    d, bending = marginal.dim, np.zeros((marginal.dim,) * 2)
    marginal = replace(marginal, latent=marginal.modes(marginal.centre[None]).at[0])
    directions, longest, whole, far = OUTER.first_difference * np.eye(d), OUTER.longest, False, True
    for _ in range(OUTER.most_steps if d <= OUTER.most_whole else OUTER.fewer_steps):
        whole = whole or d <= OUTER.most_whole
        seen = differences(marginal, directions, None if whole else bending)
        if seen is None:
            directions = 0.3 * directions
            if np.abs(directions).max() < 1e-4:
                return None
            continue
        marginal = seen.marginal
        units = 1 / np.sqrt(np.maximum(np.abs(np.diag(seen.curvature)), 1e-6))
        precision, repaired = made_positive(-seen.curvature * np.outer(units, units))
        factor = Gaussian.with_precision(np.zeros(d), precision, units).factor
        half, wide = factor.T @ seen.slope, directions.T @ factor
        length = float(np.sqrt(half @ half))
        ends = whole and not repaired
        peak = Peak(marginal, Gaussian.with_covariance(marginal.centre, wide @ wide.T))
        if length < OUTER.near and ends:
            return peak
        step = wide @ half * min(1.0, longest / length)
        step *= min(1.0, OUTER.farthest / np.abs(step).max())
        tried = marginal.centre + np.array(OUTER.shares)[:, None] * step
        found = marginal.modes(tried)
        best = int(np.argmax(found.log_marginals))
        if not found.log_marginals[best] > seen.value:
            if length < 1 and whole:
                return None if repaired else peak
            directions, whole = 0.3 * directions, True
            continue
        was_far, far = far, length > OUTER.longest
        bending = np.zeros_like(bending) if far else seen.bending
        whole = not far and (was_far or best > 0 or length < OUTER.near)
        marginal = replace(marginal, centre=tried[best], latent=found.at[best], slope=None)
        directions = (
            wide * OUTER.difference / np.maximum(1.0, OUTER.difference * np.abs(wide).max(axis=0))
        ).T
        longest = max(OUTER.longest, longest * (OUTER.lengthening if best == 0 else OUTER.shares[best]))
    return None


class Seen(NamedTuple):
    """A marginal about its centre: its value, slopes (d,) and curvature (d, d) along directions (d, d).

    `bending` (d, d) is the Hessian of the log determinant by the coordinates.
    """

    marginal: Marginal
    value: float
    slope: Array
    curvature: Array
    bending: Array


def differences(marginal: Marginal, directions: Array, bending: Array | None) -> Seen | None:
    """What is seen at the centre and to both sides along directions (d, d); None where it is not finite.

    At modes the gradient of the joint density by the outer coordinates is that of its height there, as the
    latent ones have none (the envelope theorem); of the log determinant there are differences of values.
    These are taken along two directions at once, unless the Hessian of elsewhere will do.
    """
    d = marginal.dim
    pairs = np.array(np.tril_indices(d, -1)) if bending is None else np.zeros((2, 0), dtype=np.intp)
    both = directions[pairs[0]] + directions[pairs[1]]
    points = marginal.centre + np.concatenate([np.zeros((1, d)), directions, -directions, both])
    found = marginal.modes(points)
    single, ahead, behind = slice(0, 2 * d + 1), slice(1, d + 1), slice(d + 1, 2 * d + 1)
    gradients = marginal.gradients(points[single], found.at[single]) @ directions.T
    if not (np.isfinite(found.log_marginals).all() and np.isfinite(gradients).all()):
        return None
    log_dets = found.half_log_dets
    slope = gradients[0] - (log_dets[ahead] - log_dets[behind]) / 2
    profile = (gradients[ahead] - gradients[behind]) / 2
    bends = np.zeros((d, d)) if bending is None else directions @ bending @ directions.T
    # f(i, j) - f(i) - f(j) + f is the mixed derivative but for third ones
    mixed = log_dets[2 * d + 1 :] - log_dets[ahead][pairs[0]] - log_dets[ahead][pairs[1]] + log_dets[0]
    bends[pairs[0], pairs[1]] = bends[pairs[1], pairs[0]] = mixed
    np.fill_diagonal(bends, log_dets[ahead] + log_dets[behind] - 2 * log_dets[0])
    inverse = np.linalg.inv(directions)
    new_slope = np.tensordot(inverse, found.at[ahead] - found.at[behind], axes=1) / 2
    seen = replace(marginal, latent=found.at[0], slope=new_slope)
    curvature = (profile + profile.T) / 2 - bends
    return Seen(seen, float(found.log_marginals[0]), slope, curvature, inverse @ bends @ inverse.T)


def mixture_over(peak: Peak, rng: np.random.Generator) -> Mixture | None:
    """A mixture of Student's t whose draws have good weights under the marginal; None where none has."""
    mixture: Mixture = one_over(peak.gaussian)
    for k in range(OUTER.rounds):
        u = mixture.draws(max(OUTER.draws, OUTER.draws_each * mixture.dim), rng)
        log_p = peak.marginal.log_densities(u)
        weights = psis(log_p - mixture.log_density(u))
        if is_reliable(weights) and most_count(weights):
            return mixture
        mixture = fitted_to(u, weights, rng, one=k == 0)
    return None


def overdispersed_batches(near: Batch, marginal: Marginal, rng: np.random.Generator) -> list[Batch]:
    """Draws of wider and wider Gaussians about those of a mixture.

    The log marginal there is Laplace's, and -inf where by that a draw would count for nothing.
    """
    centre = spread_of(near.u)
    wide = [Gaussian(centre.mean, OUTER.widening**k * centre.factor) for k in range(1, OUTER.scales + 1)]
    far = [each.draws(rng.standard_normal((OUTER.distant_draws, marginal.dim))) for each in wide]
    level = [Batch(u, np.zeros(len(u)), each.log_densities) for u, each in zip(far, wide, strict=True)]
    weights, *distant = log_weights([near, *level])
    least = weights.max() - OUTER.negligible - np.concatenate(distant)
    heights = marginal.log_densities(np.concatenate(far), least)
    heights = np.where(heights > least, heights, -np.inf)
    parts = np.split(heights, len(far))
    return [replace(each, log_p=log_p) for each, log_p in zip(level, parts, strict=True)]


def spread_of(u: Array) -> Gaussian:
    """The Gaussian with the moments of points u (n, d)."""
    return Gaussian.with_covariance(*moments(u, np.full(len(u), 1 / len(u))))


def one_over(gaussian: Gaussian) -> StudentTs:
    """Student's t, a little wider than a Gaussian, and one much wider, for the tails (Hesterberg 1995)."""
    degrees = max(OUTER.degrees, len(gaussian.mean))
    wide = Gaussian(gaussian.mean, (1 + 1 / degrees) * gaussian.factor)
    wider = Gaussian(gaussian.mean, OUTER.defensive_width * gaussian.factor)
    share = OUTER.defensive_share
    return StudentTs(np.array([1 - share, share]), (wide, wider), degrees)


def fitted_to(u: Array, weights: Psis, rng: np.random.Generator, one: bool) -> Mixture:
    """One Student's t, or a mixture, of the weighted draws u (n, d).

    The weights are flattened where few draws have most.
    """
    log_weights, power = weights.log_weights, 1.0
    while effective_size(power * log_weights) < OUTER.fewest_effective and power > OUTER.least_power:
        power *= OUTER.flattening
    flat = power * log_weights
    flat -= special.logsumexp(flat)
    if one or u.shape[1] > OUTER.most_mixed:
        one_or_two = one_and_skewed if u.shape[1] >= OUTER.fewest_skewed else one_of
        return one_or_two(u, np.exp(flat))
    return fitted(u, flat, rng)


def one_of(u: Array, weights: Array) -> StudentTs:
    """One Student's t over weighted draws u (n, d)."""
    return one_over(Gaussian.with_covariance(*moments(u, weights)))


def one_and_skewed(u: Array, weights: Array) -> SkewedTs:
    """The same, and one of skewed coordinates, in equal shares."""
    by = SinhArcsinh.of_draws(u, weights)
    return SkewedTs(one_of(u, weights), one_of(by.symmetric(u), weights), by)
