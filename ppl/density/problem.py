"""A posterior as checks and plans of a run read it: sizes, data, costs, structure."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.compilation.traits import Traits
from ppl.kernel.draws.names import Sized
from ppl.records import dataclass


@dataclass(frozen=True)
class Extent:
    """How large a point of R^dim and a row of draws are, without an evaluation and without their names."""

    dim: int
    variables: tuple[Sized, ...]
    """Parameters, transformed parameters and generated quantities."""

    @property
    def columns(self) -> int:
        """How many columns draws have."""
        return sum(v.count for v in self.variables)


@dataclass(frozen=True, eq=False)
class Problem:
    """What is known of a log density before a run: it takes one evaluation at the origin."""

    extent: Extent
    names: tuple[str, ...]
    """Names of the unconstrained elements (dim,)."""
    in_bounded_sets: NDArray[np.bool_]
    """Which of them (dim,) make a value of a set that is always bounded, as a simplex is."""
    data: Mapping[str, Any]
    """Numbers and arrays of the data block, by name."""
    traits: Traits
    width: int
    """How many numbers the largest array of an evaluation has."""
    loop_steps: int
    """How many steps an evaluation takes of loops that stayed loops."""
    is_updated: bool
    """Whether it is the density of an updated fit, which is not compiled by JAX."""
    is_timed: bool
    """Whether each run is timed, block by block."""

    @property
    def recurrence_calls(self) -> int:
        """About how many functions the steps of the longest recurrence call; 0 where there is none."""
        return int(self.traits.calls_of_a_step * self.width)
