"""Many iterations in one call, for targets that can take them by themselves."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ppl.inference.coordinates import Scaled
from ppl.inference.estimators.reparameterised import reparameterised
from ppl.inference.subsampling import ALL_ROWS
from ppl.inference.target import Array, Target

MOST_NUMBERS = 2_000_000
"""How many numbers the noise of one leap may have."""


class Place(NamedTuple):
    """The map u = centre + factor v from the coordinates of the run, and its log-Jacobian."""

    centre: Array
    factor: Array
    log_jacobian: float


@runtime_checkable
class Leaping(Protocol):
    """A target that takes iterations in compiled code.

    `leap(algorithm, run, noise, count, place)` is the run after `count` iterations with the reparameterised
    gradient, on the first of the noise (k, grad_samples, noise_dim); None where it does not know a part of
    the algorithm, or a number on the way is not finite. `place` is None where the coordinates are u itself.
    """

    def leap(self, algorithm: Any, run: Any, noise: Array, count: int, place: Place | None) -> Any: ...


def leap(algorithm: Any, target: Target, run: Any, rng: np.random.Generator) -> Any:
    """The run at its next checkpoint, or as near to it as memory allows; None where the target cannot leap.

    The noise is drawn in the order of single iterations, so that it makes no difference to the answer, but
    for rounding. `algorithm` is an optimise.Algorithm, `run` an optimise.Run.
    """
    inner, place = _placed(target)
    plain = algorithm.estimator is reparameterised and algorithm.rows is ALL_ROWS
    if not (isinstance(inner, Leaping) and plain):
        return None
    family, n = algorithm.family, algorithm.grad_samples
    room = min(algorithm.eval_elbo, max(1, MOST_NUMBERS // (n * family.noise_dim)))
    count = min(room, checkpoint_after(algorithm, run.iteration) - run.iteration)
    before = rng.bit_generator.state
    noise = np.zeros((room, n, family.noise_dim))
    for k in range(count):
        noise[k] = family.noise(n, rng)
    ahead = inner.leap(algorithm, run, noise, count, place)
    if ahead is None:
        rng.bit_generator.state = before
    return ahead


def checkpoint_after(algorithm: Any, iteration: int) -> int:
    """The iteration at which the ELBO is next estimated, or the last."""
    return int(min(algorithm.iterations, (iteration // algorithm.eval_elbo + 1) * algorithm.eval_elbo))


def _placed(target: Target) -> tuple[Target, Place | None]:
    if isinstance(target, Scaled):
        return target.target, Place(target.centre, target.factor, target.log_jacobian)
    return target, None
