"""A likelihood that is a function of the program, as Laplace's approximation asks for it.

Its gradient, Hessian and third derivatives come of tapes of tapes, over all draws at once: each draw has a
theta of its own, so the derivatives of the sum over draws are those of each.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ppl.arrays import AUTOGRAD, Array, combs, pullback
from ppl.floats import Floats
from ppl.optimise.solver_functions import ProgramField, Pull
from ppl.records import dataclass
from ppl.stdlib.laplace.own import Curve
from ppl.stdlib.solvers.field import DrawNumbers

Scalars = Callable[[Array], Array]
"""From theta (draws, n) one number for each draw."""


def gradient(f: Scalars, theta: Array) -> Array:
    """Of each draw's number, itself to be differentiated where theta is on a tape."""
    value, pull = pullback(lambda parts: f(parts[0]), [theta])
    return pull(np.ones(np.shape(value)))[0]


def gradient_and_pull(f: Scalars, theta: Array) -> tuple[Array, Callable[[Array], Array]]:
    """The gradient, and the product of each draw's Hessian with a vector."""
    first, pull = pullback(lambda parts: gradient(f, parts[0]), [theta])
    return first, lambda v: pull(v)[0]


@dataclass(frozen=True)
class OwnLikelihood:
    """f(theta, ...) of the program; `field` has its further arguments."""

    name: str
    field: ProgramField

    def at(self, draws: DrawNumbers, at_leaves: Sequence[Any] = ()) -> Scalars:
        """f of theta at the draws; `at_leaves` are its other arguments, or else their plain values."""
        shared = self.field.at_points(at_leaves or [leaf.plain for leaf in self.field.leaves], draws)
        return lambda theta: self.field.function.traced(theta, *shared)

    def curve(self, theta: Floats, draws: DrawNumbers, block: int) -> Curve:
        f = self.at(draws)
        first, times_hessian = gradient_and_pull(f, theta)
        columns = [times_hessian(v).reshape(len(theta), -1, block) for v in combs(block, theta.shape)]
        hessian = np.stack(columns, axis=-1)
        return Curve(np.asarray(f(theta))[:, None], first, -0.5 * (hessian + np.swapaxes(hessian, -1, -2)))

    def times_hessian(self, theta: Floats, draws: DrawNumbers, v: Floats) -> Floats:
        _, times = gradient_and_pull(self.at(draws), theta)
        return np.asarray(times(np.broadcast_to(v, (len(theta), len(v)))))

    def third(self, theta: Floats, draws: DrawNumbers, sigma: Floats) -> "Third":
        """The tape of the trace of Sigma times the Hessian; `sigma` is in blocks, (draws, n / m, m, m)."""
        return Third(self._tape(theta, draws, sigma), theta.shape)

    def _tape(self, theta: Floats, draws: DrawNumbers, sigma: Floats) -> Pull:
        """Of f, half the trace, and f's gradient, side by side: (draws, 2 + n)."""

        def run(traced: list[Array]) -> Array:
            here, *boxes = traced
            f = self.at(draws, self.field.values_with(boxes))
            first, times_hessian = gradient_and_pull(f, here)
            trace = np.zeros(len(draws))
            for i, v in enumerate(combs(sigma.shape[-1], theta.shape)):
                column = sigma[..., i].reshape(theta.shape)
                trace = trace + AUTOGRAD.np.sum(times_hessian(v) * column, axis=1)
            return AUTOGRAD.np.concatenate([f(here)[:, None], 0.5 * trace[:, None], first], axis=1)

        return pullback(run, [theta, *self.field.differentiated_values])[1]


@dataclass(frozen=True)
class Third:
    """The part of the gradient from the third derivatives, and from f's further arguments, at the modes."""

    through: Pull
    shape: tuple[int, ...]

    def by_theta(self) -> Floats:
        """The derivative of half the trace of Sigma times the Hessian, (draws, n)."""
        weights = np.zeros((self.shape[0], 2 + self.shape[1]))
        weights[:, 1] = 1.0
        return np.asarray(self.through(weights)[0])

    def pull(self, g: Floats, mode_shift: Floats) -> list[Any]:
        """The adjoints of f's further arguments, where `g` (draws,) are those of the values.

        They are those of f, of half the trace, and of f's gradient times `mode_shift` (draws, n).
        """
        weights = g[:, None] * np.concatenate([np.ones((len(g), 2)), mode_shift], axis=1)
        return self.through(weights)[1:]
