"""Many iterations in one call, for targets that can take them by themselves."""

from collections.abc import Callable
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.estimators.reparameterised import reparameterised
from ppl.kernel.advi.families.standard import NORMAL
from ppl.kernel.advi.subsampling import ALL_ROWS, Rows, rows_of
from ppl.kernel.advi.target import Target

MOST_NOISE = 2_000_000
"""Numbers that the noise of one call may have."""


class AffineMap(NamedTuple):
    """The map u = centre + factor v from the coordinates of the run, and its log-Jacobian."""

    centre: Floats
    factor: Floats
    log_jacobian: float


FusedSteps = Callable[[Any, Any, Floats, int, AffineMap | None, Rows | None], Any]
"""The method `fused_steps` of a target that takes iterations in compiled code.

Of (algorithm, run, noise, count, place, rows) it gives the run after `count` iterations with the
reparameterised gradient, or those before a number on the way is not finite, on the first of the noise
(k, grad_samples, noise_dim) and of the rows (k, B) of a subsampled target; None where it would not pay.
`place` is None where the coordinates are u itself.
"""


def fused_steps(algorithm: Any, target: Target, run: Any, rng: np.random.Generator, end: int) -> Any:
    """The run on its way to iteration `end`; None where the target cannot take it further.

    It goes as far as memory allows and numbers are finite. The noise is drawn in the order of single
    iterations, so that it makes no difference to the answer, but for rounding. `algorithm` is an
    optimise.Algorithm, `run` an optimise.Run.
    """
    inner, place = target, None
    if isinstance(target, Scaled):
        inner, place = target.target, AffineMap(target.centre, target.factor, target.log_jacobian)
    taken: FusedSteps | None = inner.fused_steps
    if taken is None or algorithm.estimator is not reparameterised:
        return None
    family, n = algorithm.family, algorithm.grad_samples
    room = min(algorithm.eval_elbo, max(1, MOST_NOISE // (n * family.noise_dim)))
    count = min(room, end - run.iteration)
    rows = None if algorithm.rows is ALL_ROWS else rows_ahead(algorithm, inner, run.iteration, count)
    count = count if rows is None else len(rows)
    before = rng.bit_generator.state
    noise = np.zeros((room, n, family.noise_dim))
    noise[:count] = noise_ahead(family, n, count, rng)
    ahead = taken(algorithm, run, noise, count, place, None if rows is None else padded(rows, room))
    done = 0 if ahead is None else ahead.iteration - run.iteration
    if done < count:
        rng.bit_generator.state = before
        noise_ahead(family, n, done, rng)
    return ahead if done else None


def noise_ahead(family: Any, n: int, count: int, rng: np.random.Generator) -> Floats:
    """The noise of so many iterations (count, n, noise_dim): each draws n, one after the other."""
    if family.standard == NORMAL:  # its numbers come in that order in any case
        return rng.standard_normal((count, n, family.noise_dim))
    return np.array([family.noise(n, rng) for _ in range(count)]).reshape(count, n, family.noise_dim)


def rows_ahead(algorithm: Any, target: Any, iteration: int, count: int) -> list[Rows]:
    """The rows of the next iterations, as far as their batches are of one size."""
    batches = [algorithm.rows.rows(rows_of(target), iteration + k) for k in range(count)]
    return list(takewhile(lambda rows: len(rows) == len(batches[0]), batches))


def padded(batches: list[Rows], room: int) -> Rows:
    """As an array of `room` batches, so that every call is compiled for the same."""
    return np.array([*batches, *[batches[0]] * (room - len(batches))])
