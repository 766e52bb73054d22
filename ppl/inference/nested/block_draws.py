"""Draws of blocks given the outer coordinates, by densities fitted at each point of these or at a few.

Where the outer coordinates are well known the density of a block changes little and smoothly with them: where
it lies, its scales and the coefficients of its polynomial are polynomials of the outer coordinates, fitted to
a few points. Draws there need no gradient. How far they are from draws of the blocks as they are is seen in
their weights at other points.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from ppl.inference.correct.population import StudentTs
from ppl.inference.nested.blocks import BLOCK_MODES, Blocks, modes
from ppl.inference.nested.conditional import (
    Conditional,
    Shape,
    by_coefficients,
    coefficients,
    conditional,
    far_off,
)
from ppl.inference.nested.given import GivenDraws
from ppl.inference.nested.outer import OUTER, spread_of
from ppl.inference.nested.trends import Trends
from ppl.inference.numerics.parts import row_parts
from ppl.inference.objective.target import Array


@dataclass(frozen=True)
class BlockTrendLimits:
    """When trends are used, and which."""

    degrees: tuple[int, ...] = (2, 3, 4)
    """The largest that has its points within `points`, or the first."""

    points: int = 128
    """Outer points that trends are fitted to, or two for each term if these are more."""

    most_share: float = 0.3
    """These points as a share of the draws, at which trends save too little."""

    farthest: float = 2.0
    """The distance beyond which they are not used, in sds, added to the root of the outer dimension."""

    tried_at: int = 128
    """Outer points at which the weights of draws by trends are looked at."""

    tried_each: int = 4
    """Draws at each of these."""

    even: float = 0.3
    """The sd of log weights at one outer point up to which they are used; it has a trend of its own."""

    most_terms: int = 60
    """Terms of this trend, which is quadratic or linear."""

    fewest_even: float = 0.4
    """The share of the points where weights are so, without which trends save too little."""


BLOCK_TRENDS = BlockTrendLimits()
VARIANCES = 1e-4, 1e4
"""The least and most that a variance of log weights is taken for."""


@dataclass(frozen=True)
class BlockTrends:
    """Densities of blocks by trends over the outer coordinates, whose coefficients (t, k) these are.

    They hold where weights are even: log variances of log weights have a trend of their own.
    """

    trends: Trends
    shape: Shape
    centres: Array
    scales: Array
    coefficients: Array
    evenness: Trends
    log_variances: Array

    def conditional(self, outer: Array) -> Conditional:
        """The densities of the blocks at outer points (n, d)."""
        return by_coefficients(self.shape.basis, *self.frames(outer), self.at(outer, self.coefficients, -1))

    def frames(self, outer: Array) -> tuple[Array, Array]:
        """Centres (n, g, w) and scales (n, g, w, w) of the polynomials."""
        w = self.shape.basis.width
        return self.at(outer, self.centres, w), self.at(outer, self.scales, w, w)

    def within(self, outer: Array) -> NDArray[np.bool_]:
        """At which outer points (n, d) they hold, (n,)."""
        predicted = self.evenness.terms(outer) @ self.log_variances
        return np.asarray(self.trends.within(outer) & (predicted < 2 * np.log(BLOCK_TRENDS.even)))

    def at(self, outer: Array, fitted: Array, *shape: int) -> Array:
        """What trends say of each block, (n, g, *shape)."""
        blocks = len(self.shape.offsets)
        return np.asarray((self.trends.terms(outer) @ fitted).reshape(len(outer), blocks, *shape))


@dataclass(frozen=True)
class BlockDraws:
    """Draws of blocks by densities of one shape; `start` is where modes at outer points are looked for."""

    blocks: Blocks
    shape: Shape
    start: Callable[[Array], Array]
    trends: BlockTrends | None = None

    @property
    def numbers(self) -> int:
        """Numbers that are held for an outer point."""
        basis = self.shape.basis
        return int(self.blocks.structure.blocks.size * (len(basis.powers) + len(basis.nodes)))

    def parts(self, outer: Array) -> Iterator[Array]:
        """Outer points (n, d), so many as are held at once."""
        return (outer[rows] for rows in row_parts(len(outer), self.numbers))

    def draws(self, outer: Array, least: Array, rng: np.random.Generator) -> GivenDraws:
        """A draw of all blocks at each outer point (n, d); none where the marginal seems below `least`."""
        near = np.zeros(len(outer), dtype=bool) if self.trends is None else self.trends.within(outer)
        if self.trends is None or not near.any():
            return self.exact(outer, least, rng)
        own = self.trends.conditional(outer[near])
        by_trends = self.drawn(own, rng)
        nowhere = np.zeros((len(outer), *self.blocks.structure.blocks.shape))
        found = by_trends.among(near, nowhere, np.full(len(outer), np.nan))
        near[near] = ~far_off(own)
        rest = ~(found.complete & near)
        if rest.any():
            for rows, exact in zip(found, self.exact(outer[rest], least[rest], rng), strict=True):
                rows[rest] = exact
        return found

    def exact(self, outer: Array, least: Array, rng: np.random.Generator) -> GivenDraws:
        """By densities that are fitted at each outer point."""
        steps = BLOCK_MODES.most_steps
        found = modes(self.blocks, outer, self.start(outer), BLOCK_MODES.about, least, steps)
        rows = found.log_marginals > least
        if not rows.any():
            return GivenDraws.none(found.at, found.about_here)
        some = found.at_rows(rows)
        own = self.drawn(conditional(self.blocks, outer[rows], some, self.shape), rng)
        return own.among(rows, found.at, found.about_here)

    def drawn(self, own: Conditional, rng: np.random.Generator) -> GivenDraws:
        """A draw of each density, without what Laplace's approximation says."""
        z, complete = own.draws(rng)
        latent = own.at(z)
        log_q = own.log_densities(z) - self.blocks.left_over(latent)
        none = np.full(len(z), np.nan)
        return GivenDraws(latent, log_q, complete & np.isfinite(log_q), none, np.zeros(len(z), dtype=bool))


