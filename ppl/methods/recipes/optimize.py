"""The mode alone: maximum a posteriori, or maximum likelihood where the program has no priors.

With some coordinates integrated out it is Type-II maximum likelihood (ML-II, empirical Bayes): their Gaussian
and the mode of the rest maximise one ELBO, which is how MacKay's evidence procedure and variational EM go.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from ppl.kernel.advi.context import once
from ppl.kernel.advi.families.marginal import Marginal, Point
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.start import Init, start_points
from ppl.kernel.advi.target import Target
from ppl.methods.initialise.mode import find_mode
from ppl.methods.initialise.starting import from_paths
from ppl.methods.objective import MarginalTarget
from ppl.methods.recipes.fixed_draws import from_start
from ppl.methods.recipes.laplace import outcome_of
from ppl.methods.recipes.result import Path, Result, result_of
from ppl.methods.run.phases import Context


def optimize(target: Target, init: Init, context: Context) -> Result:
    """All of q at the mode; every draw is the mode, and the final ELBO is the log density there."""
    if isinstance(target, MarginalTarget):
        return _type_two(target, init, context)
    family = Point(target.dim)
    with np.errstate(all="ignore"):
        points = start_points(target, init, context.streams.start)
        mode = find_mode(target, points, context.listen, context.settings.optimizer)
        path = Path(start=points[0], outcome=outcome_of(mode), iterations=mode.steps, at_maximum=True)
        return result_of(target, family, mode.u, path, context)


def _type_two(target: MarginalTarget, init: Init, context: Context) -> Result:
    """Draws of what is integrated out, given the mode of the rest; the ELBO bounds the log marginal there.

    From Pathfinder's start rather than the joint mode, which for a scale with its effects lies at zero.
    """
    streams = context.streams
    family = Marginal(target.dim, target.at)
    with np.errstate(all="ignore"):
        points = start_points(target, init, streams.start)
        plain, rng = MeanField(target.dim), streams.pathfinder
        mode_at = partial(from_paths, target, plain, points, rng, context.listen)
        state = once(context.journal, "start", lambda: mode_at().state, rng)
        start = replace(state.start(target, plain), family=family, metric=None)
        begin = family.start(np.zeros(target.dim) if start.scaled else start.point)
        return from_start(target, replace(start, params=begin), context, corrected=False)
