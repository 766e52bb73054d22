"""The state of a compiled loop, and the arrays in which it goes in, round and out."""

from typing import Any

import jax
import numpy as np

from ppl.kernel.advi.optimise import State

Traced = Any


SHORT_ARRAY = 1_000
"""Numbers that cost less to be copied than an array of their own does to be carried."""


def packed(state: State, xp: Any = np) -> list[Traced]:
    """Its arrays, the short ones in one vector of doubles, which is the first.

    Every array that compiled code takes, carries and gives costs microseconds, as much as an iteration does.
    """
    arrays = [xp.asarray(leaf, float) for leaf in jax.tree_util.tree_leaves(state)]
    short = xp.concatenate([xp.ravel(a) for a in arrays if a.size <= SHORT_ARRAY])
    return [short, *(a for a in arrays if a.size > SHORT_ARRAY)]


def unpacked(arrays: list[Traced], like: State) -> State:
    """The state that was packed, in the shapes and types of another."""
    leaves, structure = jax.tree_util.tree_flatten(like)
    (short, *long), found, end = arrays, [], 0
    for size, leaf in zip(map(np.size, leaves), leaves, strict=True):
        if size > SHORT_ARRAY:
            found.append(long.pop(0))
            continue
        begin, end = end, end + size
        found.append(short[begin:end].reshape(np.shape(leaf)).astype(np.result_type(leaf)))
    state: State = jax.tree_util.tree_unflatten(structure, found)
    return state
