"""Latent variables integrated out: q over the few coordinates they depend on, then the rest given these.

Where coordinates meet few others given a few outer ones, as the effects of groups given their mean and sd, a
random walk, areas or crossed effects, they are a field, which is integrated out: by Laplace's approximation
to find a mixture of Student's t over the outer coordinates (Rue, Martino and Chopin 2009, section 3;
Kristensen et al. 2016), then drawn by a Gaussian or by what the gradient makes of its draws. The weights of
these draws are p/q of the whole.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.outcome import interrupted
from ppl.kernel.advi.start import Init, start_points
from ppl.kernel.advi.target import Target
from ppl.late import LateModule
from ppl.methods.nested.structure import structure_of
from ppl.methods.recipes.refusals import Refused
from ppl.methods.recipes.result import Path, Result, result_of
from ppl.methods.run.phases import Context

fields = LateModule("ppl.methods.recipes.fields")
MORE_STARTS = 12
"""Points from which climbs begin once more where one of the first ended at the highest mode, and no other."""
NOT_APPLICABLE = (
    "algorithm = 'nested' does not apply to this program: {}. Omit the algorithm: `auto` uses "
    "it if it applies."
)


def nested(target: Target, init: Init, context: Context) -> Result:
    """The recipe by its name.

    Raises:
        InferenceError: the target has no latent field, or its draws have no good weights.
    """
    try:
        return by_field(target, init, context)
    except Refused as why:
        raise InferenceError(NOT_APPLICABLE.format(why), "PPL975") from None


def by_field(
    target: Target,
    init: Init,
    context: Context,
    at_start: Callable[[], Result | None] = lambda: None,
    near: Callable[[], Floats | None] = lambda: None,
) -> Result:
    """Draws of a field; Refused where there are none, or their weights are not good.

    Where no two latent coordinates are independent given the outer ones, as the coefficients of a regression,
    there is little to gain by them: the fit `at_start` is taken, if there is one. A point (dim,) `near` the
    mass, if there is one, tells whether draws would be dear before a mode is looked for.
    """
    with np.errstate(all="ignore"):
        starts = start_points(target, init, context.streams.nested)
        try:
            structure = structure_of(target, starts[0], context.streams.nested)
            if structure is None:
                raise Refused("given a few parameters, the remaining ones do not form a sparse graph")
            if structure.is_complete and (gaussian := at_start()):
                return gaussian
            more = partial(start_points, target, init, context.streams.nested, MORE_STARTS)
            fit = fields.field_fit(target, structure, starts, context, near, more)
        except KeyboardInterrupt:  # before there were draws: those about the start
            family = MeanField(target.dim)
            path = Path(starts[0], interrupted("while latent variables were integrated out"))
            return result_of(target, family, family.start(starts[0]), path, context)
        except np.linalg.LinAlgError:
            raise Refused("its latent variables are too nearly singular") from None
    return fit.result(target, context)
