"""Which backend computes a log density: autograd, always there, or JAX, the extra "jax"."""

from importlib.util import find_spec

from ppl.errors import InferenceError
from ppl.inference.target import Target
from ppl.results.posterior import AsTarget
from ppl.results.settings import Settings

MOST_NUMBERS = 10_000
"""Evaluations that work through fewer numbers are left to autograd.

JAX takes a second to import and one to three to compile. A default fit looks at some ten thousand points, and
at a hundred numbers a microsecond autograd is done by then.
"""

WITHOUT_JAX = 'backend = "jax" needs JAX, which is not installed: pip install "ppl[jax]".'


def on_backend(target: AsTarget, settings: Settings) -> Target:
    """The target as the backend that `settings` names computes it; "auto" takes JAX where that is faster.

    A target that "auto" leaves to autograd because JAX cannot run it says so in its `note`.

    Raises:
        InferenceError: JAX is asked for by name, and is not there, or cannot run the program.
    """
    if settings.backend == "autograd" or (settings.backend == "auto" and not is_worth_it(target, settings)):
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


def is_worth_it(target: AsTarget, settings: Settings) -> bool:
    """Whether JAX is there and would be done first, its compilation included.

    Runs beside each other are processes, each of which would have to compile.
    """
    enough = target.posterior.sizes.total > MOST_NUMBERS
    return enough and settings.runs == 1 and find_spec("jax") is not None