def with_trends(own: BlockDraws, near: StudentTs, n: int, rng: np.random.Generator) -> BlockDraws:
    """The same by trends as far from the centre of a mixture as weights stay even, if so fewer densities are
    fitted than for n outer points.
    """
    limits, d = BLOCK_TRENDS, near.dim
    needed = {degree: 2 * comb(d + degree, degree) for degree in limits.degrees}
    degree = max((k for k in needed if needed[k] <= limits.points), default=limits.degrees[0])
    points = max(needed[degree], limits.points)
    if points > limits.most_share * n:
        return own
    trends = Trends(spread_of(near.draws(OUTER.draws, rng)), degree, float(np.sqrt(d)) + limits.farthest)
    made = fitted_trends(own, trends, within(trends, near.draws(2 * points, rng), points))
    tried = within(trends, near.draws(2 * limits.tried_at, rng), limits.tried_at)
    if made is None or not len(tried):
        return own
    made = with_evenness(own, made, tried, rng)
    return replace(own, trends=made) if made.within(tried).mean() >= limits.fewest_even else own


def within(trends: Trends, outer: Array, most: int) -> Array:
    """Of outer points (n, d) the first that are not beyond the radius."""
    return outer[trends.within(outer)][:most]


def fitted_trends(own: BlockDraws, trends: Trends, outer: Array) -> BlockTrends | None:
    """Trends of where densities at outer points (n, d) lie, then of their polynomials about there; None where
    too few are found.
    """
    if len(outer) < trends.count:
        return None
    frames = [own_frames(own, part) for part in own.parts(outer)]
    centres, scales, found = (np.concatenate(each) for each in zip(*frames, strict=True))
    outer = outer[found]
    if len(outer) < trends.count:
        return None
    at, wide = (trends.fitted(outer, each[found].reshape(len(outer), -1)) for each in (centres, scales))
    made = BlockTrends(trends, own.shape, at, wide, np.zeros(0), trends, np.zeros(0))
    values = [
        coefficients(own.blocks, part, *made.frames(part), own.shape.basis) for part in own.parts(outer)
    ]
    return replace(made, coefficients=trends.fitted(outer, np.concatenate(values).reshape(len(outer), -1)))


def own_frames(own: BlockDraws, outer: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Centres and scales of densities fitted at outer points, and which rows are found."""
    found = own.blocks.modes(outer, own.start(outer), BLOCK_MODES.about)
    made = conditional(own.blocks, outer, found, own.shape)
    return made.centres, made.scales, found.found


def with_evenness(own: BlockDraws, made: BlockTrends, outer: Array, rng: np.random.Generator) -> BlockTrends:
    """The same, holding where log weights of several draws at one outer point are nearly the same, as a trend
    over those at outer points (n, d) says.
    """
    repeated = np.repeat(outer, BLOCK_TRENDS.tried_each, axis=0)
    found = own.drawn(made.conditional(repeated), rng)
    values = own.blocks.values(repeated, found.latent)
    weights = np.where(found.complete, values - found.log_q, np.inf).reshape(len(outer), -1)
    variances = np.nan_to_num(weights.var(axis=1, ddof=1), nan=np.inf)
    quadratic, linear = (Trends(made.trends.about, degree, made.trends.radius) for degree in (2, 1))
    evenness = quadratic if quadratic.count <= BLOCK_TRENDS.most_terms else linear
    fitted = evenness.fitted(outer, np.log(np.clip(variances, *VARIANCES)))
    return replace(made, evenness=evenness, log_variances=fitted)
