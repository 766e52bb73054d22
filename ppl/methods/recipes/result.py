"""The result of a recipe, and how it is made from the q that was found."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import nan
from typing import Any, NamedTuple, cast

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.elbo import TRIES_A_WRITTEN_DRAW, Elbo, elbo_of, points_with_density
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.standard import StudentT
from ppl.kernel.advi.optimise import TracePoint
from ppl.kernel.advi.outcome import Ending, Outcome, Phase, Progress, interrupted
from ppl.kernel.advi.parts import by_rows, draws_within, row_parts
from ppl.kernel.advi.target import Target, finite
from ppl.methods.correct.bridge import of_weighted
from ppl.methods.correct.correction import (
    CORRECTION,
    Corrected,
    Elsewhere,
    beside_chains,
    correct,
    gaussian_of,
    go_on,
    in_image,
    will_move,
)
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.correct.evidence import (
    Densities,
    Estimates,
    defended,
    mixed,
    of_weights,
)
from ppl.methods.correct.standard_errors import INDEPENDENT, ErrorSources
from ppl.methods.diagnose.diagnostics import trend
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import Psis, WeightedDraws, weighted_draws_of
from ppl.methods.diagnose.verdict import Verdict, verdict_of
from ppl.methods.moves.images import Images, OneImage, images_of
from ppl.methods.moves.metric import CORRELATED_DIMENSIONS
from ppl.methods.moves.sampler import Adapted
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, field, replace


class ResultLimits(NamedTuple):
    """How the draws at the end are made."""

    first_share: float = 0.5
    """The share of the draws of q with which no more are weighted, where these weights are alike."""

    wide_share: float = 0.25
    """For each draw of q, draws of a Student's t that the evidence rests on too: q alone was off by
    up to 5 standard errors where the posterior has heavy tails.
    """

    wide_degrees: float = 2.1
    """Its degrees of freedom: few, for its tails should be as heavy as those of most posteriors."""

    draws_when_interrupted: int = 10
    """Draws that are made all the same when Ctrl-C came in the middle of them."""


RESULT = ResultLimits()

OWN_EVIDENCE = (DrawSource.MOVED, DrawSource.NESTED)
"""Draws that the weights of q say nothing of."""
ELSEWHERE = (
    "The optimisation ended at a mode with almost no mass: the approximation is the Gaussian at the "
    "mode that has the mass, with the curvature there."
)
ESTIMATED = (
    "Log densities of draws, k-hat and the ELBO are estimated: all rows of data give the linear part, a "
    "sample of {:.2g}% of the rows gives the rest."
)
FEWER = "The approximation is complete, but only {} draws were made; the verdict is based on these."


@dataclass(frozen=True)
class Path:
    """How q was come by: where the run started, its step size, and what it met on the way.

    `at_maximum` is whether a later stage than the loop ended where the ELBO has no slope, `nested` whether
    the draws, or those that chains began at, are of latent variables given the other parameters, not of q.
    """

    start: Floats
    outcome: Outcome
    eta: float = nan
    eta_scores: Mapping[float, float] = field(default_factory=dict)
    iterations: int = 0
    trace: tuple[TracePoint, ...] = ()
    dropped: int = 0
    notes: Sequence[str] = ()
    at_maximum: bool = False
    nested: bool = False


@dataclass(frozen=True)
class Result:
    """The result of a run.

    `family` and `params` (size,) are q itself, `mean_u` (dim,) its mean. `draws_u` (draws, dim) are the
    draws; `log_p`, `log_q` and `log_g` (draws,) are the log densities there of the target, of q, and of what
    the draws follow, as CmdStan writes it: log q(u) - log q(mean), or the target's where draws were made
    better than those of q. `final_elbo` and its standard error, in nats, are from fresh draws of q. `dropped`
    counts draws whose log density was not finite; `notes` are sentences for the user; `verdict` says how far
    all this can be believed. `evidence` is the log of the integral of the target as far as the draws tell,
    None where they do not; see `ppl.results.fits.log_evidence`. `errors` is what means over the draws are in
    error by; `adapted` the chains that moved draws are of, where more of them come from.
    """

    settings: Settings
    family: Family
    params: Floats
    path: Path
    final_elbo: float
    final_elbo_se: float
    draws_u: Floats
    log_p: Floats
    log_q: Floats
    log_g: Floats
    dropped: int
    notes: tuple[str, ...]
    verdict: Verdict
    evidence: Estimates | None = None
    errors: ErrorSources = INDEPENDENT
    adapted: Adapted | None = None

    def cut(self, n: int) -> "Result":
        """The first n draws, where Ctrl-C kept the rest from being turned into the program's variables."""
        if n >= len(self.draws_u):
            return self
        first = {name: getattr(self, name)[:n] for name in ("draws_u", "log_p", "log_q", "log_g")}
        path = replace(self.path, outcome=interrupted(f"in the variables of draw {n + 1}"))
        return replace(self, path=path, errors=self.errors.at(slice(n)), **first)

    @property
    def error_sources(self) -> ErrorSources:
        """`errors`, and what independent runs differ by; of poor draws the error is not known."""
        if self.verdict.level is Level.POOR:
            return replace(self.errors, between=nan)
        spread = self.verdict.spread
        between = self.errors.between + (spread.between if spread else 0.0)
        return replace(self.errors, between=between)

    def stopped(self, reason: str) -> "Result":
        """The same of a run that was stopped for that reason."""
        outcome = Outcome(Ending.INTERRUPTED, reason)
        verdict = replace(self.verdict, outcome=outcome)
        return replace(self, path=replace(self.path, outcome=outcome), verdict=verdict)

    @property
    def mean_u(self) -> Floats:
        return self.family.mean(self.params)

    @property
    def outcome(self) -> Outcome:
        return self.path.outcome


