"""The marginal density of the outer coordinates by Laplace's approximation, and its mode."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian, made_positive
from ppl.kernel.advi.parts import row_parts
from ppl.methods.maximise.lockstep import answered_together
from ppl.methods.nested.field import Fields
from ppl.methods.nested.modes import MODES, Modes
from ppl.methods.nested.slopes import profile, profile_slopes, slopes
from ppl.records import dataclass, replace


class ClimbLimits(NamedTuple):
    """How the mode is searched."""

    most_steps: int = 60
    """Steps by the curvature of the profile. Where there is a mode it takes 40 at most."""

    flat: float = 0.01
    """The least curvature of steps: with less, priors are flat."""

    end: float = 0.3
    """The length of a step, in sds, below which they end; Newton's method does the rest."""

    shortest: float = 1e-3
    """They end too where one that leads up would be shorter."""

    most_newton: int = 8
    """Steps of Newton's method. Where there is a mode it takes 3."""

    first_difference: float = 0.1
    """The first step of differences."""

    difference: float = 0.25
    """Later ones, in sds of the curvature."""

    longest: float = 3.0
    """The longest step of it, in sds."""

    farthest: float = 5.0
    """How far the first step by the profile may move a coordinate: where a scale is near 0 its density is
    flat.
    """

    lengthening: float = 4.0
    """By how much the next one may be longer where it was as long as it might be."""

    near: float = 0.1
    """The mode is found where the next step is shorter, in sds."""

    mode: float = 0.1
    """How near those of the rest are on the way to it."""

    shortening: float = 0.25
    """The share of a step that is tried where it does not lead up."""

    same_peak: float = 1.0
    """Two modes nearer than this are one, in sds."""


CLIMB = ClimbLimits()


@dataclass(frozen=True)
class Marginal:
    """The log density of the outer coordinates; modes of the rest are looked for from those at one point."""

    inner: Fields
    centre: Floats
    latent: Floats
    slope: Floats | None = None
    """How the modes move with each outer coordinate, (d, k)."""

    @property
    def dim(self) -> int:
        return len(self.centre)

    @property
    def most_newton(self) -> int:
        """Steps of Newton's method that lead to the mode, if there is one, from where ascents end."""
        return CLIMB.most_newton

    def modes(self, outer: Floats, near: float = MODES.near, least: Floats | float = -np.inf) -> Modes:
        """At outer points (n, d); those are given up that seem to have a log density below `least` (n,)."""
        return self.inner.modes(outer, self.start(outer), near, least)

    def start(self, outer: Floats) -> Floats:
        """Where modes at outer points (n, d) are looked for, (n, k)."""
        return higher_of(self.inner, outer, *self.starts(outer))

    def starts(self, outer: Floats) -> Floats:
        """The modes at the centre, and what these are by their slope at outer points (n, d), (2, n, k)."""
        here = np.repeat(self.latent[None], len(outer), axis=0)
        moved = 0.0 if self.slope is None else np.tensordot(outer - self.centre, self.slope, axes=1)
        return np.stack([here, here + moved])

    def log_density(self, outer: Floats) -> float:
        return float(self.modes(outer[None]).log_marginals[0])

    def log_densities(self, outer: Floats, least: Floats | float = -np.inf) -> Floats:
        """By Laplace's approximation about modes at outer points (n, d), some at a time, (n,)."""
        parts, least = row_parts(len(outer), self.latent.size), np.broadcast_to(least, len(outer))
        return np.concatenate([self.modes(outer[k], MODES.about, least[k]).log_marginals for k in parts])

    def differences(self, directions: Floats) -> "Seen | None":
        """Values at the centre and to both sides along directions (d, d); None where one is not finite."""
        d, inner = self.dim, self.inner
        first, second = np.triu_indices(d, 1) if inner.is_costly else np.zeros((2, 0), dtype=np.intp)
        between = directions[first] + directions[second]
        points = self.centre + np.concatenate([np.zeros((1, d)), directions, -directions, between])
        if inner.is_costly:
            modes = self.modes(points)
            gradients = profile_slopes(inner, points, modes, directions)
        else:
            modes, bands = inner.modes_of_part(points, self.start(points), MODES.near)
            gradients = slopes(inner, points, modes.at, inner.factored(bands)) @ directions.T
        if not (np.isfinite(modes.log_marginals).all() and np.isfinite(gradients).all()):
            return None
        ahead, behind = slice(1, d + 1), slice(d + 1, 2 * d + 1)
        curvature = (gradients[ahead] - gradients[behind]) / 2
        inverse = np.linalg.inv(directions)
        new_slope = np.tensordot(inverse, modes.at[ahead] - modes.at[behind], axes=1) / 2
        seen = replace(self, latent=modes.at[0], slope=new_slope)
        return Seen(seen, float(modes.log_marginals[0]), gradients[0], (curvature + curvature.T) / 2)


def higher_of(inner: Fields, outer: Floats, here: Floats, predicted: Floats) -> Floats:
    """The values (n, k) of the field from which modes are looked for: far away a prediction may mislead."""
    if inner.structure.is_normal or (here == predicted).all():
        return here
    one, other = inner.values(np.tile(outer, (2, 1)), np.concatenate([here, predicted])).reshape(2, -1)
    return np.where((other > one)[:, None], predicted, here)


