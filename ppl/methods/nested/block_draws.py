"""Draws of blocks given the outer coordinates, by densities fitted at each point of these or at a few.

Where the outer coordinates are well known the density of a block changes little and smoothly with them: where
it lies, its scales and the coefficients of its polynomial are polynomials of the outer coordinates, fitted to
a few points. Draws there need no gradient. How far they are from draws of the blocks as they are is seen in
their weights at other points; where that is too far they say only where polynomials are fitted.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.parts import row_parts
from ppl.methods.nested.blocks import BLOCK_MODES, Blocks, modes
from ppl.methods.nested.conditional import (
    BlockShapes,
    Conditional,
    by_coefficients,
    coefficients,
    conditional,
    far_off,
    fitted,
    fitted_where_they_lie,
)
from ppl.methods.nested.given import GivenDraws
from ppl.methods.nested.outer import OUTER, Mixture, spread_of
from ppl.methods.nested.polynomials import Polynomials
from ppl.methods.nested.trends import Trends
from ppl.records import dataclass, replace


class BlockTrendLimits(NamedTuple):
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

    frames_from: int = 4
    """The width of blocks from which, where weights are not even, trends say where polynomials are fitted:
    modes of these cost more, and those of others place the polynomials better.
    """

    most_terms: int = 60
    """Terms of this trend, which is quadratic or linear."""

    fewest_even: float = 0.4
    """The share of the points where weights are so, without which trends save too little."""


BLOCK_TRENDS = BlockTrendLimits()
STEPS_TO_MODES = 3
"""Steps to the modes at an outer point, about."""
VARIANCES = 1e-4, 1e4
"""The least and most that a variance of log weights is taken for."""


@dataclass(frozen=True)
class Frames:
    """Centres and scales of blocks by trends over the outer coordinates, whose coefficients these are."""

    trends: Trends
    basis: Polynomials
    centres: Floats
    scales: Floats

    def at(self, outer: Floats) -> tuple[Floats, Floats]:
        """Centres (n, g, w) and scales (n, g, w, w) of polynomials at outer points (n, d)."""
        terms, w = self.trends.terms(outer), self.basis.width
        return by_block(terms @ self.centres, w), by_block(terms @ self.scales, w, w)


@dataclass(frozen=True)
class BlockTrends:
    """Densities of blocks by trends over the outer coordinates, whose coefficients (t, k) these are.

    They hold where weights are even: log variances of log weights have a trend of their own.
    """

    frames: Frames
    coefficients: Floats
    evenness: Trends
    log_variances: Floats

    def conditional(self, outer: Floats) -> Conditional:
        """The densities of the blocks at outer points (n, d)."""
        return by_trends(self.frames, self.coefficients, outer)

    def within(self, outer: Floats) -> NDArray[np.bool_]:
        """At which outer points (n, d) they hold, (n,)."""
        predicted = self.evenness.terms(outer) @ self.log_variances
        return np.asarray(self.frames.trends.within(outer) & (predicted < 2 * np.log(BLOCK_TRENDS.even)))


@dataclass(frozen=True)
class BlockDraws:
    """Draws of blocks by densities of one shape; `start` is where modes at outer points are looked for.

    Near the centre of the outer coordinates `trends` say what the densities are, or `frames` where they lie;
    they do so at this `share` of outer points.
    """

    blocks: Blocks
    shape: BlockShapes
    start: Callable[[Floats], Floats]
    frames: Frames | None = None
    trends: BlockTrends | None = None
    share: float = 0.0

    def gradients(self, n: int) -> float:
        """How many n draws take, about."""
        by_modes = len(self.shape.basis.nodes) + STEPS_TO_MODES * (1 + self.shape.basis.width)
        return n * (1 - self.share) * by_modes

    @property
    def numbers(self) -> int:
        """Numbers that are held for an outer point."""
        basis = self.shape.basis
        return int(self.blocks.structure.blocks.size * (len(basis.powers) + len(basis.nodes)))

    def parts(self, outer: Floats, each: int = 1) -> Iterator[Floats]:
        """Outer points (n, d), so many as are held at once, with so many draws of each."""
        return (outer[rows] for rows in row_parts(len(outer), each * self.numbers))

    def draws(self, outer: Floats, least: Floats, rng: np.random.Generator) -> GivenDraws:
        """A draw of all blocks at each outer point (n, d); none where the marginal seems below `least`."""
        at = np.zeros((len(outer), *self.blocks.structure.blocks.shape))
        given = GivenDraws.none(at, np.full(len(outer), -np.inf))
        left = np.ones(len(outer), dtype=bool)

        def add(rows: NDArray[np.bool_], densities: Callable[[Floats], Conditional]) -> None:
            """Draws at the marked outer points, which are left out where they are not complete, or not where
            densities are thought to lie.
            """
            if rows.any():
                own = densities(outer[rows])
                drawn = self.drawn(own, rng)
                drawn = drawn._replace(complete=drawn.complete & ~far_off(own).any(axis=1))
                given.put(rows, drawn)
                left[rows] = ~drawn.complete

        if self.trends is not None:
            add(left & self.trends.within(outer), self.trends.conditional)
        if self.frames is not None:
            add(left & self.frames.trends.within(outer), partial(self.by_frames, self.frames))
        if left.any():
            given.put(left, self.by_modes(outer[left], least[left], rng))
        return given

    def by_frames(self, frames: Frames, outer: Floats) -> Conditional:
        """Densities fitted at each outer point (n, d), about where they lie by trends."""
        own = fitted(self.blocks, outer, *frames.at(outer), self.shape.basis)
        return fitted_where_they_lie(self.blocks, outer, own)

    def by_modes(self, outer: Floats, least: Floats, rng: np.random.Generator) -> GivenDraws:
        """By densities that are fitted about the modes at each outer point."""
        steps = BLOCK_MODES.most_steps
        modes_ = modes(self.blocks, outer, self.start(outer), BLOCK_MODES.about, least, steps)
        rows = modes_.log_marginals > least
        draws = GivenDraws.none(modes_.at, modes_.about_here)
        if rows.any():
            own = self.drawn(conditional(self.blocks, outer[rows], modes_.at_rows(rows), self.shape), rng)
            draws.put(rows, own._replace(about=modes_.about_here[rows]))
        return draws

    def drawn(self, own: Conditional, rng: np.random.Generator) -> GivenDraws:
        """A draw of each density, without what Laplace's approximation says."""
        z, complete = own.draws(rng)
        latent = own.at(z)
        log_q = own.log_densities(z) - self.blocks.left_over(latent)
        none = np.full(len(z), np.nan)
        return GivenDraws(latent, log_q, complete & np.isfinite(log_q), none, np.zeros(len(z), dtype=bool))


