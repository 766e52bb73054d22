"""Draws of a field given the outer coordinates: of the Gaussian at the mode, or carried on by the gradient.

With the mode m, the precision P there, the gradient g of the log density and y from N(0, P^-1), the point

    x = m + P^-1 (3 g(m - y/3) + b)

has the density of the field to first order in its third derivatives T, if b is a third of their traces with
P^-1. For 3 g(m - y/3) is P y + T(y, y)/6 to second order in y, so that -x'Px/2 + T(x, x, x)/6 is
-y'Py/2 - b'y, and b'y is the log determinant of the derivative, the trace of P^-1 T(y)/3. This derivative is
P^-1 times minus the Hessian at m - y/3, so that the density of x is known; where the log density is concave,
no two y lead to the same x.

Of a few draws at one outer point the mean weight is an unbiased marginal density; one of them is kept by its
weight (Tran, Scharth, Gunawan, Kohn, Brown and Hawkins 2021, "Robustly estimating the marginal likelihood for
cognitive models via importance sampling", section 2).
"""

from collections.abc import Iterator

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI, Gaussian
from ppl.kernel.advi.target import finite
from ppl.methods.correct.resampling import effective_size
from ppl.methods.nested.coupled import Factored
from ppl.methods.nested.field import Fields
from ppl.methods.nested.given import GivenDraws
from ppl.methods.nested.interpolated import Interpolated
from ppl.methods.nested.interpolation import Interpolation
from ppl.methods.nested.modes import MODES, Modes
from ppl.methods.nested.slopes import third_derivatives
from ppl.records import dataclass, replace

MOST_DRAWS_AT_OUTER = 24
"""Draws at an outer point are in pairs, y and -y, or one: so many at most."""
EXCESS = 0.1
"""The relative variance of weights with which there is one draw, and that of their mean with which there are
no more pairs.
"""
EVEN = 0.1
"""That of weights of the Gaussian's draws with which these are not carried on."""
GAIN = 0.5
"""The share of that variance which is left where draws are carried on. More is left if third derivatives are
not what makes the field not normal: of a mixture's means a draw in six was missed.
"""
FEWEST_OF_FIELD = 0.125
"""The share of them without which their mean weight is mostly too small."""
MEASURED = 16
"""Outer points at which it is seen how even weights are."""
FEWEST_CENTRES, CENTRES_A_COORDINATE = 24, 4
"""Outer points between which modes are interpolated: so many, and as many more for each outer coordinate."""
FARTHEST_BETWEEN = 3.0
"""The distance from the centre, in sds, beyond which they are constant along a ray."""


