"""Which point of a noisy path is the answer: the last, or an average over its tail."""

from ppl.kernel.advi.target import Array
from ppl.records import dataclass


@dataclass(frozen=True)
class Last:
    """The last iterate, as in the ADVI paper."""

    def update(self, average: Array, params: Array, iteration: int) -> Array:
        """The answer after iteration 1, 2, ... went to `params`."""
        return params


AVERAGED_TAIL = 8.0
"""The power by which an average is over the tail of the path."""


@dataclass(frozen=True)
class Polynomial:
    """Weights that grow as iteration^power, so that old iterates fade (Shamir and Zhang 2013, section 4)."""

    power: float = AVERAGED_TAIL

    def update(self, average: Array, params: Array, iteration: int) -> Array:
        weight = (self.power + 1) / (iteration + self.power)
        return average + weight * (params - average)


Averaging = Last | Polynomial
"""A pure rule that keeps one running answer (size,)."""