def result_of(target: Target, family: Family, params: Floats, path: Path, context: Context) -> Result:
    """Draw from the final q, and make the draws better where the settings want it.

    The draws are fresh, so the final ELBO rests on them, at least elbo_samples. Ctrl-C leaves a few draws; a
    second one leaves none. A q moves, once, where the mass is, if it is found at another mode.
    """
    settings, rng, listen = context.settings, context.streams.draws, context.listen
    n, fewest, moves = pool_size(target, settings), fewest_draws(settings), will_move(target, settings)
    half = max(fewest, int(RESULT.first_share * n))
    ends = sorted({fewest, half, n})
    try:
        listen(Progress(Phase.IMPORTANCE, 0, n))
        proposals, dropped = weighted(target, family, params, fewest, rng)
        for begin, end in pairwise(ends):
            weights = proposals.weights
            enough = weights.alike if begin >= half else moves and is_hopeless(weights, n)
            if enough:
                break
            others, dropped_too = weighted(target, family, params, end - begin, rng)
            proposals, dropped = joined(proposals, others), dropped + dropped_too
    except KeyboardInterrupt:
        few = min(RESULT.draws_when_interrupted, n)
        notes = [*path.notes, FEWER.format(few)]
        path = replace(path, outcome=interrupted(f"in the last {n} draws"), notes=notes)
        proposals, dropped = weighted(target, family, params, few, rng)
    elbo = elbo_of(proposals.log_p - proposals.log_q, 0.0, dropped)
    # Who stopped the run by hand does not want to wait for better draws.
    goes_on, goes = path.outcome.ending is not Ending.INTERRUPTED, ELSEWHERE not in path.notes
    effective = settings if goes_on else replace(settings, move=False)
    q = gaussian_of(family, params)
    images = images_of(target, q, context.streams.images) if q and settings.corrects and goes_on else None
    corrected = correct(target, effective, q, proposals, rng, listen, goes, images, context.journal, goes_on)
    if isinstance(corrected, Elsewhere):
        full, path = FullRank(target.dim), replace(path, notes=[*path.notes, ELSEWHERE])
        there = full.of(corrected.mean, np.linalg.cholesky(corrected.covariance))
        # as of a saved fit, whose q is the one there
        return result_of(target, full, there, path, replace(context, streams=replace(context.streams)))
    estimated = _estimated(target, min(len(proposals.u), max(half, n - half)))
    path = replace(path, notes=[*path.notes, *estimated])
    if corrected.interrupted:
        path = replace(path, outcome=interrupted("while draws were moved"))
    ended = path.outcome.ending is not Ending.INTERRUPTED
    if ended and corrected.made not in OWN_EVIDENCE and (settings.corrects or not target.dim):
        try:
            by_weights = (
                evidence_of_pool(target, corrected.pool, rng, images)
                if corrected.pool
                else evidence_by(target, family, params, proposals, dropped, rng, images)
                if q
                else density_at(proposals)
            )
            corrected = replace(corrected, evidence=beside_chains(by_weights, corrected.evidence))
        except KeyboardInterrupt:
            path = replace(path, outcome=interrupted("at the evidence"))
    return result_with(target, context, family, params, path, proposals, elbo, corrected)


