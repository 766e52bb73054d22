"""Recurrences inside library functions."""

from collections.abc import Callable, Sequence

import numpy as np

from ppl.arrays import Array, Namespace, State


def states_after(
    xp: Namespace, step: Callable[..., State], start: State, entries: Sequence[Array]
) -> tuple[Array, ...]:
    """Every state after each step(*state, *entry), the steps along the first axis.

    A state keeps the shape that it has in `start`. Where the namespace has a scan, the step is compiled once.
    """
    if xp.scan is not None:
        return xp.scan(step, start, entries)
    states, state = [], start
    for entry in zip(*entries, strict=True):
        state = step(*state, *entry)
        states.append(state)
    if not states:
        return tuple(np.zeros((0, *np.shape(x))) for x in start)
    return tuple(xp.np.stack(each) for each in zip(*states, strict=True))
