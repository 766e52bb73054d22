"""Weighted draws of a target: outer coordinates of a mixture, then blocks or a field given these.

The weights are those of the whole target over the density that the draws were made by, so that they are right
whatever was found about the structure: what was found wrongly makes weights uneven, and nothing else.
"""

from typing import NamedTuple

import numpy as np

from ppl.inference.correct.population import POPULATION, StudentTs
from ppl.inference.diagnose.psis import Psis, psis
from ppl.inference.nested.blocks import BLOCK_MODES, Blocks
from ppl.inference.nested.conditional import BlockDraws, shape_of
from ppl.inference.nested.field import Fields
from ppl.inference.nested.field_draws import FieldDraws, field_draws
from ppl.inference.nested.outer import OUTER, Marginal, Peak, fitted_to, spread_of
from ppl.inference.nested.trends import Trends
from ppl.inference.objective.target import Array
from ppl.late import special

NUMBERS_AT_ONCE = 4_000_000
"""Coefficients and gradients at nodes that are held at once."""
SHAPES_SEEN = 16
"""Outer points at which it is seen how many terms polynomials need."""
PILOT_SHARES = (0.25, 0.25, 0.5, 1.0)
"""Shares of the draws that are made first, to see their weights, and to fit a better mixture to them."""

PILOT_KHAT = 0.7
"""The k-hat of these, which of few draws is uncertain, below which the others are made."""
FIRST_ENOUGH = 0.7
"""The effective share of the first draws with which no mixture is fitted to them."""
ENOUGH_EFFECTIVE = 0.4
"""The effective share of draws with which a better mixture is not looked for."""


FEWEST_EFFECTIVE = 0.15
"""The effective share with which so many more are made that as many count."""


class Drawn(NamedTuple):
    """Points u (n, dim), the log densities of the target and of what they are drawn from, and weights.

    `log_rough` (n,) are log weights by Laplace's approximation of the rest.
    """

    u: Array
    log_p: Array
    log_q: Array
    log_rough: Array
    weights: Psis

    @property
    def log_ratios(self) -> Array:
        """log p/q (n,), -inf where no draw was had, or a density is not finite."""
        ratios = self.log_p - self.log_q
        return np.where(np.isfinite(ratios), ratios, -np.inf)

    @property
    def lost(self) -> float:
        """The share of the posterior where no draws could be made, by the rough weights."""
        missing = np.isneginf(self.log_ratios) & np.isfinite(self.log_rough)
        if not missing.any():
            return 0.0
        lost = special.logsumexp(self.log_rough[missing])
        return float(np.exp(lost - np.logaddexp(lost, special.logsumexp(self.log_ratios))))


Given = BlockDraws | FieldDraws
"""What draws of the rest are made by."""


def given(marginal: Marginal, mixture: StudentTs, rng: np.random.Generator) -> Given:
    """A field's Gaussians; of blocks densities, that are shaped by a few of them."""
    match marginal.inner:
        case Fields() as fields:
            trends = Trends(spread_of(mixture.draws(OUTER.draws, rng)))
            some = np.concatenate([marginal.centre[None], mixture.draws(trends.points, rng)])
            return field_draws(fields, trends, some, marginal.start(some), rng)
        case Blocks() as blocks:
            some = np.concatenate([marginal.centre[None], mixture.draws(SHAPES_SEEN, rng)])
            found = blocks.modes(some, marginal.start(some), BLOCK_MODES.about)
            return BlockDraws(blocks, shape_of(blocks, some, found), marginal.start)


def drawn(peak: Peak, mixture: StudentTs, n: int, rng: np.random.Generator) -> Drawn:
    """n weighted draws: a few first, and all of a mixture fitted to these where their weights are uneven.

    They are more where the weights of n have a variance, but few draws count.
    """
    marginal, own = peak.marginal, given(peak.marginal, mixture, rng)
    first = FIRST_ENOUGH if mixture.dim <= OUTER.most_mixed else ENOUGH_EFFECTIVE
    for k, share in enumerate(PILOT_SHARES):
        found = weighted(marginal, mixture, own, mixture.draws(int(n * share), rng), rng)
        if share < 1 and is_enough(found.weights, PILOT_KHAT, ENOUGH_EFFECTIVE if k else first):
            rest = mixture.draws(n - len(found.u), rng)
            found = together(found, weighted(marginal, mixture, own, rest, rng))
        if len(found.u) == n and is_enough(found.weights, POPULATION.good_khat, ENOUGH_EFFECTIVE):
            return found
        if share < 1:
            outer = found.u[:, marginal.inner.structure.outer]
            mixture = fitted_to(outer, found.weights, rng, one=k == 0 and len(outer) < n)
    if is_enough(found.weights, POPULATION.good_khat, FEWEST_EFFECTIVE):
        more = mixture.draws(int(n * (ENOUGH_EFFECTIVE * n / found.weights.ess - 1)), rng)
        found = together(found, weighted(marginal, mixture, own, more, rng))
    return found


def is_enough(weights: Psis, most_khat: float, least_share: float) -> bool:
    """Whether draws of another mixture would gain little."""
    return weights.khat < most_khat and weights.ess >= least_share * len(weights.log_weights)


def together(*parts: Drawn) -> Drawn:
    """Draws of one mixture, made in parts."""
    return with_weights(*(np.concatenate([part[k] for part in parts]) for k in range(4)))


def with_weights(u: Array, log_p: Array, log_q: Array, log_rough: Array) -> Drawn:
    """Draws and their smoothed weights."""
    found = Drawn(u, log_p, log_q, log_rough, Psis(np.zeros(len(u)), np.nan))
    return found._replace(weights=psis(found.log_ratios))


def weighted(
    marginal: Marginal, mixture: StudentTs, own: Given, outer: Array, rng: np.random.Generator
) -> Drawn:
    """A draw of the rest at outer points (n, d) of the mixture, some of them at a time."""
    parts = np.array_split(outer, -(-len(outer) * own.numbers // NUMBERS_AT_ONCE))
    found = [draws_at(marginal, own, part, rng) for part in parts if len(part)]
    u, log_p, log_q, rough = (np.concatenate(each) for each in zip(*found, strict=True))
    log_outer = mixture.log_density(outer)
    return with_weights(u, log_p, log_q + log_outer, rough - log_outer)


def draws_at(
    marginal: Marginal, own: Given, outer: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array, Array]:
    """Points u (n, dim), their log densities under the target, those of the rest given the outer coordinates,
    and what Laplace's approximation makes of the marginal there."""
    inner = marginal.inner
    found = own.draws(outer, rng)
    log_p = np.where(found.complete, inner.values(outer, found.latent), -np.inf)
    return inner.points(outer, found.latent), log_p, found.log_q, found.about