def evidence_by(
    target: Target,
    family: Family,
    params: Floats,
    proposals: WeightedDraws,
    dropped: int,
    rng: np.random.Generator,
    images: Images | None = None,
) -> Estimates:
    """By draws of q and of a Student's t with its location and scale, and by a bridge to all of these."""
    if images is not None:
        target, proposals = OneImage(target, images), in_image(proposals, images)
    wide: Family = replace(cast(Any, family), standard=StudentT(RESULT.wide_degrees))
    n = max(1, int(RESULT.wide_share * len(proposals.u)))
    far = np.empty((n, family.dim))

    def densities(u: Floats, log_p: Floats) -> Densities:
        log_q, log_wide = (by_rows(partial(each.log_density, params), u) for each in (family, wide))
        return Densities(log_p, log_q, log_wide)

    with np.errstate(all="ignore"):
        for part in row_parts(n, family.dim):
            far[part] = wide.transform(params, wide.noise(len(far[part]), rng))
        log_p = finite(by_rows(target.log_densities, far))
        q, beside = densities(proposals.u, proposals.log_p), densities(far, log_p)
        by, log_g = defended(q, beside, dropped), np.concatenate(mixed(q, beside, dropped))
    log_p = np.concatenate([proposals.log_p, log_p])
    fits = target.dim <= CORRELATED_DIMENSIONS  # else no Gaussian is fitted to them, and they are not copied
    u = np.concatenate([proposals.u, far]) if fits else np.empty((len(log_p), 0))
    pool = weighted_draws_of(u, log_p, log_g)
    return of_weighted(target, by, pool, len(u) + dropped, rng)


def evidence_of_pool(
    target: Target, pool: WeightedDraws, rng: np.random.Generator, images: Images | None
) -> Estimates:
    """By the weighted draws of a mixture, in the image of q, and by a bridge to them."""
    one = target if images is None else OneImage(target, images)
    return of_weighted(one, of_weights(pool.weights), pool, len(pool.u), rng)


def density_at(proposals: WeightedDraws) -> Estimates:
    """Of a program without parameters, whose density is the evidence."""
    by = of_weights(proposals.weights)
    return Estimates(by, by)


def weighted(
    target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator
) -> tuple[WeightedDraws, int]:
    """n draws of q with their weights, and how many others had no finite log density."""
    u, log_p, dropped = points_with_density(target, family, params, n, rng, TRIES_A_WRITTEN_DRAW)
    return weighted_draws_of(u, log_p, by_rows(partial(family.log_density, params), u)), dropped


def is_hopeless(weights: Psis, n: int) -> bool:
    """Whether n draws with such weights would be worth too few for chains to begin at them."""
    return weights.ess * n < CORRECTION.fewest_start_ess * len(weights.log_weights)


def joined(first: WeightedDraws, rest: WeightedDraws) -> WeightedDraws:
    """All of them, their weights smoothed together."""
    return weighted_draws_of(*map(np.concatenate, zip(first[:3], rest[:3], strict=True)))


