"""A field whose modes and precisions at outer points are interpolated between those at a few of them.

Where a Hessian takes many gradients it is computed at some tens of outer points. Between these the modes and
Cholesky factors, diagonals in logarithms, are interpolated, so that precisions are positive definite. A few
steps of Newton's method with that factor lead to the mode itself. The weights of draws are those of the
target, whatever was interpolated.
"""

from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.methods.nested.banded import Factors, factors_of
from ppl.methods.nested.coupled import Factored, coupled
from ppl.methods.nested.field import Fields
from ppl.methods.nested.interpolation import Interpolation, lengths, standardised
from ppl.methods.nested.marginal import Marginal, Peak
from ppl.methods.nested.modes import MODES, Modes
from ppl.records import dataclass

NEW_POINTS = 24
"""Outer points that are added at a time."""
POINTS_OF_DRAWS = 48
"""Those that are added where chains will be moved."""
CANDIDATES = 512
"""Outer points that the first are chosen from."""
WIDENING = 1.5
"""How much wider than the curvature at the peak these are."""
MOST_SDS = 2.5
"""How far they are at most, in sds so widened."""
NEGLIGIBLE = 8.0
"""How many nats below its largest the marginal is at points that need not be near."""
ABOVE_MODE = 5.0
"""How many nats above the marginal at its mode it may seem to be between points: more is an error."""
BEYOND = 1.2
"""How many times as far from the centre as the farthest of the points all is constant along a ray."""


@dataclass(frozen=True)
class Interpolated(Fields):
    """The field with modes (m, k) and factors (m, (b + 1) k) at outer points (m, d), in sds of a Gaussian."""

    about: Gaussian
    outer: Floats
    at: Floats
    factor: Floats

    is_costly = False
    most_steps = 3

    @property
    def exact(self) -> Fields:
        return Fields(self.target, self.structure)

    @cached_property
    def between(self) -> Interpolation:
        """Constant along a ray from not far beyond the farthest of the points."""
        sds = standardised(self.about.mean, self.about.whitening, self.outer)
        return Interpolation.between(self.outer, self.about, BEYOND * float(lengths(sds).max()))

    def is_near(self, outer: Floats) -> NDArray[np.bool_]:
        """Which outer points (n, d) are not too far, (n,)."""
        return self.between.is_near(outer)

    def start(self, outer: Floats) -> Floats:
        """Modes (n, k) at outer points (n, d)."""
        return np.asarray(self.between.weights(outer) @ self.at)

    def precisions(self, outer: Floats, latent: Floats, gradients: Floats) -> Floats:
        """Lower bands (n, b + 1, k) of their Cholesky factors, of which the first is in logarithms."""
        return (self.between.weights(outer) @ self.factor).reshape(len(outer), -1, len(self.structure.latent))

    def factored(self, bands: Floats) -> Factored:
        """The factors by these."""
        own = np.concatenate([np.exp(bands[:, :1]), bands[:, 1:]], axis=1)
        return coupled(Factors(own, np.ones(len(own), dtype=bool)), self.structure.couplings)

    def modes_of_part(
        self, outer: Floats, start: Floats, near: float, least: Floats | float = -np.inf
    ) -> tuple[Modes, Floats]:
        """As of a field, but a few steps lead near enough, for the precision is not that of the mode."""
        modes, bands = super().modes_of_part(outer, start, near, least)
        return modes._replace(found=np.isfinite(modes.values)), bands


@dataclass(frozen=True)
class InterpolatedMarginal(Marginal):
    """A marginal of which all is interpolated: modes are looked for from those that are."""

    def start(self, outer: Floats) -> Floats:
        assert isinstance(self.inner, Interpolated)
        return self.inner.start(outer)

    def log_densities(self, outer: Floats, least: Floats | float = -np.inf) -> Floats:
        """As of any marginal; -inf beyond where all is known, or where it seems far above the mode."""
        assert isinstance(self.inner, Interpolated)
        densities, highest = super().log_densities(outer, least), self.log_density(self.centre) + ABOVE_MODE
        return np.where(self.inner.is_near(outer) & (densities < highest), densities, -np.inf)


def interpolated(peak: Peak, rng: np.random.Generator) -> Peak:
    """A peak with the rest interpolated about it; itself where a Hessian takes few gradients."""
    marginal, about = peak
    if not marginal.inner.is_costly:
        return peak
    z = rng.standard_normal((CANDIDATES, marginal.dim))
    z *= WIDENING * np.minimum(1.0, MOST_SDS / lengths(z))
    return Peak(with_points(marginal, about, about.draws(z)), about)


def interpolated_again(peak: Peak, draws: Floats) -> Peak:
    """The same with more points, among draws (n, d) of a mixture where the marginal is not negligible."""
    if not isinstance(peak.marginal, InterpolatedMarginal):
        return peak
    heights = peak.marginal.log_densities(draws)
    return Peak(with_points(*peak, draws[heights > heights.max() - NEGLIGIBLE]), peak.gaussian)


def interpolated_at(peak: Peak, draws: Floats) -> Peak:
    """The same with many more points among draws (n, d) of the marginal itself."""
    return Peak(with_points(*peak, draws, POINTS_OF_DRAWS), peak.gaussian)


def with_points(marginal: Marginal, about: Gaussian, candidates: Floats, count: int = NEW_POINTS) -> Marginal:
    """A marginal by modes and factors at `count` of the candidates (n, d), beside the points that it has."""
    fields = marginal.inner.exact
    assert isinstance(fields, Fields)
    known = marginal.inner if isinstance(marginal.inner, Interpolated) else None
    seen = known.outer if known else marginal.centre[None]
    in_sds = partial(standardised, about.mean, about.whitening)
    chosen = spread_out(in_sds(candidates), in_sds(seen), count)
    outer = candidates[chosen]
    outer = outer if known else np.concatenate([seen, outer])
    start = marginal.start(outer)
    modes_of_parts = [modes_and_factors(fields, outer[k], start[k]) for k in fields.parts(len(outer))]
    at, factor, settled = (np.concatenate(each) for each in zip(*modes_of_parts, strict=True))
    new = [outer[settled], at[settled], factor[settled]]
    if known:
        old = (known.outer, known.at, known.factor)
        new = [np.concatenate(each) for each in zip(old, new, strict=True)]
    inner = Interpolated(fields.target, fields.structure, about, *new)
    return InterpolatedMarginal(inner, marginal.centre, marginal.latent)


def modes_and_factors(
    fields: Fields, outer: Floats, start: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Modes (n, k) and Cholesky factors (n, (b + 1) k), diagonals in logarithms, and which are found (n,)."""
    modes, bands = fields.modes_of_part(outer, start, MODES.near)
    lower = factors_of(bands)
    logs = np.concatenate([np.log(lower.bands[:, :1]), lower.bands[:, 1:]], axis=1)
    return modes.at, logs.reshape(len(outer), -1), modes.found & lower.as_given


def spread_out(z: Floats, seen: Floats, count: int) -> Floats:
    """The numbers of `count` of z (n, d), each far from those before and those seen (m, d)."""
    nearest = np.sqrt(((z[:, None] - seen) ** 2).sum(axis=2)).min(axis=1)
    chosen = list[int]()
    for _ in range(min(count, len(z))):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.sqrt(((z - z[chosen[-1]]) ** 2).sum(axis=1)))
    return np.array(chosen, dtype=np.intp)
