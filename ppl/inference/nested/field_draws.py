"""Draws of a field given the outer coordinates: a few at each point, of a Gaussian near the one at the mode.

The best Gaussian in Kullback-Leibler divergence has as its precision minus the mean Hessian under itself, and
under it the mean gradient is 0 (Opper and Archambeau 2009, "The variational Gaussian approximation
revisited", equations 7 and 8). At a few outer points two steps are made towards it. The means are over points
one sd from the centre in every coordinate, two that meet to the same side or not, as often as their
correlation says. Elsewhere centre and precision differ from those at the mode as a polynomial fitted to these
points says.

Of a few draws at one outer point the mean weight is an unbiased marginal density; one of them is kept by its
weight (Tran, Scharth, Gunawan, Kohn, Brown and Hawkins 2021, "Robustly estimating the marginal likelihood for
cognitive models via importance sampling", section 2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppl.inference.correct.tempering import effective_size
from ppl.inference.nested.banded import Factors
from ppl.inference.nested.blocks import BLOCK_MODES
from ppl.inference.nested.coupled import Coupled
from ppl.inference.nested.field import FieldModes, Fields
from ppl.inference.nested.given import GivenDraws
from ppl.inference.nested.trends import Trends
from ppl.inference.numerics.gaussian import LOG_2PI, Gaussian
from ppl.inference.objective.target import Array

VARIATIONAL_STEPS = 2
"""Steps towards the best Gaussian."""
ANTITHETIC_PAIRS = 12
"""Draws at an outer point, each with the one on the other side of the centre."""
MOST_QUADRATIC = 4
"""Outer coordinates up to which trends are quadratic; of more they are linear."""
TREND_POINTS = 4
"""Points for each term of a trend, at which what it is fitted to is computed."""
TREND_RADIUS = 3.0
"""The distance from the centre, in sds, beyond which trends are constant along a ray."""
FEWEST_OF_FIELD = 3.0
"""Effective draws at an outer point without which their mean weight is mostly too small. Two antithetic ones
have the same weight where all is symmetric.
"""


@dataclass(frozen=True)
class FieldDraws:
    """Draws of a field by Gaussians.

    The coefficients of trends are those of the modes (t, k), and of what is added to these (t, k) and, by
    pairs that meet, to the precisions there (t, m).
    """

    fields: Fields
    trends: Trends
    modes: Array
    shifts: Array
    changes: Array

    @property
    def numbers(self) -> int:
        """Numbers that are held for an outer point."""
        return self.fields.numbers

    def draws(self, outer: Array, least: Array, rng: np.random.Generator) -> GivenDraws:
        """A draw of the field at each outer point; none where the marginal seems to be below `least`.

        Its log density is that of the target less the log mean weight.
        """
        found, bands = self.modes_at(outer, least)
        rows = found.log_marginals > least
        draws = GivenDraws.none(found.at, found.about_here)
        if not rows.any():
            return draws
        centre, factors = self.gaussians(outer[rows], found.at[rows], bands[rows])
        drawn, log_p = found.at[rows], np.full(rows.sum(), -np.inf)
        best, total, squares = np.full((3, len(drawn)), -np.inf)
        for tried, value, weight in self.weighted(outer[rows], centre, factors, rng):
            total, squares = np.logaddexp(total, weight), np.logaddexp(squares, 2 * weight)
            score = weight + rng.gumbel(size=len(weight))  # the largest is one of them by its weight
            better = score > best
            best[better], drawn[better], log_p[better] = score[better], tried[better], value[better]
        log_q = log_p - total + np.log(2 * ANTITHETIC_PAIRS)
        unsure = 2 * total - squares < np.log(FEWEST_OF_FIELD)
        about = found.about_here[rows]
        draws.put(rows, GivenDraws(drawn, log_q, np.isfinite(total), about, unsure))
        return draws

    def weighted(
        self, outer: Array, centre: Array, factors: Factors | Coupled, rng: np.random.Generator
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Draws (n, k) of the Gaussians, log densities of the whole (n,) there, and log weights (n,)."""
        for _ in range(ANTITHETIC_PAIRS):
            noise = rng.standard_normal(centre.shape)
            off = factors.solve_transposed(noise)
            log_q = factors.half_log_dets - 0.5 * ((noise**2).sum(axis=1) + noise.shape[1] * LOG_2PI)
            for tried in (centre + off, centre - off):
                value = self.fields.values(outer, tried)
                yield tried, value, np.where(np.isfinite(value), value - log_q, -np.inf)

    def effective_share(self, outer: Array, rng: np.random.Generator) -> float:
        """Of the draws at one outer point, the mean over such points (n, d)."""
        found, bands = self.modes_at(outer, np.full(len(outer), -np.inf))
        centre, factors = self.gaussians(outer, found.at, bands)
        weights = np.array([each for *_, each in self.weighted(outer, centre, factors, rng)])
        return float(np.nanmean([effective_size(each) for each in weights.T])) / len(weights)

    def modes_at(self, outer: Array, least: Array) -> tuple[FieldModes, Array]:
        """Modes at outer points (n, d), and precisions (n, b + 1, k) there."""
        start = self.trends.terms(outer) @ self.modes
        return self.fields.modes_of_part(outer, start, BLOCK_MODES.about, least)

    def gaussians(self, outer: Array, modes: Array, bands: Array) -> tuple[Array, Factors | Coupled]:
        """Centres (n, k) and factors of the precisions of the Gaussians, by those at modes."""
        terms = self.trends.terms(outer)
        changes = self.fields.in_bands(terms @ self.changes)
        return modes + terms @ self.shifts, self.fields.factored(bands + changes)