def result_with(
    target: Target,
    context: Context,
    family: Family,
    params: Floats,
    path: Path,
    proposals: WeightedDraws,
    elbo: Elbo,
    corrected: Corrected,
) -> Result:
    """The Result with the corrected draws, in their images at random, judged by the draws of q."""
    settings, images, dropped = context.settings, corrected.images, path.dropped + elbo.dropped
    rise = None if path.at_maximum else trend(path.trace)
    judged = corrected.pool or proposals, elbo, path.outcome, rise
    log_q = by_rows(partial(family.log_density, params), corrected.u)
    # Draws that follow the target have its density: to weight them by p/q would be to do so twice.
    at_mean = family.log_density(params, family.mean(params)[None])
    if images is not None:
        u = images.at_random(corrected.u, context.streams.images)
        corrected = replace(corrected, u=u, log_p=corrected.log_p - images.log_count)
    log_g = log_q - at_mean if corrected.made is DrawSource.OF_Q else corrected.log_p
    return Result(
        settings=settings,
        family=family,
        params=params,
        path=path,
        final_elbo=elbo.value,
        final_elbo_se=elbo.se,
        draws_u=corrected.u,
        log_p=corrected.log_p,
        log_q=log_q,
        log_g=log_g,
        dropped=dropped,
        notes=(*path.notes, *_notes(path, elbo.value, dropped)),
        verdict=verdict_of(*judged, corrected, target.rounding_limits),
        evidence=corrected.evidence,
        errors=corrected.errors,
        adapted=corrected.adapted if corrected.made is DrawSource.MOVED else None,
    )


def result_of_chains(
    target: Target, family: Family, params: Floats, path: Path, chains: Adapted, context: Context
) -> Result:
    """The Result with draws of chains that go on; q is judged by fresh draws of its own."""
    settings, rng = context.settings, context.streams.draws
    proposals, dropped = weighted(target, family, params, fewest_draws(settings), rng)
    elbo = elbo_of(proposals.log_p - proposals.log_q, 0.0, dropped)
    q = gaussian_of(family, params)
    images = images_of(target, q, context.streams.images) if q else None
    one = OneImage(target, images) if images else target
    corrected = replace(go_on(one, chains, settings.draws, rng, context.listen), images=images)
    return result_with(target, context, family, params, path, proposals, elbo, corrected)


def pool_size(target: Target, settings: Settings) -> int:
    """How many draws of q are weighted: more than are written where they may be resampled."""
    least = fewest_draws(settings)
    if settings.resample or (target.dim and settings.corrects and settings.resample is None):
        affordable = min(CORRECTION.proposals, CORRECTION.most_work // (40 * target.width))
        return max(least, draws_within(affordable, target.dim, least))
    return least


def fewest_draws(settings: Settings) -> int:
    """The draws of q that the fit's own draws and its ELBO rest on."""
    return max(settings.draws, settings.elbo_samples)


def _estimated(target: Target, draws: int) -> list[str]:
    """The note on log densities that are computed from a sample of the rows, of so many draws at once."""
    most_at_once = max((part.stop - part.start for part in row_parts(draws, target.dim)), default=0)
    share = target.share_of_rows(most_at_once)
    return [] if share == 1 else [ESTIMATED.format(100 * share)]


def _notes(path: Path, final_elbo: float, dropped: int) -> list[str]:
    notes = []
    best = max((point.elbo for point in path.trace), default=-np.inf)
    if best - final_elbo > max(1.0, 0.05 * abs(final_elbo)):
        notes.append(f"The ELBO was higher on the way ({best:.6g}) than at the end; try a smaller eta.")
    if dropped:
        notes.append(f"{dropped} draws had no finite log density and were redrawn.")
    return notes


def without_parameters(target: Target, settings: Settings) -> Result:
    """Draws from R^0, where q is the posterior; the counterpart of CmdStan's `fixed_param`."""
    outcome = Outcome(Ending.CONVERGED, "the program has no parameters, so nothing was fitted")
    path = Path(start=np.zeros(0), outcome=outcome, at_maximum=True)
    return result_of(target, FullRank(0), np.zeros(0), path, Context.of(settings))
