"""Whole algorithms, one file a recipe: each fills slots with parts and leaves a Result."""

from collections.abc import Callable, Mapping
from importlib import import_module

from ppl.kernel.advi.context import NULL_JOURNAL, Journal
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.outcome import Listener, silent
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.target import Target
from ppl.methods.recipes.refusals import refuse
from ppl.methods.recipes.result import Result, without_parameters
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings

Recipe = Callable[[Target, Init, Context], Result]
"""A whole algorithm. `init` is a radius, a point (dim,) or an earlier q, as in `start.start_point`."""
RECIPES: Mapping[str, str] = {
    "auto": "advi:staged",
    **{name: "advi:staged" for name in FAMILIES if name != "diagonal"},  # which is dsvi-diagonal's
    "nested": "nested:nested",
    "fixed-draws": "fixed_draws:fixed_draws",
    "laplace": "laplace:laplace",
    "pathfinder": "multi_pathfinder:multi_pathfinder",
    "optimize": "optimize:optimize",
    "dsvi": "dsvi:dsvi",
    "dsvi-diagonal": "dsvi:dsvi_diagonal",
    "dsvi-ard": "dsvi:dsvi_ard",
    "ssvb": "ssvb:ssvb",
}
"""The function of each algorithm and the module here that it is in, which is imported when it runs."""


def recipe_of(algorithm: str) -> Recipe:
    """The recipe of a name in RECIPES."""
    module, _, function = RECIPES[algorithm].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), function)


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
    return recipe_of(settings.algorithm)(target, init, Context.of(settings, progress, journal))
