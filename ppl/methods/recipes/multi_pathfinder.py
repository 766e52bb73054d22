"""Pathfinder over several paths (Zhang, Carpenter, Gelman and Vehtari 2022, JMLR 23, Algorithm 2)."""

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.elbo import elbo_of
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.gaussian import MOST_DENSE
from ppl.kernel.advi.outcome import Ending, Outcome, interrupted
from ppl.kernel.advi.start import Init, start_points
from ppl.kernel.advi.target import Target
from ppl.methods.correct.correction import resample
from ppl.methods.diagnose.psis import weighted_draws_of
from ppl.methods.initialise.pathfinder import NO_GAUSSIAN, Pathfinder, mixture_log_density, pathfinders
from ppl.methods.recipes.result import Path, Result, result_of, result_with
from ppl.methods.run.phases import Context


def multi_pathfinder(target: Target, init: Init, context: Context) -> Result:
    """Draws resampled by importance from the Gaussians of all paths; q is the best of these.

    A draw is weighted against the mixture of the Gaussians rather than the one that it came from, which the
    paper does: that bounds the weights where the Gaussians overlap.
    """
    streams = context.streams
    with np.errstate(all="ignore"):
        points = start_points(target, init, streams.start)
        paths: list[Pathfinder] = []
        try:
            pathfinders(target, points, streams.pathfinder, paths, listen=context.listen)
            if not paths:
                raise InferenceError(NO_GAUSSIAN)
            return _mixed(target, context, points, paths)
        except KeyboardInterrupt:
            return _best_so_far(target, points[0], paths, context)


def _mixed(target: Target, context: Context, points: list[Floats], paths: list[Pathfinder]) -> Result:
    """Draws of the mixture of all Gaussians, resampled."""
    settings, rng = context.settings, context.streams.draws
    best = max(paths, key=lambda path: path.elbo)
    family, params = _as_family(best)
    n = max(settings.draws, settings.elbo_samples)
    u = np.concatenate([path.sample(n, rng) for path in paths])
    log_p = target.log_densities(u)
    log_q = mixture_log_density(paths, u)
    finite = np.isfinite(log_p)
    elbo = elbo_of((log_p - log_q)[finite], 0.0, int((~finite).sum()))
    reason = f"{len(paths)} of {len(points)} paths led to a Gaussian; their draws are resampled"
    outcome = Outcome(Ending.COMPLETED, reason)
    path = Path(start=points[0], outcome=outcome, iterations=best.steps, at_maximum=True)
    proposals = weighted_draws_of(u[finite], log_p[finite], log_q[finite])
    drawn = resample(proposals, settings.draws, rng)
    return result_with(target, context, family, params, path, proposals, elbo, drawn)


def _best_so_far(target: Target, point: Floats, paths: list[Pathfinder], context: Context) -> Result:
    """After Ctrl-C: draws of the best Gaussian there is, or of a standard normal about the start."""
    family: Family = MeanField(target.dim)
    params = family.start(point)
    if paths:
        family, params = _as_family(max(paths, key=lambda path: path.elbo))
    path = Path(point, interrupted(f"when {len(paths)} paths had led to a Gaussian"))
    return result_of(target, family, params, path, context)


def _as_family(path: Pathfinder) -> tuple[Family, Floats]:
    """The Gaussian as a member of a family; without its correlations where there are too many."""
    dim = len(path.mean)
    if dim > MOST_DENSE:
        return MeanField(dim), np.concatenate([path.mean, 0.5 * np.log(path.curvature.variances)])
    full = FullRank(dim)
    return full, full.of(path.mean, np.asarray(np.linalg.cholesky(path.curvature.dense())))
