"""What every recipe is: a target, settings and a start in, a Result out."""

from typing import Protocol

from ppl.inference.progress import Listener
from ppl.inference.recipes.result import Result
from ppl.inference.settings import Settings
from ppl.inference.target import Array, Target


class Recipe(Protocol):
    """A whole algorithm. `init` is a radius or a point (dim,), as in `start.start_point`.

    The same settings and target give the same result to the last bit. Raises InferenceError where no start
    with a finite density is found; every other trouble is an outcome of the Result.
    """

    def __call__(
        self, target: Target, settings: Settings, init: float | Array, progress: Listener
    ) -> Result: ...
