"""Weighted draws of a target: outer coordinates of a mixture, then the field given these.

The weights are those of the whole target over the density that the draws were made by, so that they are right
whatever was found about the structure: what was found wrongly makes weights uneven, and nothing else.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats, Indices
from ppl.kernel.advi.parts import row_parts
from ppl.kernel.advi.target import finite
from ppl.methods.correct.resampling import effective_size
from ppl.methods.correct.weight_quality import is_reliable
from ppl.methods.diagnose.mixture_sampling import Proposal, density_of, missed
from ppl.methods.diagnose.psis import Psis, psis
from ppl.methods.nested.field_draws import (
    CENTRES_A_COORDINATE,
    FEWEST_CENTRES,
    FieldDraws,
    field_draws,
)
from ppl.methods.nested.given import FieldSampler
from ppl.methods.nested.marginal import Marginal, Peak
from ppl.methods.nested.outer import OUTER, fitted_to, overdispersed_batches, spread_of
from ppl.methods.nested.student_ts import StudentTs
from ppl.methods.numerics.log_sums import log_sum_exp, softmax

ROUND_SHARES = (0.25, 0.25, 0.5, 1.0, 1.0, 1.0)
"""Shares of the draws that are made of a mixture; each later one is fitted to all weighted draws before."""

GOING_KHAT = 0.7
"""The k-hat of a round's weights, uncertain as of few draws, below which its mixture makes the others."""
FIRST_ENOUGH = 0.7
"""The effective share of the first draws with which no mixture is fitted to them."""
ENOUGH_EFFECTIVE = 0.4
"""The effective draws, as a share of those asked for, with which a better mixture is not looked for."""
LEAST_EFFECTIVE = 0.3
"""Those that are enough where as many more were made as seemed to be missing."""
FEWEST_EFFECTIVE = 0.15
"""The effective draws, as the same share, with which so many more are made that as many count."""

FIRST_ROUNDS = 2
"""Rounds of mixtures that are fitted to so few draws that later ones may be far better."""

GRADIENTS_OF_CHEAP = 2
"""Gradients of a draw up to which better mixtures pay whatever the number of outer coordinates: the first one
may miss the tail of a scale towards zero. Of many, what is fitted to few dear draws is no better.
"""

HOPELESS = 0.02
"""The effective share of the draws of two mixtures below which no better one is found."""


IN_TAILS = (0.002, 0.05)
"""The shares of the posterior beyond draws that are in a tail."""
FEWEST_WEIGHTED = 20
"""Draws there of which a variance is taken."""


class WeightedPoints(NamedTuple):
    """Points (n, dim) in parts, log densities of the target and of what they are drawn from, and weights.

    `log_rough` (n,) are log weights by Laplace's approximation of the rest, nan if it is not known,
    `unsure` (n,) those of which draws given the outer coordinates tell little; `missed` is the share of the
    posterior that the draws do not see, but distant ones do.
    """

    parts: tuple[Floats, ...]
    log_p: Floats
    log_q: Floats
    log_rough: Floats
    unsure: NDArray[np.bool_]
    weights: Psis
    missed: float = 0.0

    @property
    def n(self) -> int:
        return len(self.log_p)

    def points_with_weight(self) -> tuple[Floats, NDArray[np.bool_]]:
        """The points whose weight is positive, and which they are (n,)."""
        positive = np.isfinite(self.log_ratios)
        u, first = np.empty((int(positive.sum()), self.parts[0].shape[1])), 0
        ends = np.cumsum([len(part) for part in self.parts])[:-1]
        for part, own in zip(self.parts, np.split(positive, ends), strict=True):
            last = first + int(own.sum())
            np.compress(own, part, axis=0, out=u[first:last])
            first = last
        return u, positive

    @property
    def log_ratios(self) -> Floats:
        """log p/q (n,), -inf where no draw was had, or a density is not finite."""
        return finite(self.log_p - self.log_q)

    @property
    def effective(self) -> float:
        """The effective number of draws, 0 where none has a weight."""
        return self.weights.ess if np.isfinite(self.log_ratios).any() else 0.0

    def excess_in_tails(self, outer: Indices) -> float:
        """The relative variance of weights over rough ones, at draws in a tail of an outer coordinate (of d),
        where it is largest: by what is drawn given these, as far as Laplace's approximation is right.
        """
        share, off, excess = np.exp(self.weights.log_weights), self.log_ratios - self.log_rough, 0.0
        for x in np.concatenate([part[:, outer] for part in self.parts]).T:
            order = x.argsort()
            below = np.cumsum(share[order])
            for ranked in (below, 1 - below):
                tail = off[order[(ranked > IN_TAILS[0]) & (ranked < IN_TAILS[1])]]
                tail = tail[np.isfinite(tail)]
                if len(tail) >= FEWEST_WEIGHTED:
                    excess = max(excess, len(tail) / effective_size(tail) - 1)
        return excess

    @property
    def lost(self) -> float:
        """The share of the posterior where no draws could be made: by the rough weights there, which are too
        large by so much, on average, as those of draws are, if any has one.
        """
        drawn, rough = np.isfinite(self.log_ratios), np.isfinite(self.log_rough)
        if not drawn.any():
            return 1.0
        if not (rough & ~drawn).any():
            return 0.0
        total, known = log_sum_exp(self.log_ratios), rough & drawn
        excess = 0.0
        if known.any():
            excess = float(softmax(self.log_ratios[known]) @ (self.log_rough - self.log_ratios)[known])
        lost = log_sum_exp(self.log_rough[rough & ~drawn]) - excess
        return float(np.exp(lost - np.logaddexp(lost, total)))


