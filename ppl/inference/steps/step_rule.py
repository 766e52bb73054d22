"""What the loop asks of a step rule."""

from typing import Protocol, TypeVar

from ppl.inference.target import Array

State = TypeVar("State")


class StepRule(Protocol[State]):
    """A pure rule that climbs: nothing is mutated, the state goes in and comes out.

    One that is plain arithmetic, without a branch, can be compiled as it stands (ppl.compiled.climb).
    """

    def init(self, params: Array) -> State:
        """The state before the first step."""
        ...

    def step(self, state: State, params: Array, gradient: Array) -> tuple[Array, State]:
        """New params and state after one step along a noisy gradient (size,)."""
        ...
