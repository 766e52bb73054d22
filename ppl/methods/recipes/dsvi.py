"""Doubly stochastic variational inference (Titsias and Lazaro-Gredilla 2014, Algorithms 1 and 2)."""

from dataclasses import replace
from functools import partial

import numpy as np

from ppl.errors import InferenceError
from ppl.kernel.advi.estimators.reparameterised import reparameterised
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import ArdDiagonal, Diagonal
from ppl.kernel.advi.optimise import Algorithm
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.steps.decaying import Staged
from ppl.kernel.advi.target import Target
from ppl.methods.objective import ArdTarget
from ppl.methods.recipes.optimising import AVERAGED_HALF, fit_by_steps, maximise_elbo
from ppl.methods.recipes.parts import algorithm_of, stopping_of, with_noise
from ppl.methods.recipes.result import Result, result_of
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings

DSVI_STAGES = 20
"""Stages of equal length."""
DSVI_FACTOR = 0.95
"""The factor of the step size after each."""
DSVI_SCALE_RATE = 0.1
"""The step of the scales C, in units of that of the means: slower steps for C than for mu."""


def dsvi(target: Target, init: Init, context: Context) -> Result:
    """Algorithm 1: a lower-triangular C with a positive diagonal. `eta` is rho_0; None searches for it."""
    return fit_by_steps(target, with_noise(FullRank(target.dim), context.settings), _parts, init, context)


def dsvi_diagonal(target: Target, init: Init, context: Context) -> Result:
    """Algorithm 1 with a diagonal C (eq. 9)."""
    return fit_by_steps(target, with_noise(Diagonal(target.dim), context.settings), _parts, init, context)


def dsvi_ard(target: Target, init: Init, context: Context) -> Result:
    """Algorithm 2: the scales of a Gaussian prior optimised away, so that coordinates of no use shrink to 0.

    The coordinates stay as they are, since the prior is centred on zero there. The log densities of the
    result include the prior with its best scales, sqrt(c^2 + mu^2).

    Raises:
        InferenceError: `target` is not an ArdTarget, whose prior has been taken out.
    """
    if not isinstance(target, ArdTarget):
        raise InferenceError(
            "dsvi-ard needs a target without the Gaussian prior of the vector to be selected from; "
            "name that vector as ard."
        )
    settings = context.settings
    family = with_noise(ArdDiagonal(target.dim, ard=target.ard), settings)
    at_random = replace(context, settings=replace(settings, start="random"))
    params, path = maximise_elbo(target.target, family, _parts, init, at_random)
    whole = target.with_prior(family.prior_variances(params))
    return result_of(whole, with_noise(Diagonal(target.dim), settings), params, path, context)


def _parts(settings: Settings, family: FullRank | Diagonal, eta: float) -> Algorithm:
    """The parts of DSVI in the slots of the loop."""
    rule, stopping = partial(_rule, settings, family), stopping_of(settings, "rolling-bound")
    return algorithm_of(settings, family, eta, reparameterised, rule, stopping, AVERAGED_HALF)


def _rule(settings: Settings, family: FullRank | Diagonal, eta: float) -> Staged:
    rates = np.full(family.size, DSVI_SCALE_RATE)
    rates[: family.dim] = 1.0
    return Staged(eta, DSVI_FACTOR, max(1, settings.iter // DSVI_STAGES), rates, family.diagonal)
