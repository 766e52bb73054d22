"""Whole algorithms, one file a recipe: each fills slots with parts and leaves a Result."""

from collections.abc import Callable

from ppl.kernel.advi.context import NULL_JOURNAL, Journal
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.progress import Listener, silent
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.target import Target
from ppl.methods.recipes.advi import staged
from ppl.methods.recipes.dsvi import dsvi, dsvi_ard, dsvi_diagonal
from ppl.methods.recipes.fixed_draws import fixed_draws
from ppl.methods.recipes.laplace import laplace
from ppl.methods.recipes.multi_pathfinder import multi_pathfinder
from ppl.methods.recipes.nested import nested
from ppl.methods.recipes.optimize import optimize
from ppl.methods.recipes.refusals import refuse
from ppl.methods.recipes.result import Result, without_parameters
from ppl.methods.recipes.ssvb import ssvb
from ppl.methods.run.context import Context
from ppl.methods.run.settings import Settings

Recipe = Callable[[Target, Init, Context], Result]
"""A whole algorithm. `init` is a radius, a point (dim,) or an earlier q, as in `start.start_point`."""
RECIPES: dict[str, Recipe] = {
    "auto": staged,
    **{name: staged for name in FAMILIES if name != "diagonal"},  # which is dsvi-diagonal's
    "nested": nested,
    "fixed-draws": fixed_draws,
    "laplace": laplace,
    "pathfinder": multi_pathfinder,
    "optimize": optimize,
    "dsvi": dsvi,
    "dsvi-diagonal": dsvi_diagonal,
    "dsvi-ard": dsvi_ard,
    "ssvb": ssvb,
}


def fit(
    target: Target,
    settings: Settings,
    init: Init = 2.0,
    progress: Listener = silent,
    journal: Journal = NULL_JOURNAL,
) -> Result:
    """Run the recipe that `settings.algorithm` names.

    Raises:
        InferenceError: settings do not go together, or no start was found.
    """
    refuse(settings)
    if target.dim == 0:
        return without_parameters(target, settings)
    return RECIPES[settings.algorithm](target, init, Context.of(settings, progress, journal))
