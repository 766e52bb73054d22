"""Latent variables that are alone given the outer coordinates, integrated out one by one.

Where no two meet, the slope of each depends on itself and the outer coordinates, so that one gradient gives
those of all at one place each. Between some tens of such places a slope is a cubic spline, its integral a
log density, and the sum of the log integrals of all is the marginal of the outer coordinates. Laplace's
approximation needs each to be nearly normal: an animal that was never seen may not be there, or may be hard
to catch. Draws are by the inverse distribution functions.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.parts import row_parts
from ppl.kernel.advi.target import finite
from ppl.methods.nested.field import Fields
from ppl.methods.nested.field_draws import CENTRES_A_COORDINATE, FARTHEST_BETWEEN, FEWEST_CENTRES, MEASURED
from ppl.methods.nested.given import GivenDraws
from ppl.methods.nested.interpolation import Interpolation
from ppl.methods.nested.marginal import Marginal, Peak, Seen
from ppl.methods.nested.outer import one_over
from ppl.methods.nested.sparse import Field
from ppl.records import dataclass, field, replace


class QuadratureLimits(NamedTuple):
    """How far and how finely each coordinate is looked at."""

    nodes: tuple[int, ...] = (11, 17, 25, 33, 49)
    """Places of slopes: as many as the first of these with which weights of draws are even."""

    nodes_of_marginal: int = 17
    """The same while the mode of the marginal is looked for: draws forgive errors that this does not."""

    cells: int = 3
    """Cells between two of these, in which densities are linear, at least."""

    cells_in_all: int = 55
    """In an interval, about."""

    even: float = 0.1
    """The variance of log weights at an outer point up to which they are."""

    lower: float = 14.0
    """How many nats below its top a density should be at the ends of an interval."""

    lower_at_least: float = 8.0
    """The same at least: farther out there is next to nothing."""

    lower_at_most: float = 32.0
    """The same at most: little of a wider interval has mass."""

    passes: int = 12
    """Intervals that are tried one after the other."""

    shortest: float = 0.1
    """By how many half widths an interval grows at an end that is too near, at least."""

    longest: float = 3.0
    """The same at most."""

    hopeless: float = 100.0
    """How many nats below the least that counts a point seems to be for which no better ones are tried."""

    beyond: float = 5.0
    """How many times as wide the intervals are in which mass beyond these is looked for."""

    difference: float = 2.0
    """How many times as far differences are taken as of Laplace's approximation, which is less noisy."""

    laplace_off: float = 5.0
    """How many nats Laplace's approximation may be off at the mode: of a thousand items' abilities 2, of the
    mixtures of animals that are there and are not 23."""

    most_outer: int = 7
    """Outer coordinates: of more, Newton's method takes too many values, and Student's t fits less well."""

    most_newton: int = 40
    """Steps of Newton's method from a start."""


QUADRATURE = QuadratureLimits()