def trends_of(about: Gaussian) -> Trends:
    """The trends over outer coordinates that are spread as a Gaussian."""
    return Trends(about, 2 if len(about.mean) <= MOST_QUADRATIC else 1, TREND_RADIUS)


def field_draws(
    fields: Fields, trends: Trends, outer: Array, start: Array, rng: np.random.Generator
) -> FieldDraws:
    """Draws by Laplace's approximation, or by Gaussians fitted to the best at a few outer points (n, d).

    Modes there are looked for from a start (n, k).
    """
    found = [best_gaussians(fields, outer[part], start[part]) for part in fields.parts(len(outer))]
    at, shift, change, complete = (np.concatenate(each) for each in zip(*found, strict=True))
    modes, shifts, changes = (trends.fitted(outer[complete], each[complete]) for each in (at, shift, change))
    laplace = FieldDraws(fields, trends, modes, np.zeros_like(shifts), np.zeros_like(changes))
    best = FieldDraws(fields, trends, modes, shifts, changes)
    return max(laplace, best, key=lambda each: each.effective_share(outer, rng))


def best_gaussians(
    fields: Fields, outer: Array, start: Array
) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Modes (n, k) at outer points, centres and precisions (n, m) less these, and which (n,) are found."""
    always = np.full(len(outer), -np.inf)
    found, bands = fields.modes_of_part(outer, start, BLOCK_MODES.near, always)
    centre, best = BestGaussians(fields).steps(outer, found.at)
    change = fields.by_pair(best - bands)
    complete = found.found & np.isfinite(centre).all(axis=1) & np.isfinite(change).all(axis=1)
    return found.at, centre - found.at, change, complete


@dataclass(frozen=True)
class BestGaussians:
    """Steps towards the Gaussian nearest to a field given the outer coordinates."""

    fields: Fields

    def steps(self, outer: Array, at: Array) -> tuple[Array, Array]:
        """Centres (n, k) and precisions (n, b + 1, k) of Gaussians, by the modes (n, k)."""
        gradient = self.fields.gradients(outer, at)
        precision = self.fields.precisions(outer, at, gradient)
        factors = self.fields.factored(precision)
        centre = at + factors.solve(gradient)
        for _ in range(VARIATIONAL_STEPS):
            slope, precision = self.means(outer, centre, factors)
            factors = self.fields.factored(precision)
            centre = centre + factors.solve(slope)
        return centre, precision

    def means(self, outer: Array, centre: Array, factors: Factors | Coupled) -> tuple[Array, Array]:
        """Mean gradients (n, k) and mean precisions (n, b + 1, k) under Gaussians."""
        inverses = factors.inverses
        sds, alike = np.sqrt(inverses[:, 0]), self.alike(inverses)
        slope, precision = np.zeros_like(centre), np.zeros_like(inverses)
        for side, share in ((1.0, alike), (self.sides, 1 - alike)):
            for there in (centre + side * sds, centre - side * sds):
                gradient = self.fields.gradients(outer, there)
                slope += 0.5 * share * gradient
                precision += 0.5 * self.shared(share) * self.fields.precisions(outer, there, gradient)
        return slope, precision

    @cached_property
    def sides(self) -> Array:
        """1 or -1 (k,): coordinates of colour 0 are on the other side."""
        return np.where(self.fields.structure.colours == 0, -1.0, 1.0)

    @cached_property
    def opposite(self) -> NDArray[np.intp]:
        """Pairs (2, m) of coordinates on two sides that meet."""
        pairs = self.fields.structure.pairs
        return pairs[:, self.sides[pairs[0]] != self.sides[pairs[1]]]

    def alike(self, inverses: Array) -> Array:
        """How often a coordinate is on the side of those it meets (n, k), by correlations in bands."""
        first, second = self.opposite
        scales = np.sqrt(inverses[:, 0, first] * inverses[:, 0, second])
        correlations = inverses[:, first - second, second] / scales
        sums, counts = np.zeros_like(inverses[:, 0]).T, np.zeros(inverses.shape[2])
        for end in (first, second):
            np.add.at(sums, end, correlations.T)
            np.add.at(counts, end, 1.0)
        return np.asarray(0.5 + 0.5 * np.clip(sums.T / np.maximum(counts, 1.0), -1.0, 1.0))

    def shared(self, shares: Array) -> Array:
        """The means over two coordinates that meet of shares (n, k), in bands (n, b + 1, k)."""
        first, second = self.fields.structure.pairs
        return self.fields.in_bands(0.5 * (shares[:, first] + shares[:, second]))