def by_block(values: Floats, *shape: int) -> Floats:
    """The trends of each block (n, g, *shape), of values (n, k)."""
    return values.reshape(len(values), -1, *shape)


def by_trends(frames: Frames, coefficients: Floats, outer: Floats) -> Conditional:
    """Densities at outer points (n, d), of which trends with these coefficients say all."""
    values = by_block(frames.trends.terms(outer) @ coefficients, len(frames.basis.powers))
    return by_coefficients(frames.basis, *frames.at(outer), values)


def with_trends(own: BlockDraws, near: Mixture, n: int, rng: np.random.Generator) -> BlockDraws:
    """The same by trends as far from the centre of a mixture as weights stay even, if so fewer densities are
    fitted than for n outer points; and else about where trends say.
    """
    limits, about = BLOCK_TRENDS, spread_of(near.draws(OUTER.draws, rng))
    tried = [Trends(about, k, float(np.sqrt(near.dim)) + limits.farthest) for k in limits.degrees]
    trends = next((each for each in reversed(tried) if 2 * each.count <= limits.points), tried[0])
    points = max(2 * trends.count, limits.points)
    if points > limits.most_share * n:
        return own
    outer = within(trends, near.draws(2 * points, rng), points)
    frames, modes_ = fitted_frames(own, trends, outer)
    beside = within(trends, near.draws(2 * limits.tried_at, rng), limits.tried_at)
    if frames is None or not len(beside):
        return own
    trended = fitted_trends(own, frames, modes_, beside, rng)
    share = float(trended.within(beside).mean())
    even = share >= limits.fewest_even
    wide = own.shape.basis.width >= limits.frames_from
    own = replace(own, frames=frames if wide else None)
    return replace(own, trends=trended, share=share) if even else own


