"""Branches in the step of a scan, which is compiled once for all steps and must go either way in each.

The step is Python, and cannot go on where a branch depends on what is traced.  It stops there, and is run
again both ways from its beginning, as branches of a `jax.lax.cond`, until a run decides all that it meets.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

Step = Callable[[], tuple[Any, ...]]


class Undecided(Exception):
    """A branch that the run under way has not decided, with its test, which is traced."""

    def __init__(self, test: Any):
        super().__init__("a branch is undecided")
        self.test = test


@dataclass
class Decisions:
    """How the branches come out that each of the runs under way has still to meet, the innermost run last."""

    runs: list[list[bool]] = field(default_factory=list)

    def decide(self, test: Any) -> Any:
        """A test, or what it is taken to be where it is traced.

        Raises:
            Undecided: this run has not been told.
        """
        if not isinstance(test, jax.Array):
            return test
        if not self.runs[-1]:
            raise Undecided(test)
        return self.runs[-1].pop(0)

    def decided(self, step: Step, taken: tuple[bool, ...] = ()) -> tuple[Any, ...]:
        """What the step gives, whichever way its branches go after those taken."""
        self.runs.append([*taken])
        try:
            return tuple(jnp.asarray(x, dtype=float) for x in step())
        except Undecided as met:
            test = met.test
        finally:
            self.runs.pop()
        ways = (lambda: self.decided(step, (*taken, True)), lambda: self.decided(step, (*taken, False)))
        found: tuple[Any, ...] = jax.lax.cond(test, *ways)
        return found
