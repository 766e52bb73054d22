"""Latent variables integrated out, where a target has a field of them (see nested.py), and the result."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.context import NULL_JOURNAL, once
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.elbo import Elbo
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.gaussian import LOG_2PI, Gaussian
from ppl.kernel.advi.outcome import Ending, Outcome, Phase, Progress, interrupted
from ppl.kernel.advi.parts import by_columns
from ppl.kernel.advi.target import Target, finite
from ppl.memory import NoRoom, require_room
from ppl.methods.correct import correction
from ppl.methods.correct.bridge import of_weighted
from ppl.methods.correct.correction import (
    Corrected,
    DrawSource,
    moved_on,
    resample,
    resampled_from,
    will_move,
)
from ppl.methods.correct.evidence import Estimates, of_weights
from ppl.methods.correct.resampling import systematic
from ppl.methods.correct.weight_quality import GOOD_KHAT, is_reliable
from ppl.methods.diagnose.modes import MODE_SEARCH
from ppl.methods.diagnose.psis import WeightedDraws, psis, weighted_draws_of
from ppl.methods.moves.ending import MOVES, most_gradients
from ppl.methods.moves.images import Images, OneImage, images_of, near_images
from ppl.methods.nested.field import Fields
from ppl.methods.nested.field_coordinates import FieldCoordinates, coordinates_of, has_coordinates
from ppl.methods.nested.field_draws import MOST_DRAWS_AT_OUTER, FieldDraws, field_draws
from ppl.methods.nested.given import FieldSampler
from ppl.methods.nested.interpolated import interpolated, interpolated_again, interpolated_at
from ppl.methods.nested.marginal import Marginal, Peak, climbs, newton
from ppl.methods.nested.modes_beside import BESIDE, has_other_modes, highest
from ppl.methods.nested.outer import OUTER, mixture_over, one_over, refitted
from ppl.methods.nested.quadrature import by_quadrature, field_by_quadrature, goes_by_quadrature, is_off
from ppl.methods.nested.spanned import with_basis
from ppl.methods.nested.sparse import Field
from ppl.methods.nested.student_ts import StudentTs, moments
from ppl.methods.nested.weighted_draws import WeightedPoints, drawn, given
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.methods.recipes.refusals import Refused
from ppl.methods.recipes.result import Path, Result, result_with
from ppl.methods.run.phases import Context

PROPOSALS = 2048
"""Weighted draws to resample from, or twice as many as are written."""
MOST_PROPOSALS = 4000
"""The same where they are little work: quantiles of eight schools are off by half as much."""
WORK_ON_PROPOSALS = 2**20
"""Numbers that these work through, a value each."""
COPIES = 2
"""How often these are in memory at once."""
LEAST_EFFECTIVE_SHARE = 0.3
"""How many of these count, by the effective sample size, is enough."""
MOST_LOST = 0.01
"""The share of the posterior where no draws of the field can be made."""
MOST_UNSURE = 0.05
"""The share where few draws of the rest have most weight: their mean is mostly too small, and tails short."""
MOST_EXCESS, MOST_EXCESS_OF_HEAVY = 2.0, 0.3
"""The relative variance of weights by draws of the rest alone, in a tail of an outer coordinate, above which
one draw at each outer point tells too little, and the same where weights may have no variance: the draw that
counts is seldom made where effects are far from normal, as if their scale is small. Weights were more uneven
in all 13 wrong fits that these were chosen by, and in 14 of some 95 right ones.
"""
MOST_CORRELATED = 100
"""Dimensions above which the Gaussian that is kept of the draws has no correlations."""
MOST_DRAWN_GRADIENTS = 200_000
"""Gradients of draws of a field, about: chains of all parameters seldom take more."""
MOST_DRAWN_OF_MANY = 20_000
"""The same of more outer coordinates than mixtures are fitted to: fewer of these draws count."""
MOST_MORE_GRADIENTS = 60_000
"""Gradients of those that are missing after the first ones, by the share of these that count."""
MOST_DRAWN_BESIDE_CHAINS = 20_000
"""The same where chains can be moved in coordinates of the field: fewer moves do than in any others."""
NO_MODE = "the other parameters have no mode once the latent variables are integrated out"
SEVERAL_MODES = "the other parameters have several modes"
SEVERAL_LATENT_MODES = "the latent variables have several modes given the other parameters"
INTEGRATED = Outcome(Ending.CONVERGED, "the latent variables were integrated out")
DEAR = "its draws take more gradients than draws of all parameters at once"
STARTS_BY_QUADRATURE = 2
"""Points that climbs by it begin from: each step takes a thousand gradients."""
FITTED_DRAWS = 256
"""Draws to which the first mixture is fitted that draws by quadrature are made of."""
NESTED_STEPS = 3
"""The parts of the report: the mode of the outer coordinates, a mixture over them, the draws."""


class WeightedFit(NamedTuple):
    """A point from which climbs end at the mode, weighted draws, and ELBO and evidence by these and those
    without weight.

    `uneven` is why the weights alone do not do, "" where they do; those that are `doubtful` will do where
    there can be no chains.
    """

    start: Floats
    draws: WeightedDraws
    elbo: Elbo
    evidence: Estimates
    uneven: str
    doubtful: bool = False
    images: Images | None = None

    def result(self, target: Target, context: Context) -> Result:
        """The result of weighted draws, or of chains that begin there where a few moves change them.

        Where the weights are uneven, of chains, and Refused where there can be none.
        """
        settings, streams = context.settings, context.streams
        how, reliable = (settings.draws, streams.draws, DrawSource.NESTED), not (self.uneven or self.doubtful)
        plain = Scaled(target, np.zeros(target.dim), np.ones(target.dim))
        by_weights = resampled_from(plain, self.draws, *how) if reliable else resample(self.draws, *how)
        corrected = replace(by_weights, evidence=self.evidence)
        if settings.move is not False:
            one = OneImage(target, self.images) if self.images else target
            corrected = moved_on(one, corrected, streams.draws, context.listen, reliable, context.journal)
        if self.uneven and not corrected.interrupted and corrected.made is not DrawSource.MOVED:
            raise Refused(self.uneven)
        corrected = replace(corrected, images=self.images)
        return result_by(target, self.draws, self.start, self.draws, self.elbo, corrected, context)


class ChainFit(NamedTuple):
    """A point from which climbs end at the mode, draws of a field by Laplace's approximation, and coordinates
    for chains that begin there.

    `starts` are the numbers of draws that follow the approximation of the marginal.
    """

    start: Floats
    draws: WeightedPoints
    starts: NDArray[np.intp]
    coordinates: FieldCoordinates

    def result(self, target: Target, context: Context) -> Result:
        """The result of chains that begin at these draws; Refused where they fall together."""
        settings, streams = context.settings, context.streams
        (u,) = self.draws.parts
        starts = u[self.starts]
        begun, how = starts[: MOVES.chains], (settings.draws, streams.draws, context.listen, context.journal)
        try:
            corrected = correction.from_known(target, begun, self.coordinates, *how)
        except KeyboardInterrupt:
            own = self.starts[np.arange(settings.draws) % len(self.starts)]
            corrected = Corrected(u[own], self.draws.log_p[own], DrawSource.NESTED, interrupted=True)
        except np.linalg.LinAlgError:
            raise Refused("the chains in coordinates of the latent variables fell together") from None
        alike = weighted_draws_of(starts, np.zeros(len(starts)), np.zeros(len(starts)))
        return result_by(target, alike, self.start, *of_positive_weight(self.draws), corrected, context)


def result_by(
    target: Target,
    for_q: WeightedDraws,
    start: Floats,
    weighted: WeightedDraws,
    elbo: Elbo,
    corrected: Corrected,
    context: Context,
) -> Result:
    """The result with the Gaussian of some draws as q; weighted draws say how far it can be believed."""
    outcome = interrupted("while draws were moved") if corrected.interrupted else INTEGRATED
    path = Path(start=start, outcome=outcome, at_maximum=True, nested=True)
    return result_with(target, context, *gaussian_of(for_q), path, weighted, elbo, corrected)


def chain_fit(
    target: Target, peak: Peak, mixture: StudentTs, start: Floats, rng: np.random.Generator
) -> ChainFit | None:
    """Draws where chains begin, and their coordinates; None where there are none.

    More of the field is interpolated about where the marginal has its mass.
    """
    inner = peak.marginal.inner
    if not has_coordinates(inner):
        return None
    outer = mixture.draws(OUTER.draws, rng)
    log_outer = mixture.log_density(outer)
    rough = finite(peak.marginal.log_densities(outer) - log_outer)
    chosen = rng.permutation(systematic(rough, len(outer), rng))
    with_more = interpolated_at(peak, outer[chosen]).marginal.inner
    assert has_coordinates(with_more)
    coordinates = coordinates_of(with_more)
    noise = rng.standard_normal((len(outer), len(coordinates.latent)))
    u, change, _ = coordinates.back(inner.points(outer, noise))
    log_p = target.log_densities(u)
    log_q = log_outer - 0.5 * ((noise**2).sum(axis=1) + noise.shape[1] * LOG_2PI) - change
    nowhere = np.zeros(len(outer), dtype=bool)
    draws = WeightedPoints((u,), log_p, log_q, rough, nowhere, psis(finite(log_p - log_q)))
    return ChainFit(start, draws, chosen, coordinates)


def field_fit(
    target: Target,
    structure: Field,
    starts: list[Floats],
    context: Context,
    near: Callable[[], Floats | None],
    more: Callable[[], list[Floats]],
) -> WeightedFit | ChainFit:
    """Draws with their weights, or those where chains begin, with the arguments of `nested.by_field`.

    Climbs begin at `more` points where only one of those from the starts ends at the highest mode.
    """
    rng, tell = context.streams.nested, partial(tell_step, context)
    tell(0)
    inner, chains_do = Fields(target, structure), do_chains(target, context)
    many = chains_do and len(structure.outer) > OUTER.most_mixed and not structure.is_normal
    if many and (u := near()) is not None and are_dear(inner, u, rng.spawn(1)[0]):
        raise Refused(DEAR)
    marginals = beginning(inner, starts)
    once_more = len(starts) > 1 and not inner.is_costly
    ends: Iterable[Marginal | None] = list(climbs(marginals)) if once_more else climbs(marginals)
    nearest = ((k, newton(near)) for k, near in enumerate(ends) if near)
    at, first = next(((k, peak) for k, peak in nearest if peak), (0, None))
    quadrature = partial(fit_by_quadrature, target, marginals, context)
    if first is None or is_off(first.marginal):
        return quadrature()
    top = highest(first, ends)
    if once_more and is_alone(top, ends):
        top = highest(first, [*ends, *climbs(beginning(inner, more()))])
    if top is None:
        return quadrature(SEVERAL_MODES)  # Laplace's approximation may have more than there are
    begun = marginals[at] if top is first else top.marginal  # more draws climb to the same mode from there
    start = inner.points(begun.centre[None], begun.latent[None])[0]
    tell(1)
    peak = interpolated(top, rng)
    mixture = mixture_over(peak, rng) or one_over(peak.gaussian)  # draws say where Laplace is wrong
    peak = interpolated_again(peak, mixture.draws(OUTER.draws, rng))
    if has_other_modes(peak.marginal, mixture.undefended.draws(BESIDE.outer_points, rng), rng):
        return quadrature(SEVERAL_LATENT_MODES)
    tell(2)
    own = given(peak.marginal, mixture, rng)
    if own.tries == MOST_DRAWS_AT_OUTER and (exact := with_basis(peak, rng)):  # interpolation is far off
        peak, own = exact, given(exact.marginal, mixture, rng)
    dear = chains_do and own.gradients(PROPOSALS) > MOST_DRAWN_BESIDE_CHAINS
    if dear and (chains := chain_fit(target, peak, mixture, start, rng)):
        few, weights = LEAST_EFFECTIVE_SHARE * chains.draws.n, chains.draws.weights
        if not structure.is_normal or weights.ess < few:
            return chains
        own = replace(own, tries=1)  # what is interpolated is nearly right
    drawn_at_most = MOST_DRAWN_GRADIENTS if mixture.dim <= OUTER.most_mixed else MOST_DRAWN_OF_MANY
    if chains_do and own.gradients(PROPOSALS) > drawn_at_most:
        raise Refused(DEAR)
    cheap = min(MOST_PROPOSALS, WORK_ON_PROPOSALS // max(target.width, target.dim))
    count = max(PROPOSALS, cheap, 2 * context.settings.draws)
    most = MOST_MORE_GRADIENTS if chains_do else np.inf
    by_gaussians = partial(weighted_fit, target, peak, mixture, own, start, count, most, context)
    if not goes_by_quadrature(structure):
        return by_gaussians()
    fit = None
    with suppress(Refused):
        fit = by_gaussians()
        if not (fit.uneven or fit.doubtful):
            return fit
    try:
        return quadrature()
    except Refused:
        if fit is None:
            raise
    return fit


def is_alone(top: Peak | None, ends: Iterable[Marginal | None]) -> bool:
    """Whether no two climbs end at the highest mode: there may be a higher one."""
    return top is None or sum(top.is_near(near.centre) for near in ends if near) < 2


def beginning(inner: Fields, starts: list[Floats]) -> list[Marginal]:
    """Where climbs begin."""
    return [Marginal(inner, u[inner.structure.outer], inner.latent(u[None])[0]) for u in starts]


def are_dear(inner: Fields, u: Floats, rng: np.random.Generator) -> bool:
    """Whether draws of a field with many outer coordinates take many gradients about u (dim,)."""
    if has_coordinates(inner):
        return False
    outer = u[inner.structure.outer]
    about = Gaussian(outer, np.eye(len(outer)))
    own = field_draws(inner, about, outer[None], inner.latent(u[None]), rng)
    return own.gradients(PROPOSALS) > MOST_DRAWN_OF_MANY


def fit_by_quadrature(
    target: Target, marginals: list[Marginal], context: Context, why: str = NO_MODE
) -> WeightedFit:
    """Draws where Laplace's approximation is poor, or will not do for a reason; Refused as `nested.by_field`
    is, for that reason where no quadrature is to be had.
    """
    structure, rng = marginals[0].inner.structure, context.streams.nested
    if not goes_by_quadrature(structure):
        raise Refused(why)
    first, *others = map(by_quadrature, marginals[:STARTS_BY_QUADRATURE])
    peak = newton(first)
    if peak is None:
        raise Refused(why)
    top = highest(peak, others)
    if top is None:
        raise Refused(SEVERAL_MODES)
    tell_step(context, 1)
    own = field_by_quadrature(top, rng)
    if own is None:
        raise Refused("the latent variables have peaks too narrow for quadrature")
    at, count = own.marginal, max(PROPOSALS, 2 * context.settings.draws)
    start = at.inner.points(at.centre[None], at.latent[None])[0]
    chains_do = do_chains(target, context)
    if chains_do and own.gradients(count) > most_gradients(target.width):
        raise Refused(DEAR)
    tell_step(context, 2)
    peak = Peak(at, top.gaussian)
    most = -np.inf if chains_do else np.inf  # few rounds will do to begin chains
    mixture = refitted(peak, one_over(top.gaussian), FITTED_DRAWS, rng)
    if own.misses_modes(mixture.undefended.draws(BESIDE.outer_points, rng)):
        raise Refused(SEVERAL_LATENT_MODES)
    return weighted_fit(target, peak, mixture, own, start, count, most, context)


def do_chains(target: Target, context: Context) -> bool:
    """Whether chains are moved where weights of draws do not do."""
    return context.settings.algorithm == "auto" and will_move(target, context.settings)


def tell_step(context: Context, step: int) -> None:
    context.listen(Progress(Phase.NESTED, step, NESTED_STEPS))


def weighted_fit(
    target: Target,
    peak: Peak,
    mixture: StudentTs,
    own: FieldSampler,
    start: Floats,
    count: int,
    most: float,
    context: Context,
) -> WeightedFit:
    """About `count` weighted draws of all parameters. Raises Refused where their weights are not good."""
    rng = context.streams.nested
    try:
        require_room((COPIES, count, target.dim), "an array of draws of the latent variables")
    except NoRoom as no_room:
        raise Refused(str(no_room)) from None
    journal = context.journal if count * target.dim <= MOVES.most_recorded else NULL_JOURNAL
    parts: tuple[Any, ...] = once(
        journal, type(own).__name__, lambda: tuple(drawn(peak, mixture, own, count, rng, most)), rng
    )
    draws = WeightedPoints(*parts)
    if draws.n < count and draws.weights.ess < LEAST_EFFECTIVE_SHARE * count:
        raise Refused(DEAR)
    if draws.missed > MODE_SEARCH.missed_mass:
        raise Refused("there is mass far from the mode of the other parameters")
    if draws.lost > MOST_LOST:
        raise Refused(f"{draws.lost:.0%} of the posterior could not be drawn given a few parameters")
    if (unsure := float(np.exp(draws.weights.log_weights)[draws.unsure].sum())) > MOST_UNSURE:
        others = "the others given a few parameters"
        raise Refused(f"for {unsure:.0%} of the posterior no Gaussian approximates {others}")
    weighted, elbo = of_positive_weight(draws)
    one_draw = isinstance(own, FieldDraws) and own.tries == 1
    heavy = draws.weights.khat >= GOOD_KHAT
    most_excess = MOST_EXCESS_OF_HEAVY if heavy else MOST_EXCESS if one_draw else np.inf
    structure = peak.marginal.inner.structure
    doubtful = not structure.is_normal and draws.excess_in_tails(structure.outer) > most_excess
    images = None
    if q := correction.gaussian_of(*gaussian_of(weighted)):
        images = images_of(target, q, context.streams.images)
        if near_images(target, q, images, context.streams.images):
            raise Refused("there may be a mode that is nearly the image of another")
    if images:
        target, draws = OneImage(target, images), in_image(draws, images)
        weighted, elbo = of_positive_weight(draws)
    evidence = of_weighted(target, of_weights(draws.weights), weighted, draws.n, rng)
    figures = f"k-hat {draws.weights.khat:.2f}, effective sample size {draws.weights.ess:.0f}"
    uneven = f"the weights of draws of the latent variables are too uneven ({figures} of {draws.n})"
    if draws.weights.ess < LEAST_EFFECTIVE_SHARE * count:
        raise Refused(uneven)
    reason = "" if is_reliable(draws.weights) else uneven
    return WeightedFit(start, weighted, elbo, evidence, reason, doubtful, images)


def in_image(draws: WeightedPoints, images: Images) -> WeightedPoints:
    """The same by the density of `OneImage`."""
    u, positive = draws.points_with_weight()
    log_p = np.full(draws.n, -np.inf)
    log_p[positive] = images.counted(u, draws.log_p[positive])
    return draws._replace(log_p=log_p, weights=psis(finite(log_p - draws.log_q)))


def of_positive_weight(draws: WeightedPoints) -> tuple[WeightedDraws, Elbo]:
    """Those that have a weight, and the ELBO by all."""
    u, positive = draws.points_with_weight()
    # Weights of the others are zero.
    weights = replace(draws.weights, log_weights=draws.weights.log_weights[positive])
    weighted = WeightedDraws(u, draws.log_p[positive], draws.log_q[positive], weights)
    # The importance-weighted ELBO (Burda, Grosse and Salakhutdinov 2016, equation 8).
    value = float(log_sum_exp(draws.log_ratios)) - np.log(draws.n)
    elbo = Elbo(value, float(np.sqrt(max(1 / draws.weights.ess - 1 / draws.n, 0.0))), 0)
    return weighted, elbo


def gaussian_of(draws: WeightedDraws) -> tuple[Family, Floats]:
    """The Gaussian with the mean and covariance of the draws, in many dimensions its variances alone."""
    dim, weights = draws.u.shape[1], np.exp(draws.weights.log_weights)
    if dim > MOST_CORRELATED:
        sds = by_columns(lambda some: np.sqrt(weights @ (some - weights @ some) ** 2), draws.u)
        return MeanField(dim), np.concatenate([weights @ draws.u, np.log(sds)])
    mean, covariance = moments(draws.u, weights)
    full = FullRank(dim)
    return full, full.of(mean, np.linalg.cholesky(covariance))
