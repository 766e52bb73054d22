"""The proposal of outer coordinates: a mixture over their marginal density by Laplace's approximation."""

from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.methods.correct.resampling import effective_size
from ppl.methods.correct.sinh_arcsinh import SinhArcsinh
from ppl.methods.correct.weight_quality import is_reliable, most_count
from ppl.methods.diagnose.mixture_sampling import Proposal, log_weights
from ppl.methods.diagnose.psis import Psis, psis
from ppl.methods.nested.marginal import Marginal, Peak
from ppl.methods.nested.student_ts import StudentTs, moments
from ppl.methods.numerics.log_sums import log_sum_exp


class OuterLimits(NamedTuple):
    """How mixtures are fitted."""

    draws: int = 512
    """Draws that a mixture is fitted to."""

    rounds: int = 4
    """Mixtures that are tried."""

    widening: float = 3.0
    """Distant draws come from Gaussians widened by powers of this."""

    scales: int = 6
    """How many powers."""

    distant_draws: int = 64
    """Draws of each."""

    negligible: float = 20.0
    """A distant draw whose log weight is so much below the largest of near ones counts for nothing."""

    fewest_effective: float = 100.0
    """Effective draws that a mixture is fitted to."""

    fewest_scored: float = 200.0
    """Those of which quantiles tell how skewed each coordinate is, and how heavy its tails."""

    flattening: float = 0.8
    """By how much log weights are shrunk until there are so many."""

    least_power: float = 0.02
    """How much they are shrunk at most."""

    equal_share: float = 0.01
    """The share of weights that all draws have alike: where few count, there are no moments without."""

    degrees: int = 10
    """The degrees of freedom of one Student's t, or one for each coordinate if these are more.

    By the inverse of these it is wider than a Gaussian.
    """

    defensive_share: float = 0.2
    """The share of draws that are for the tails."""

    most_mixed: int = 10
    """Outer coordinates up to which Student's t is fitted to draws of these alone."""


OUTER = OuterLimits()


def mixture_over(peak: Peak, rng: np.random.Generator) -> StudentTs | None:
    """A mixture of Student's t whose draws have good weights under the marginal; None where none has.

    Of many coordinates it is the first: better ones are fitted to draws of all coordinates (see `drawn`).
    """
    mixture = one_over(peak.gaussian)
    if mixture.dim > OUTER.most_mixed:
        return mixture
    for _ in range(OUTER.rounds):
        u, log_ratios = draws_of(mixture, peak, OUTER.draws, rng)
        weights = psis(log_ratios)
        if is_reliable(weights) and most_count(weights):
            return mixture
        mixture = fitted_to(u, weights)
    return None


def refitted(peak: Peak, mixture: StudentTs, n: int, rng: np.random.Generator) -> StudentTs:
    """The mixture fitted to n draws of it by their weights under the marginal; itself where none has any."""
    u, log_ratios = draws_of(mixture, peak, n, rng)
    return fitted_to(u, psis(log_ratios)) if np.isfinite(log_ratios).any() else mixture


def draws_of(mixture: StudentTs, peak: Peak, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """n draws (n, d) of the mixture, and the log ratios (n,) of the marginal's density to its own there."""
    u = mixture.draws(n, rng)
    return u, peak.marginal.log_densities(u) - mixture.log_density(u)


def overdispersed_batches(near: Proposal, marginal: Marginal, rng: np.random.Generator) -> list[Proposal]:
    """Draws of wider and wider Gaussians about those of a mixture.

    The log marginal there is Laplace's, and -inf where by that a draw would count for nothing.
    """
    centre = spread_of(near.u)
    wide = [Gaussian(centre.mean, OUTER.widening**k * centre.factor) for k in range(1, OUTER.scales + 1)]
    far = [each.draws(rng.standard_normal((OUTER.distant_draws, marginal.dim))) for each in wide]
    level = [Proposal(u, np.zeros(len(u)), each.log_densities) for u, each in zip(far, wide, strict=True)]
    weights, *distant = log_weights([near, *level])
    least = weights.max() - OUTER.negligible - np.concatenate(distant)
    heights = marginal.log_densities(np.concatenate(far), least)
    heights = np.where(heights > least, heights, -np.inf)
    parts = np.split(heights, len(far))
    return [replace(each, log_p=log_p) for each, log_p in zip(level, parts, strict=True)]


def spread_of(u: Floats) -> Gaussian:
    """The Gaussian with the moments of points u (n, d)."""
    return Gaussian.with_covariance(*moments(u, np.full(len(u), 1 / len(u))))


def one_over(gaussian: Gaussian) -> StudentTs:
    """Student's t, a little wider than a Gaussian, and others for the tails (Hesterberg 1995)."""
    degrees = max(OUTER.degrees, len(gaussian.mean))
    return StudentTs(gaussian, degrees, 1 + 1 / degrees, OUTER.defensive_share)


def fitted_to(u: Floats, weights: Psis) -> StudentTs:
    """Student's t over weighted draws u (n, d), over their scores where many count.

    The weights are flattened where few draws have most.
    """
    log_weights, power = weights.log_weights, 1.0
    if effective_size(log_weights) >= OUTER.fewest_scored:
        with suppress(np.linalg.LinAlgError):
            return fitted_to_scores(u, np.exp(log_weights))
    while effective_size(power * log_weights) < OUTER.fewest_effective and power > OUTER.least_power:
        power *= OUTER.flattening
    flat = power * log_weights
    few, all_of = np.exp(flat - log_sum_exp(flat)), OUTER.equal_share / len(u)
    return one_over(Gaussian.with_covariance(*moments(u, (1 - OUTER.equal_share) * few + all_of)))


def fitted_to_scores(u: Floats, weights: Floats) -> StudentTs:
    """Student's t over the scores of draws u (n, d) with weights (n,).

    Raises LinAlgError where quantiles of a coordinate are the same.
    """
    margins = SinhArcsinh.of_weighted(u, weights)
    scores, _ = margins.normal(u)
    return replace(one_over(Gaussian.with_covariance(*moments(scores, weights))), margins=margins)