def given(marginal: Marginal, mixture: StudentTs, rng: np.random.Generator) -> FieldDraws:
    """The Gaussians of the field."""
    near = mixture.undefended
    about = spread_of(near.draws(OUTER.draws, rng))
    points = near.draws(FEWEST_CENTRES + CENTRES_A_COORDINATE * mixture.dim, rng)
    some = np.concatenate([marginal.centre[None], points])
    return field_draws(marginal.inner, about, some, marginal.start(some), rng)


class Round(NamedTuple):
    """Draws of a mixture and of the rest given these.

    Points u (n, dim), log densities of the target, those of the rest, and of the marginal by Laplace, nan
    if not known; and where the rest is unsure.
    """

    mixture: StudentTs
    u: Floats
    log_p: Floats
    log_given: Floats
    about: Floats
    unsure: NDArray[np.bool_]

    def batch(self, outer: Indices) -> Proposal:
        """The outer coordinates, with log marginals that are right on average."""
        return Proposal(self.u[:, outer], finite(self.log_p - self.log_given), self.mixture.log_density)


def outer_points(rounds: Sequence[Round], outer: Indices) -> Floats:
    """The outer coordinates (n, d) of all draws."""
    return np.concatenate([each.u[:, outer] for each in rounds])


def drawn(
    peak: Peak,
    mixture: StudentTs,
    own: FieldSampler,
    n: int,
    rng: np.random.Generator,
    most: float = np.inf,
) -> WeightedPoints:
    """Weighted draws, of which n would do: of a first mixture, and of better ones where weights are uneven.

    They are more where the weights have a variance, but few draws count, and fewer than n where those still
    missing seem to take more than `most` gradients.
    """
    marginal = peak.marginal
    highest = marginal.log_density(marginal.centre)
    outer, rounds = marginal.inner.structure.outer, list[Round]()

    def go(size: int) -> Round:
        rounds.append(round_of(marginal, highest, mixture, own, mixture.draws(size, rng), rng))
        return rounds[-1]

    few = mixture.dim <= OUTER.most_mixed or own.gradients(n) <= GRADIENTS_OF_CHEAP * n
    first, enough = (FIRST_ENOUGH, ENOUGH_EFFECTIVE) if few else (FEWEST_EFFECTIVE, FEWEST_EFFECTIVE)
    for k, share in enumerate(ROUND_SHARES):
        alone = together([go(int(n * share))], outer)
        left = n - sum(len(each.u) for each in rounds)
        least = (enough if k else first) * int(n * share)
        if left > 0 and alone.effective >= least and will_do(alone.weights):
            go(left)
        all_rounds = together(rounds, outer)
        if share == ROUND_SHARES[-1]:
            enough = FEWEST_EFFECTIVE  # more draws of this mixture are as good as a better one
        if all_rounds.n >= n and is_reliable(all_rounds.weights) and all_rounds.effective >= enough * n:
            if all_rounds.effective < ENOUGH_EFFECTIVE * n:
                go(int(all_rounds.n * (ENOUGH_EFFECTIVE * n / all_rounds.effective - 1)))
                all_rounds = together(rounds, outer)
            if is_reliable(all_rounds.weights) and all_rounds.effective >= LEAST_EFFECTIVE * n:
                break
        if k and all_rounds.effective < HOPELESS * all_rounds.n:
            break
        lacking = missing(all_rounds, alone.effective / len(rounds[-1].u), n)
        if k >= (FIRST_ROUNDS if few else 0) and own.gradients(lacking) > most:
            return all_rounds
        mixture = fitted_to(outer_points(rounds, outer), all_rounds.weights)
    if all_rounds.effective < FEWEST_EFFECTIVE * n or marginal.inner.exact.is_costly:
        return all_rounds
    return all_rounds._replace(missed=misses(rounds, marginal, own, rng))


