"""A recurrence of many draws: in order for its values, all steps of all draws at once for its derivatives.

As scan.py has it for one draw; every array has the draws before the steps.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import AUTOGRAD, NUMPY, Array, Namespace, pullback, record
from ppl.backend.per_draw import PerDraw, beside, laid_out, number_of_draws
from ppl.backend.scan import Scan

MOST_IN_JACOBIANS = 1 << 22
"""Numbers in the Jacobians of all steps above which the tape goes through the steps instead."""


def scan(
    xp: Namespace, s: Scan, start: Sequence[Any], entries: Sequence[Any], fixed: Sequence[Any]
) -> tuple[Any, ...]:
    """Every state after each step, one array a state; some argument differs from draw to draw.

    `s.plain` and `s.traced` are libraries that take PerDraw values.
    """
    args = (*start, *entries, *fixed)
    if xp is AUTOGRAD and is_packable(args, start, entries):
        return unpacked(xp, packed_scan(s, start, entries, fixed), list(map(np.shape, start)))
    states = s.run(s.traced, start, entries, fixed)
    draws = number_of_draws(args)
    return tuple(
        beside(xp, items) if number_of_draws(items) else PerDraw(xp, laid_out(xp.np.stack(items), draws))
        for items in zip(*states, strict=True)
    )


def is_packable(args: Sequence[Any], start: Sequence[Any], entries: Sequence[Any]) -> bool:
    """Whether arrays alone go in, some of them on one tape, and the steps' Jacobians are not too many."""
    boxes = [a.each for a in args if is_boxed(a)]
    if not boxes or any(isinstance(a, list | tuple) for a in args) or any(isbox(b._value) for b in boxes):
        return False
    width: int = sum(math.prod(np.shape(a)) for a in start)
    jacobians: int = number_of_draws(args) * len(entries[0]) * width**2
    return jacobians <= MOST_IN_JACOBIANS


def is_boxed(x: Any) -> bool:
    return isinstance(x, PerDraw) and isbox(x.each)


def plain(x: Any) -> Any:
    """The value of an argument, off the tape."""
    return PerDraw(NUMPY, x.xp.plain(x.each)) if isinstance(x, PerDraw) else x


def packed_scan(s: Scan, start: Sequence[Any], entries: Sequence[Any], fixed: Sequence[Any]) -> Array:
    """All states as one array (draws, steps, width), one entry of the tape."""
    args = (*start, *entries, *fixed)
    boxed, draws, first = [i for i, a in enumerate(args) if is_boxed(a)], number_of_draws(args), len(start)
    inputs = [plain(a) for a in args]
    last = first + len(entries)
    states = s.run(s.plain, inputs[:first], inputs[first:last], inputs[last:])
    after = [np.stack([laid_out(x, draws) for x in each], axis=1) * 1.0 for each in zip(*states, strict=True)]
    for i, each in enumerate(after):
        begin = laid_out(inputs[i], draws)
        inputs[i] = PerDraw(NUMPY, np.concatenate([begin[:, None], each[:, :-1]], axis=1))

    def adjoints(g: Array) -> list[Array]:
        weights, to_start = through_time(g, step_jacobians(s, inputs, first, draws))
        parts = pull_back(s, inputs, [i for i in boxed if i >= first], draws)(weights)
        starts = split(to_start, [x.shape[1:] for x in inputs[:first]])
        return [starts[i] if i < first else parts.pop(0) for i in boxed]

    return record([args[i].each for i in boxed], packed(AUTOGRAD, after, draws), adjoints)


def packed(xp: Namespace, states: Sequence[Array], draws: int) -> Array:
    """States (draws, steps, ...) side by side."""
    return xp.np.concatenate([xp.np.reshape(x, (draws, np.shape(x)[1], -1)) for x in states], axis=2)


def unpacked(xp: Namespace, whole: Array, shapes: Sequence[tuple[int, ...]]) -> tuple[PerDraw, ...]:
    """The states that were packed, each along the steps in its own shape."""
    return tuple(PerDraw(xp, x) for x in split(whole, shapes, xp))


def split(whole: Array, shapes: Sequence[tuple[int, ...]], xp: Namespace = NUMPY) -> list[Array]:
    """The parts of the last axis that arrays of these shapes take, in their own shapes."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    lead = np.shape(whole)[:-1]
    return [
        xp.np.reshape(whole[..., end - math.prod(shape) : end], (*lead, *shape))
        for end, shape in zip(ends, shapes, strict=True)
    ]


def pull_back(
    s: Scan, inputs: Sequence[Any], differentiated: Sequence[int], draws: int
) -> Callable[[Array], list[Array]]:
    """The adjoints of some arguments of all steps at once, as a function of that of the states."""

    def steps(traced: list[Array]) -> Array:
        args = list(inputs)
        for i, box in zip(differentiated, traced, strict=True):
            args[i] = PerDraw(AUTOGRAD, box)
        return packed(AUTOGRAD, [laid_out(x, draws) for x in s.batch(s.traced, *args)], draws)

    return pullback(steps, [inputs[i].each for i in differentiated])[1]


def step_jacobians(s: Scan, inputs: Sequence[Any], states: int, draws: int) -> Array:
    """(steps, draws, width, width): what each number of the state after a step owes to each before it."""
    pull = pull_back(s, inputs, range(states), draws)
    steps, width = len(inputs[0]), sum(math.prod(x.shape[1:]) for x in inputs[:states])
    out = np.empty((steps, draws, width, width))
    for k in range(width):
        g = np.zeros((draws, steps, width))
        g[:, :, k] = 1.0
        out[:, :, k] = np.swapaxes(packed(NUMPY, pull(g), draws), 0, 1)
    return out


def through_time(g: Array, jacobians: Array) -> tuple[Array, Array]:
    """The adjoint (draws, steps, width) of the state after every step, and that of the state at the start."""
    out, carry = np.empty_like(g), np.zeros((len(g), 1, g.shape[2]))
    for t in range(len(jacobians) - 1, -1, -1):
        out[:, t] = g[:, t] + carry[:, 0]
        carry = np.matmul(out[:, t, None], jacobians[t])
    return out, carry[:, 0]