def integrals(nodes: int) -> Floats:
    """The matrix (nodes, places) from values at equally spaced nodes of [-1, 1] to the integral from 0 to
    each place of the natural cubic spline through them.
    """
    h, inner = 2 / (nodes - 1), np.eye(nodes)[1:-1]
    second = np.diff(np.eye(nodes), 2, axis=0) * 6 / h**2
    system = 4 * inner + np.eye(nodes)[:-2] + np.eye(nodes)[2:]
    bends = np.zeros((nodes, nodes))  # second derivatives at the nodes, 0 at both ends
    bends[1:-1] = np.linalg.solve(system[:, 1:-1], second)
    count = cells_between(nodes)
    t = np.arange(count + 1)[:, None, None] / count
    begin, end = np.eye(nodes)[:-1], np.eye(nodes)[1:]
    line = begin * (t - t**2 / 2) + end * t**2 / 2
    bend = bends[:-1] * ((1 - (1 - t) ** 4) / 4 - t + t**2 / 2) + bends[1:] * (t**4 / 4 - t**2 / 2)
    within = h * line + h**3 / 6 * bend  # (cells + 1, nodes - 1, nodes), from the node before
    whole = np.cumsum(within[-1], axis=0)
    places = np.concatenate(
        [np.zeros((1, nodes)), (within[1:] + whole - within[-1]).swapaxes(0, 1).reshape(-1, nodes)]
    )
    return np.asarray((places - places[len(places) // 2]).T)


def cells_between(nodes: int) -> int:
    """Cells between two of so many nodes."""
    return max(QUADRATURE.cells, QUADRATURE.cells_in_all // nodes)


class Intervals(NamedTuple):
    """Of each coordinate at n outer points: centres and half widths (n, k)."""

    centre: Floats
    half_width: Floats


class Conditionals(NamedTuple):
    """Densities on intervals: log p at equally spaced places less that at the centre (n, k, places), slopes
    at both ends (n, 2, k), and log marginals of the outer points (n,) by what lies in these intervals.
    """

    intervals: Intervals
    log_p: Floats
    ends: Floats
    log_marginals: Floats

    def at(self, rows: NDArray[np.bool_]) -> "Conditionals":
        intervals, *others = self
        return Conditionals(Intervals(*(each[rows] for each in intervals)), *(each[rows] for each in others))

    def put(self, rows: NDArray[np.bool_], some: "Conditionals") -> None:
        """Those of the points marked by `rows` (n,), in place."""
        for every, each in zip((*self.intervals, *self[1:]), (*some.intervals, *some[1:]), strict=True):
            every[rows] = each

    @property
    def lower(self) -> Floats:
        """How many nats below its top a density is at both ends, (2, n, k)."""
        return self.log_p.max(axis=2) - np.moveaxis(self.log_p[:, :, [0, -1]], 2, 0)

    @property
    def done(self) -> NDArray[np.bool_]:
        """The intervals that are neither too short nor too long, (n, k)."""
        lower = self.lower
        good = (lower >= QUADRATURE.lower_at_least) & (lower <= QUADRATURE.lower_at_most)
        return np.asarray(good.all(axis=0))

    @property
    def better(self) -> Intervals:
        """Intervals as they should be, as far as these tell; the same where they are done."""
        (centre, half), places = self.intervals, self.log_p.shape[2]
        high = self.log_p > self.log_p.max(axis=2, keepdims=True) - QUADRATURE.lower
        skipped = np.stack([high.argmax(axis=2), high[:, :, ::-1].argmax(axis=2)]) - 1
        shorter = np.maximum(skipped, 0) * (2 * half / (places - 1))
        down = np.stack([self.ends[:, 0], -self.ends[:, 1]])
        lacking = np.maximum(QUADRATURE.lower - self.lower, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # where it is level it may go as far as may be
            steps = lacking / np.maximum(down, 0.0)
        steps = np.clip(steps, QUADRATURE.shortest * half, QUADRATURE.longest * half)
        inward = shorter - np.where(lacking > 0, steps, 0.0)
        new = centre + (inward[0] - inward[1]) / 2, half - (inward[0] + inward[1]) / 2
        old = self.done
        return Intervals(*(np.where(old, *each) for each in zip(self.intervals, new, strict=True)))

    def draws(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """A draw (n, k) of each, and the log density of all (n,): densities are linear in a cell."""
        p, below = cells(self.log_p)
        below = below.cumsum(axis=2)
        total = below[:, :, -1]
        left = rng.uniform(size=total.shape) * total
        cell = (below < left[:, :, None]).sum(axis=2).clip(max=below.shape[2] - 1)[:, :, None]

        def at(each: Floats, place: NDArray[np.intp]) -> Floats:
            return np.take_along_axis(each, place, axis=2)[:, :, 0]

        left -= np.where(cell[:, :, 0] > 0, at(below, np.maximum(cell - 1, 0)), 0.0)
        first, rise = at(p, cell), at(p, cell + 1) - at(p, cell)
        share = 2 * left / (first + np.sqrt(np.maximum(first**2 + 2 * rise * left, 0.0)))
        centre, half = self.intervals
        width = 2 * half / below.shape[2]
        log_q = np.log((first + rise * share) / (total * width)).sum(axis=1)
        return centre - half + (cell[:, :, 0] + share) * width, log_q


def cells(log_p: Floats) -> tuple[Floats, Floats]:
    """Densities at places (n, k, places) beside the largest, and their means in cells between two."""
    p = np.exp(log_p - log_p.max(axis=2, keepdims=True))
    return p, (p[:, :, 1:] + p[:, :, :-1]) / 2


@dataclass(frozen=True)
class OneByOne(Fields):
    """A field of which no two coordinates meet, each of which is looked at in so many places."""

    nodes: int = QUADRATURE.nodes_of_marginal

    @cached_property
    def matrix(self) -> Floats:
        return integrals(self.nodes)

    @property
    def numbers(self) -> int:
        return cells_between(self.nodes) * self.nodes * self.structure.dim

    def conditionals(self, outer: Floats, intervals: Intervals) -> Conditionals:
        """The densities of all coordinates at outer points (n, d)."""
        (centre, half), (n, k) = intervals, intervals.centre.shape
        nodes = np.linspace(-1, 1, self.nodes)[:, None]
        at = (centre[:, None] + half[:, None] * nodes).reshape(-1, k)
        slopes = self.gradients(np.repeat(outer, self.nodes, axis=0), at).reshape(n, self.nodes, k)
        log_p = (slopes * half[:, None]).swapaxes(1, 2) @ self.matrix
        _, means = cells(log_p)
        log_integrals = np.log(means.sum(axis=2) * 2 * half / means.shape[2]) + log_p.max(axis=2)
        log_marginals = finite(self.values(outer, centre) + log_integrals.sum(axis=1))
        return Conditionals(intervals, log_p, slopes[:, [0, -1]], log_marginals)

    def settled(self, outer: Floats, intervals: Intervals, least: Floats | float = -np.inf) -> Conditionals:
        """The densities on intervals as they should be, tried from these on.

        Log marginals are -inf where they are not; points are given up that seem far below `least` (n,).
        """
        seen, going = self.conditionals(outer, intervals), np.ones(len(outer), dtype=bool)
        for _ in range(QUADRATURE.passes):
            going &= ~seen.done.all(axis=1) & (seen.log_marginals > least - QUADRATURE.hopeless)
            if not going.any():
                break
            seen.put(going, self.conditionals(outer[going], seen.at(going).better))
        return seen._replace(log_marginals=np.where(seen.done.all(axis=1), seen.log_marginals, -np.inf))


@dataclass(frozen=True)
class QuadratureMarginal(Marginal):
    """The log density of the outer coordinates by quadrature.

    Intervals have centres `latent` (k,) and half widths (k,) at the centre, and are interpolated `between` m
    outer points, where they are `about` (m, 2 k), widths in logarithms.
    """

    inner: OneByOne
    half_width: Floats = field(default_factory=lambda: np.ones(0))
    between: Interpolation | None = None
    about: Floats = field(default_factory=lambda: np.ones((0, 0)))

    @property
    def most_newton(self) -> int:
        return QUADRATURE.most_newton

    def intervals(self, outer: Floats) -> Intervals:
        """Where coordinates at outer points (n, d) are looked at first."""
        if self.between is None:
            return Intervals(
                *(np.repeat(x[None], len(outer), axis=0) for x in (self.latent, self.half_width))
            )
        centre, log_half = np.split(self.between.weights(outer) @ self.about, 2, axis=1)
        return Intervals(centre, np.exp(log_half))

    def conditionals(self, outer: Floats, least: Floats | float = -np.inf) -> Conditionals:
        """The densities of all coordinates at outer points (n, d)."""
        return self.inner.settled(outer, self.intervals(outer), least)

    def log_density(self, outer: Floats) -> float:
        return float(self.log_densities(outer[None])[0])

    def log_densities(self, outer: Floats, least: Floats | float = -np.inf) -> Floats:
        """At outer points (n, d), some at a time, (n,); -inf where they seem far below `least`, or an
        interval is not as it should be.
        """
        parts, least = row_parts(len(outer), self.inner.numbers), np.broadcast_to(least, len(outer))
        return np.concatenate([self.conditionals(outer[k], least[k]).log_marginals for k in parts])

    def differences(self, directions: Floats) -> Seen | None:
        """As of any marginal, but of values: on the intervals of the centre, whose errors are alike."""
        here = self.conditionals(self.centre[None])
        (centre,), (half,) = here.intervals
        d, size, seen = self.dim, QUADRATURE.difference, replace(self, latent=centre, half_width=half)
        first, second = np.triu_indices(d, 1)
        steps = size * directions
        points = self.centre + np.concatenate([np.zeros((1, d)), steps, -steps, steps[first] + steps[second]])
        values = self.inner.conditionals(points, seen.intervals(points)).log_marginals
        if not (np.isfinite(values).all() and np.isfinite(here.log_marginals).all()):
            return None
        own, (ahead, behind, both) = values[0], np.split(values[1:], [d, 2 * d])
        curvature = np.diag(ahead + behind - 2 * own)
        curvature[first, second] = curvature[second, first] = both - ahead[first] - ahead[second] + own
        return Seen(seen, float(own), (ahead - behind) / (2 * size), curvature / size**2)

    def with_intervals(self, outer: Floats, peak: Peak) -> "QuadratureMarginal":
        """The same with intervals between outer points (m, d), in sds of a peak's Gaussian."""
        seen = [self.conditionals(outer[k]) for k in row_parts(len(outer), self.inner.numbers)]
        done = np.concatenate([np.isfinite(each.log_marginals) for each in seen])
        centre, half = (np.concatenate([each.intervals[k] for each in seen])[done] for k in (0, 1))
        between = Interpolation.between(outer[done], peak.gaussian, FARTHEST_BETWEEN)
        return replace(self, between=between, about=np.concatenate([centre, np.log(half)], axis=1))


@dataclass(frozen=True)
class QuadratureDraws:
    """Draws of a field by its conditional densities."""

    marginal: QuadratureMarginal

    @property
    def numbers(self) -> int:
        """Numbers that are held for an outer point."""
        return self.marginal.inner.numbers

    def gradients(self, n: int) -> float:
        """How many gradients and log densities n draws take, about."""
        return n * (self.marginal.inner.nodes + 2)

    def draws(self, outer: Floats, least: Floats | float, rng: np.random.Generator) -> GivenDraws:
        """A draw of the field at each outer point; none where the marginal is below `least`."""
        seen = self.marginal.conditionals(outer, least)
        latent, log_q = seen.draws(rng)
        rows, log_p = seen.log_marginals > least, np.full(len(outer), -np.inf)
        log_p[rows] = self.marginal.inner.values(outer[rows], latent[rows])
        return GivenDraws(latent, log_q, log_p, seen.log_marginals, np.zeros(len(outer), dtype=bool))

    def misses_modes(self, outer: Floats) -> bool:
        """Whether a density rises again beyond its interval at one of the outer points (n, d)."""
        fine = replace(self.marginal.inner, nodes=QUADRATURE.nodes[-1])
        centre, half = self.marginal.conditionals(outer).intervals
        log_p = fine.conditionals(outer, Intervals(centre, QUADRATURE.beyond * half)).log_p
        inside = np.abs(np.linspace(-1, 1, log_p.shape[2])) * QUADRATURE.beyond <= 1
        least = log_p[..., inside].max(axis=2, keepdims=True) - QUADRATURE.lower_at_least
        return bool((log_p[..., ~inside] > least).any())

    def variance(self, outer: Floats, rng: np.random.Generator) -> float:
        """That of the log weights of draws at an outer point, over such points (n, d)."""
        given = self.draws(outer, -np.inf, rng)
        drawn = np.isfinite(given.log_p)
        return float(np.var((given.log_p - given.log_q - given.about)[drawn])) if drawn.any() else np.inf


def by_quadrature(marginal: Marginal) -> QuadratureMarginal:
    """The marginal by quadrature, about the same point."""
    fields, latent = marginal.inner, marginal.latent
    inner = OneByOne(fields.target, fields.structure)
    return QuadratureMarginal(inner, marginal.centre, latent, None, np.ones(len(latent)))


def goes_by_quadrature(field_: Field) -> bool:
    """Whether no two coordinates of a field meet, and outer ones are few."""
    return field_.bandwidth == 0 and not field_.couplings and len(field_.outer) <= QUADRATURE.most_outer


def is_off(marginal: Marginal) -> bool:
    """Whether Laplace's approximation at the centre is, where quadrature tells."""
    structure = marginal.inner.structure
    if structure.is_normal or not goes_by_quadrature(structure):
        return False
    exact = by_quadrature(marginal).log_density(marginal.centre)
    return bool(abs(exact - marginal.log_density(marginal.centre)) > QUADRATURE.laplace_off)


def field_by_quadrature(peak: Peak, rng: np.random.Generator) -> QuadratureDraws | None:
    """Draws of the field about a peak of its marginal, with as many nodes as even weights need; None where
    the most are too few.
    """
    marginal = peak.marginal
    assert isinstance(marginal, QuadratureMarginal)
    near = one_over(peak.gaussian).undefended
    outer = near.draws(FEWEST_CENTRES + CENTRES_A_COORDINATE * marginal.dim, rng)
    marginal = marginal.with_intervals(outer, peak)
    for nodes in QUADRATURE.nodes:
        draws = QuadratureDraws(replace(marginal, inner=replace(marginal.inner, nodes=nodes)))
        if draws.variance(outer[:MEASURED], rng) <= QUADRATURE.even:
            return draws
    return None
