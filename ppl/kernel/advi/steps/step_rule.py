"""What the loop asks of a step rule."""

from typing import Protocol, TypeVar

from ppl.arrays import NUMPY, Namespace
from ppl.kernel.advi.target import Array

State = TypeVar("State")


class StepRule(Protocol[State]):
    """A pure rule that climbs: nothing is mutated, the state goes in and comes out.

    ppl.jax_backend.iterations compiles the step as it stands: what is more than arithmetic is left to `xp`,
    and no branch depends on an array.
    """

    def init(self, params: Array) -> State:
        """The state before the first step."""

    def step(
        self, state: State, params: Array, gradient: Array, xp: Namespace = NUMPY
    ) -> tuple[Array, State]:
        """New params and state after one step along a noisy gradient (size,)."""