def will_do(weights: Psis) -> bool:
    """Whether the mixture of a round makes the others too."""
    return weights.khat < GOING_KHAT or weights.light_tail


def missing(draws: WeightedPoints, share: float, n: int) -> int:
    """How many more are needed for as many to count as n ask for, where this share of the last ones does."""
    ess = draws.effective
    return int((ENOUGH_EFFECTIVE * n - ess) / max(share, max(ess, 1.0) / draws.n))


def together(rounds: Sequence[Round], outer: Indices) -> WeightedPoints:
    """All draws of the rounds as those of one mixture (Cornuet, Marin, Mira and Robert 2012, equation 3).

    So a place that a later mixture leaves out has the draws and the density of an earlier one.
    """
    _, parts, *arrays = zip(*rounds, strict=True)
    log_p, log_given, about, unsure = map(np.concatenate, arrays)
    log_outer = density_of([each.batch(outer) for each in rounds])(outer_points(rounds, outer))
    log_q = log_given + log_outer
    return WeightedPoints(parts, log_p, log_q, about - log_outer, unsure, psis(finite(log_p - log_q)))


def misses(rounds: Sequence[Round], marginal: Marginal, own: FieldSampler, rng: np.random.Generator) -> float:
    """The share of the posterior that the draws do not see, but those of wider and wider Gaussians do.

    Where Laplace's approximation has mass there, that of the marginal is estimated as of the draws.
    """
    outer = marginal.inner.structure.outer
    batches = [each.batch(outer) for each in rounds]
    log_p = np.concatenate([each.log_p for each in batches])
    near = Proposal(outer_points(rounds, outer), log_p, density_of(batches))

    def estimated(far: Proposal) -> Proposal:
        seen, log_p = np.isfinite(far.log_p), far.log_p.copy()
        if seen.any():
            parts = row_parts(int(seen.sum()), own.numbers)
            log_p[seen] = np.concatenate([log_marginals(marginal, own, far.u[seen][k], rng) for k in parts])
        return replace(far, log_p=log_p)

    return missed(near, *map(estimated, overdispersed_batches(near, marginal, rng)))


def log_marginals(marginal: Marginal, own: FieldSampler, outer: Floats, rng: np.random.Generator) -> Floats:
    """Log marginal densities at outer points (n, d), right on average, by a draw of the rest at each."""
    _, joint, given_outer, *_ = draws_at(marginal, own, outer, np.full(len(outer), -np.inf), rng)
    return finite(joint - given_outer)


def round_of(
    marginal: Marginal,
    highest: float,
    mixture: StudentTs,
    own: FieldSampler,
    outer: Floats,
    rng: np.random.Generator,
) -> Round:
    """A draw of the rest at outer points (n, d) of the mixture, some of them at a time.

    None is made where the weight is negligible beside that at the mode, whose log density is `highest`.
    """
    weight = highest - mixture.log_density(marginal.centre[None])
    least = weight + mixture.log_density(outer) - OUTER.negligible
    parts = row_parts(len(outer), own.numbers)
    parts_ = [draws_at(marginal, own, outer[part], least[part], rng) for part in parts]
    return Round(mixture, *map(np.concatenate, zip(*parts_, strict=True)))


def draws_at(
    marginal: Marginal,
    own: FieldSampler,
    outer: Floats,
    least: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.bool_]]:
    """A Round of points without the mixture; none where the marginal seems to be below `least`."""
    draws = own.draws(outer, least, rng)
    u = marginal.inner.points(outer, draws.latent)
    return u, draws.log_p, draws.log_q, draws.about, draws.unsure
