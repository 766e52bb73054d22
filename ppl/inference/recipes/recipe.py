"""What every recipe is: a target, a start and settings in, a Result out."""

from typing import Protocol

from ppl.inference.initialise.start import Init
from ppl.inference.objective.target import Target
from ppl.inference.recipes.result import Result
from ppl.inference.run.context import Context


class Recipe(Protocol):
    """A whole algorithm. `init` is a radius, a point (dim,) or an earlier q, as in `start.start_point`.

    The same settings and target give the same result to the last bit. Raises InferenceError where no start
    with a finite density is found; every other trouble is an outcome of the Result. What takes long is kept
    in the journal, and not done again where the journal has it. Ctrl-C leaves a Result of what there is.
    """

    def __call__(self, target: Target, init: Init, context: Context) -> Result: ...