def within(trends: Trends, outer: Floats, most: int) -> Floats:
    """Of outer points (n, d) the first that are not beyond the radius."""
    return outer[trends.within(outer)][:most]


def fitted_frames(own: BlockDraws, trends: Trends, outer: Floats) -> tuple[Frames | None, Floats]:
    """Trends of where densities at outer points (n, d) lie, None where too few are found; and those found."""
    framed = [own_frames(own, part) for part in own.parts(outer)]
    if not framed:
        return None, outer
    centres, scales, modes_ = (np.concatenate(each) for each in zip(*framed, strict=True))
    outer = outer[modes_]
    if len(outer) < trends.count:
        return None, outer
    at, wide = (trends.fitted(outer, each[modes_].reshape(len(outer), -1)) for each in (centres, scales))
    return Frames(trends, own.shape.basis, at, wide), outer


def own_frames(own: BlockDraws, outer: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Centres and scales of densities fitted at outer points, and which rows are found."""
    modes_ = own.blocks.modes(outer, own.start(outer), BLOCK_MODES.about)
    shaped = conditional(own.blocks, outer, modes_, own.shape)
    return shaped.centres, shaped.scales, modes_.found


def fitted_trends(
    own: BlockDraws, frames: Frames, outer: Floats, tried: Floats, rng: np.random.Generator
) -> BlockTrends:
    """Trends of polynomials at outer points (n, d).

    They hold where log weights of several draws at one outer point are nearly the same, as a trend says over
    those at the points that are tried.
    """
    solver = frames.trends.solver(outer)
    products = np.zeros((len(solver), own.blocks.structure.blocks.shape[0] * len(frames.basis.powers)))
    for rows in row_parts(len(outer), own.numbers):
        values = coefficients(own.blocks, outer[rows], *frames.at(outer[rows]), frames.basis)
        products += solver[:, rows] @ values.reshape(len(values), -1)
    parts = own.parts(tried, BLOCK_TRENDS.tried_each)
    variances = np.concatenate([variances_at(own, frames, products, part, rng) for part in parts])
    quadratic, linear = (replace(frames.trends, degree=degree) for degree in (2, 1))
    evenness = quadratic if quadratic.count <= BLOCK_TRENDS.most_terms else linear
    log_variances = evenness.fitted(tried, np.log(np.clip(variances, *VARIANCES)))
    return BlockTrends(frames, products, evenness, log_variances)


def variances_at(
    own: BlockDraws, frames: Frames, modes_: Floats, outer: Floats, rng: np.random.Generator
) -> Floats:
    """The variance of log weights of a few draws by trends at each outer point (n, d), inf for no draw."""
    repeated = np.repeat(outer, BLOCK_TRENDS.tried_each, axis=0)
    drawn = own.drawn(by_trends(frames, modes_, repeated), rng)
    log_p = own.blocks.values(repeated, drawn.latent)
    weights = np.where(drawn.complete, log_p - drawn.log_q, np.inf).reshape(len(outer), -1)
    return np.asarray(np.nan_to_num(weights.var(axis=1, ddof=1), nan=np.inf))