@dataclass(frozen=True)
class FieldDraws:
    """Draws of a field: of Gaussians at modes, or carried on from these.

    Modes (m, k), and b (m, k) if draws are carried on, are interpolated `between` m outer points.
    """

    fields: Fields
    between: Interpolation
    modes: Floats
    thirds: Floats | None = None
    tries: int = MOST_DRAWS_AT_OUTER

    @property
    def numbers(self) -> int:
        """Numbers that are held for an outer point."""
        return self.fields.numbers

    def gradients(self, n: int) -> float:
        """How many gradients and log densities n draws take, about."""
        carried = 0 if self.thirds is None else 2 + int(self.fields.structure.colours.max())
        return n * self.tries * (1 + carried)

    def draws(self, outer: Floats, least: Floats, rng: np.random.Generator) -> GivenDraws:
        """A draw of the field at each outer point; none where the marginal seems to be below `least`.

        Its log density is that of the target less the log mean weight.
        """
        modes, bands = self.modes_at(outer, least)
        rows = modes.log_marginals > least
        known = np.where(self.fields.is_near(outer), modes.about_here, np.nan)
        draws = GivenDraws.none(modes.at, known)
        if not rows.any():
            return draws
        drawn, log_p = modes.at[rows], np.full(rows.sum(), -np.inf)
        best, total, squares = np.full((3, len(drawn)), -np.inf)
        for tried, value, weight in self.weighted(outer[rows], modes.at[rows], bands[rows], rng):
            total, squares = np.logaddexp(total, weight), np.logaddexp(squares, 2 * weight)
            score = weight + rng.gumbel(size=len(weight))  # the largest is one of them by its weight
            better = score > best
            best[better], drawn[better], log_p[better] = score[better], tried[better], value[better]
        log_q = log_p - total + np.log(self.tries)
        unsure = 2 * total - squares < np.log(FEWEST_OF_FIELD * self.tries)
        draws.put(rows, GivenDraws(drawn, log_q, log_p, known[rows], unsure))
        return draws

    def weighted(
        self, outer: Floats, at: Floats, bands: Floats, rng: np.random.Generator
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Draws (n, k) by modes and precisions, log densities of the whole there and log weights (n,)."""
        factors = self.fields.factored(bands)
        for first in range(0, self.tries, 2):
            noise = rng.standard_normal(at.shape)
            y = factors.solve_transposed(noise)
            log_normal = factors.half_log_dets - 0.5 * ((noise**2).sum(axis=1) + noise.shape[1] * LOG_2PI)
            for side in (y, -y)[: self.tries - first]:
                tried, log_slopes = self.carry(outer, at, factors, side)
                value = self.fields.values(outer, tried)
                yield tried, value, finite(value - log_normal + log_slopes)

    def carry(self, outer: Floats, at: Floats, factors: Factored, y: Floats) -> tuple[Floats, Floats]:
        """The points (n, k) of y, and the log determinants (n,) of the derivative, nan where it may fold."""
        if self.thirds is None:
            return at + y, np.zeros(len(at))
        there = at - y / 3
        gradient = self.fields.gradients(outer, there)
        own = self.fields.factored(self.fields.precisions(outer, there, gradient))
        x = at + factors.solve(3 * gradient + self.between.weights(outer) @ self.thirds)
        return x, np.where(own.as_given, 2 * (own.half_log_dets - factors.half_log_dets), np.nan)

    def excess(self, outer: Floats, rng: np.random.Generator) -> float:
        """The mean relative variance of weights at one outer point, over such points (n, d)."""
        modes, bands = self.modes_at(outer)
        each = np.repeat(np.arange(len(outer)), MOST_DRAWS_AT_OUTER // 2)
        pairs = replace(self, tries=2).weighted(outer[each], modes.at[each], bands[each], rng)
        weights = np.concatenate([own.reshape(len(outer), -1) for *_, own in pairs], axis=1)
        return float(np.mean([len(own) / effective_size(own) - 1 for own in weights]))

    def modes_at(self, outer: Floats, least: Floats | float = -np.inf) -> tuple[Modes, Floats]:
        """Modes at outer points (n, d), and precisions (n, b + 1, k) there."""
        start = self.between.weights(outer) @ self.modes
        return self.fields.modes_of_part(outer, start, MODES.about, least)


def field_draws(
    fields: Fields, about: Gaussian, outer: Floats, start: Floats, rng: np.random.Generator
) -> FieldDraws:
    """Draws of Gaussians, or carried on if the weights of these are more even at some outer points (n, d).

    These are spread about a Gaussian; modes there are looked for from a start (n, k).
    """
    if isinstance(fields, Interpolated):
        chosen = FieldDraws(fields, fields.between, fields.at)
        return replace(chosen, tries=tries_for(chosen.excess(outer[:MEASURED], rng)))
    modes = fields.modes(outer, start, MODES.near)
    if fields.structure.is_normal:
        between = Interpolation.between(outer[modes.found], about, FARTHEST_BETWEEN)
        return FieldDraws(fields, between, modes.at[modes.found], tries=1)
    places = [(outer[k], modes.at[k]) for k in fields.parts(len(outer))]
    traces = [third_derivatives(fields, *each, fields.factors(*each))[1] for each in places]
    thirds = fields.latent(np.concatenate(traces)) / 3
    complete = modes.found & np.isfinite(thirds).all(axis=1)
    between = Interpolation.between(outer[complete], about, FARTHEST_BETWEEN)
    chosen = FieldDraws(fields, between, modes.at[complete])
    some = outer[:MEASURED]
    excess = chosen.excess(some, rng)
    if excess <= EVEN:
        return replace(chosen, tries=tries_for(excess))
    carried = replace(chosen, thirds=thirds[complete])
    left = carried.excess(some, rng)
    if not left < GAIN * excess:
        return chosen
    return replace(carried, tries=tries_for(left))


def tries_for(excess: float) -> int:
    """Draws at an outer point, one or in pairs, whose mean weight has no more than `EXCESS`."""
    if excess <= EXCESS:
        return 1
    return 2 * int(np.clip(np.ceil(excess / (2 * EXCESS)), 1, MOST_DRAWS_AT_OUTER // 2))
