"""Weighted draws of a target with blocks: outer coordinates of a mixture, then each block given these.

The weights are those of the whole target over the density that the draws were made by, so that they are right
whatever was found about blocks: what was found wrongly makes weights uneven, and nothing else.
"""

from typing import NamedTuple

import numpy as np

from ppl.inference.correct.population import StudentTs, is_good
from ppl.inference.diagnose.psis import Psis, psis
from ppl.inference.nested.blocks import BLOCK_MODES, Blocks
from ppl.inference.nested.conditional import Shape, conditional, shape_of
from ppl.inference.nested.outer import Peak, fitted_to
from ppl.inference.objective.target import Array
from ppl.late import special

NUMBERS_AT_ONCE = 4_000_000
"""Coefficients and gradients at nodes that are held at once."""
SHAPES_SEEN = 16
"""Outer points at which it is seen how many terms polynomials need."""
PILOT_SHARES = (0.25, 0.25, 0.5, 1.0)
"""Shares of the draws that are made first, to see their weights, and to fit a better mixture to them."""


class Drawn(NamedTuple):
    """Points u (n, dim), the log densities of the target and of what they are drawn from, and weights.

    `log_rough` (n,) are log weights by Laplace's approximation of the blocks.
    """

    u: Array
    log_p: Array
    log_q: Array
    log_rough: Array
    weights: Psis

    @property
    def log_ratios(self) -> Array:
        """log p/q (n,), -inf where no draw of a block was had, or a density is not finite."""
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


def drawn(blocks: Blocks, peak: Peak, mixture: StudentTs, n: int, rng: np.random.Generator) -> Drawn:
    """n weighted draws: a few first, and all of a mixture fitted to these where their weights are uneven."""
    some = np.concatenate([peak.marginal.centre[None], mixture.draws(SHAPES_SEEN, rng)])
    shape = shape_of(blocks, some, peak.marginal.modes(some, BLOCK_MODES.about))
    for k, share in enumerate(PILOT_SHARES):
        found = weighted(blocks, peak, mixture, shape, mixture.draws(int(n * share), rng), rng)
        if is_good(found.weights) and share < 1:
            rest = mixture.draws(n - len(found.u), rng)
            found = together(found, weighted(blocks, peak, mixture, shape, rest, rng))
        if len(found.u) == n and is_good(found.weights):
            break
        outer = found.u[:, blocks.structure.outer]
        mixture = fitted_to(outer, found.weights, rng, one=k == 0 and len(outer) < n)
    return found


def together(*parts: Drawn) -> Drawn:
    """Draws of one mixture, made in parts."""
    return with_weights(*(np.concatenate([part[k] for part in parts]) for k in range(4)))


def with_weights(u: Array, log_p: Array, log_q: Array, log_rough: Array) -> Drawn:
    """Draws and their smoothed weights."""
    found = Drawn(u, log_p, log_q, log_rough, Psis(np.zeros(len(u)), np.nan))
    return found._replace(weights=psis(found.log_ratios))


def weighted(
    blocks: Blocks, peak: Peak, mixture: StudentTs, shape: Shape, outer: Array, rng: np.random.Generator
) -> Drawn:
    """A draw of every block at outer points (n, d) of the mixture, some of them at a time."""
    held = blocks.structure.blocks.size * (len(shape.basis.powers) + len(shape.basis.nodes))
    parts = np.array_split(outer, -(-len(outer) * held // NUMBERS_AT_ONCE))
    found = [draws_at(blocks, peak, shape, part, rng) for part in parts if len(part)]
    u, log_p, log_q, rough = (np.concatenate(each) for each in zip(*found, strict=True))
    log_outer = mixture.log_density(outer)
    return with_weights(u, log_p, log_q + log_outer, rough - log_outer)


def draws_at(
    blocks: Blocks, peak: Peak, shape: Shape, outer: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array, Array]:
    """Points u (n, dim), their log densities under the target, those of the blocks given the rest, and what
    Laplace's approximation makes of the marginal there."""
    found = peak.marginal.modes(outer, BLOCK_MODES.about)
    given = conditional(blocks, outer, found, shape)
    z, complete = given.draws(rng)
    latent = given.at(z)
    log_p = np.where(found.found & complete, blocks.values(outer, latent), -np.inf)
    log_q = given.log_densities(z) - blocks.left_over(latent)
    return blocks.points(outer, latent), log_p, log_q, found.about_here
