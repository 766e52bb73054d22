"""The third stage: from where the loop ended to the maximum of the ELBO on fixed draws."""

import math
from dataclasses import dataclass

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.fixed_draws import fit_fixed_draws, fixed_noise, negative_elbo
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.progress import Listener
from ppl.inference.starting import Start
from ppl.inference.target import Array

COMPARED = 32


@dataclass(frozen=True)
class Polished:
    """The params (size,) in the start's coordinates, how it ended, and a note or ""."""

    params: Array
    outcome: Outcome
    note: str = ""


def polish(
    start: Start, params: Array, before: Outcome, rng: np.random.Generator, listen: Listener
) -> Polished:
    """Maximise the ELBO on fixed draws from `params` or, where that was better, from the start.

    Where it fails, or is stopped by hand, the loop's answer and outcome stay.
    """
    z = fixed_noise(COMPARED, start.family.noise_dim, rng)
    begin = min(
        (params, start.params), key=lambda p: _finite(negative_elbo(start.target, start.family, z, 0.0)(p)[0])
    )
    try:
        found = fit_fixed_draws(start.target, start.family, begin, rng, listen=listen, metric=start.metric)
    except InferenceError as error:
        return Polished(params, before, f"Not polished: {error}")
    except KeyboardInterrupt:
        return Polished(params, Outcome(Ending.INTERRUPTED, "stopped by hand in the polish"))
    return Polished(found.params, found.outcome)


def _finite(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf
