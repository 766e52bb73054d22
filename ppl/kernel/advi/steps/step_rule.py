"""The interface of step rules."""

from typing import Protocol, TypeVar

from ppl.arrays import NUMPY, Namespace
from ppl.floats import Floats
from ppl.records import dataclass


@dataclass(frozen=True)
class Last:
    """The last iterate, as in the ADVI paper."""

    def update(self, average: Floats, params: Floats, iteration: int) -> Floats:
        """The answer after iteration 1, 2, ... went to `params`."""
        return params


AVERAGED_TAIL = 8.0
"""The power by which an average is over the tail of the path."""


@dataclass(frozen=True)
class Polynomial:
    """Weights that grow as iteration^power, so that old iterates fade (Shamir and Zhang 2013, section 4)."""

    power: float = AVERAGED_TAIL

    def update(self, average: Floats, params: Floats, iteration: int) -> Floats:
        weight = (self.power + 1) / (iteration + self.power)
        return average + weight * (params - average)


Averaging = Last | Polynomial
"""A pure rule that keeps one running answer (size,)."""


StepState = TypeVar("StepState")


class StepRule(Protocol[StepState]):
    """A pure rule that climbs: nothing is mutated, the state goes in and comes out.

    ppl.jax_backend.iterations compiles the step as it stands: what is more than arithmetic is left to `xp`,
    and no branch depends on an array.
    """

    def init(self, params: Floats) -> StepState:
        """The state before the first step."""

    def step(
        self, state: StepState, params: Floats, gradient: Floats, xp: Namespace = NUMPY
    ) -> tuple[Floats, StepState]:
        """New params and state after one step along a noisy gradient (size,)."""
