"""Which backend computes a log density: autograd, always there, or JAX, the extra "jax"."""

from importlib.util import find_spec

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.target import Target
from ppl.results.posterior import AsTarget, Posterior
from ppl.results.settings import Settings

LONG = 200
"""A recurrence over arrays of at least as many numbers is one for JAX, which runs its steps ten times faster.

A default fit looks at some ten thousand points; JAX takes two to five seconds to import and compile.
"""
LARGE = 1_000_000
"""So is a program with a matrix of data that large, which JAX reads once for a batch of points.

For other programs autograd would be done first: NumPy takes logarithms of long arrays faster than JAX does.
"""

WITHOUT_JAX = 'backend = "jax" needs JAX, which is not installed: pip install "ppl[jax]".'


def on_backend(target: AsTarget, settings: Settings) -> Target:
    """The target as the backend that `settings` names computes it; "auto" takes JAX where that is faster.

    A target that "auto" leaves to autograd because JAX cannot run it says so in its `note`.

    Raises:
        InferenceError: JAX is asked for by name, and is not there, or cannot run the program.
    """
    if settings.backend == "autograd" or (
        settings.backend == "auto" and not is_worth_it(target.posterior, settings)
    ):
        return target
    if find_spec("jax") is None:
        raise InferenceError(WITHOUT_JAX)
    from ppl.compiled.device import device_of, keep_compilations
    from ppl.compiled.reach import OutOfReach
    from ppl.compiled.target import compiled_target

    keep_compilations()
    try:
        return compiled_target(target.posterior, target.jacobian, device_of(settings.device))
    except OutOfReach as why:
        if settings.backend == "jax":
            raise InferenceError(f'backend = "jax" cannot run this program: {why}.') from None
        return AsTarget(target.posterior, target.jacobian, f"backend: autograd, because {why}.")


def is_worth_it(posterior: Posterior, settings: Settings) -> bool:
    """Whether JAX is there and would be done first, its compilation included.

    Runs beside each other are processes, each of which would have to compile.
    """
    if find_spec("jax") is None or settings.runs > 1:
        return False
    matrices = (np.size(x) for x in posterior.data.values() if np.ndim(x) == 2)
    recurs = posterior.model.recurs and posterior.width >= LONG
    return settings.device == "gpu" or recurs or max(matrices, default=0) >= LARGE