class Peak(NamedTuple):
    """The mode of a marginal, as its centre, and the Gaussian of the curvature there."""

    marginal: Marginal
    gaussian: Gaussian

    def is_near(self, outer: Floats) -> bool:
        """Whether a point (d,) is so near that a climb from there ends here."""
        off = self.gaussian.whitening @ (outer - self.marginal.centre)
        return float(np.sqrt(off @ off)) <= CLIMB.same_peak


def climbs(starts: Sequence[Marginal]) -> Iterator[Marginal | None]:
    """Most of the way to a mode from each start: together, or as they are asked for where they are dear."""
    together = [[start] for start in starts] if starts[0].inner.is_costly else [starts]
    return chain.from_iterable(map(ascended, together))


def ascended(starts: Sequence[Marginal]) -> list[Marginal | None]:
    """From each start, one at least, most of the way, in lockstep; modes of the rest are looked for from the
    last ones. None where it does not end, as in a funnel.
    """
    inner, here, highest = starts[0].inner, list(starts), np.full(len(starts), -np.inf)

    def seen(asked: Mapping[int, Floats]) -> list[Ascent]:
        numbers, outer = np.array(list(asked)), np.array(list(asked.values()))
        starts_ = np.concatenate([here[k].starts(point[None]) for k, point in asked.items()], axis=1)
        begin = higher_of(inner, outer, *starts_)
        modes, bands = inner.modes_of_part(outer, begin, CLIMB.mode)
        values = modes.log_marginals
        slopes_, curvatures = np.zeros(outer.shape), np.zeros((*outer.shape, outer.shape[1]))
        if (rises := values > highest[numbers]).any():
            at = outer[rises], modes.at[rises]
            factors = inner.factored(bands[rises])
            slopes_[rises] = slopes(inner, *at, factors)
            curvatures[rises], moves = profile(inner, *at, factors)
            highest[numbers[rises]] = values[rises]
            for k, *place in zip(numbers[rises].tolist(), *at, moves, strict=True):
                here[k] = Marginal(inner, *place)
        return list(map(Ascent, values.tolist(), slopes_, curvatures))

    ends = dict(answered_together(seen, [to_the_top(start.centre) for start in starts]))
    return [start if ends[k] and highest[k] > -np.inf else None for k, start in enumerate(here)]


class Ascent(NamedTuple):
    """At an outer point: the log marginal, its gradient (d,) and minus the Hessian (d, d) of the profile."""

    value: float
    slope: Floats
    curvature: Floats


def to_the_top(outer: Floats) -> Generator[Floats, Ascent, bool]:
    """Asks for points (d,) on the way up by Newton's steps, which are as long as a radius at most, that grows
    with those that lead up; whether it comes to an end.
    """
    here, radius = (yield outer), CLIMB.farthest
    for _ in range(CLIMB.most_steps):
        if not (np.isfinite(here.slope).all() and np.isfinite(here.curvature).all()):
            return True
        values, vectors = np.linalg.eigh(here.curvature)
        step = vectors @ (vectors.T @ here.slope / np.maximum(np.abs(values), CLIMB.flat))
        length = float(np.abs(step).max())
        if here.slope @ step < CLIMB.end**2 or radius < CLIMB.shortest:
            return True
        tried = outer + step * min(1.0, radius / length)
        there = yield tried
        if there.value > here.value:
            outer, here = tried, there
            radius *= CLIMB.lengthening if radius < length else 1.0
        else:
            radius = CLIMB.shortening * min(radius, length)
    return False


def newton(marginal: Marginal, known: Peak | None = None) -> Peak | None:
    """To the mode by Newton's method, or the `known` one once that is near; None where there is none.

    Steps are measured in directions (d, d), first those of the coordinates, then ones in which the curvature
    is about the same in all. One that does not lead up is shortened.
    """
    d, highest = marginal.dim, -np.inf
    directions, step = CLIMB.first_difference * np.eye(d), np.zeros(d)
    for _ in range(marginal.most_newton):
        there = marginal.centre + step
        if known and known.is_near(there):
            return known
        begun = replace(marginal, centre=there, latent=marginal.start(there[None])[0])
        seen = begun.differences(directions)
        if seen is None or seen.value < highest:
            directions, step = CLIMB.shortening * directions, CLIMB.shortening * step
            continue
        marginal, highest = seen.marginal, seen.value
        units = 1 / np.sqrt(np.maximum(np.abs(np.diag(seen.curvature)), 1e-6))
        precision, repaired = made_positive(-seen.curvature * np.outer(units, units))
        factor = Gaussian.with_precision(np.zeros(d), precision, units).factor
        half, wide = factor.T @ seen.slope, directions.T @ factor
        length = float(np.sqrt(half @ half))
        if length < CLIMB.near and not repaired:
            return Peak(marginal, Gaussian.with_covariance(marginal.centre, wide @ wide.T))
        step = wide @ half * min(1.0, CLIMB.longest / length)
        steps = np.maximum(1.0, CLIMB.difference * np.abs(wide).max(axis=0))
        directions = (wide * CLIMB.difference / steps).T
    return None


class Seen(NamedTuple):
    """A marginal about its centre: its value, slopes (d,) and curvature (d, d) along directions (d, d)."""

    marginal: Marginal
    value: float
    slope: Floats
    curvature: Floats
