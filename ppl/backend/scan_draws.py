"""A recurrence of many draws: in order for its values, all steps of all draws at once for its derivatives.

As scan.py has it for one draw; every array has the draws before the steps.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import AUTOGRAD, NUMPY, Array, Namespace, pullback, record, stack
from ppl.backend.scan import Scan, Step

MOST_IN_JACOBIANS = 1 << 22
"""Numbers in the Jacobians of all steps above which the tape goes through the steps instead."""


def scan_each(
    xp: Namespace,
    lib: Any,
    plain: Callable[[], Any],
    step: Step,
    batch: Step,
    start: Sequence[Array],
    entries: Sequence[Array],
    fixed: Sequence[Array],
    varies: Sequence[bool],
) -> tuple[Array, ...]:
    """Every state of every draw after each step, (draws, steps, ...).

    `varies` says which entries have the axis of the draws, before that of the steps.
    """
    s = Scan(step, batch, plain(), lib)
    args = (*start, *entries, *fixed)
    steps = next(np.shape(a)[int(m)] for a, m in zip(entries, varies, strict=False))
    if xp is AUTOGRAD and packs(args, start, steps):
        shapes = [np.shape(a)[1:] for a in start]
        return tuple(split(packed_scan_each(s, start, entries, fixed, varies), shapes, xp))
    states = run_each(s, s.traced, start, entries, fixed, varies)
    return tuple(stack(1, *each) for each in zip(*states, strict=True))


def packs(args: Sequence[Array], start: Sequence[Array], steps: int) -> bool:
    """Whether arrays alone go in, some of them on one tape, and the steps' Jacobians are not too many."""
    boxes = [a for a in args if isbox(a)]
    if not boxes or any(isbox(b._value) for b in boxes) or any(isinstance(a, list | tuple) for a in args):
        return False
    width: int = sum(math.prod(np.shape(a)[1:]) for a in start)
    return len(start[0]) * steps * width**2 <= MOST_IN_JACOBIANS


def run_each(
    s: Scan,
    lib: Any,
    start: Sequence[Array],
    entries: Sequence[Array],
    fixed: Sequence[Array],
    varies: Sequence[bool],
) -> list[tuple[Array, ...]]:
    """The states after each step, step by step."""
    states, state = [], tuple(start)
    own = varies[: len(entries)]
    steps = next(np.shape(a)[int(m)] for a, m in zip(entries, own, strict=True))
    for t in range(steps):
        entry = [a[:, t] if m else a[t] for a, m in zip(entries, own, strict=True)]
        state = s.step(lib, *state, *entry, *fixed)
        states.append(state)
    return states


def packed_scan_each(
    s: Scan,
    start: Sequence[Array],
    entries: Sequence[Array],
    fixed: Sequence[Array],
    varies: Sequence[bool],
) -> Array:
    """All states as one array (draws, steps, width), one entry of the tape."""
    args = (*start, *entries, *fixed)
    boxed, draws, first = [i for i, a in enumerate(args) if isbox(a)], len(start[0]), len(start)
    inputs = [a._value if isbox(a) else a for a in args]
    last = first + len(entries)
    states = run_each(s, s.plain, inputs[:first], inputs[first:last], inputs[last:], varies)
    after = [np.stack(each, axis=1) * 1.0 for each in zip(*states, strict=True)]
    for i, each in enumerate(after):
        inputs[i] = np.concatenate([np.asarray(inputs[i])[:, None], each[:, :-1]], axis=1)

    def pull_back(differentiated: Sequence[int]) -> Callable[[Array], list[Array]]:
        def steps(traced: list[Array]) -> Array:
            given = list(inputs)
            for i, box in zip(differentiated, traced, strict=True):
                given[i] = box
            return packed(AUTOGRAD, s.batch(s.traced, *given), draws)

        return pullback(steps, [inputs[i] for i in differentiated])[1]

    def adjoints(g: Array) -> list[Array]:
        weights, to_start = through_time(g, jacobians())
        parts = pull_back([i for i in boxed if i >= first])(weights)
        starts = split(to_start, [x.shape[2:] for x in inputs[:first]])
        return [starts[i] if i < first else parts.pop(0) for i in boxed]

    def jacobians() -> Array:
        pull = pull_back(range(first))
        steps, width = after[0].shape[1], sum(math.prod(x.shape[2:]) for x in after)
        out = np.empty((steps, draws, width, width))
        for k in range(width):
            g = np.zeros((draws, steps, width))
            g[:, :, k] = 1.0
            out[:, :, k] = np.swapaxes(packed(NUMPY, pull(g), draws), 0, 1)
        return out

    return record([args[i] for i in boxed], packed(AUTOGRAD, after, draws), adjoints)


def packed(xp: Namespace, states: Sequence[Array], draws: int) -> Array:
    """States (draws, steps, ...) side by side."""
    return xp.np.concatenate([xp.np.reshape(x, (draws, np.shape(x)[1], -1)) for x in states], axis=2)


def split(whole: Array, shapes: Sequence[tuple[int, ...]], xp: Namespace = NUMPY) -> list[Array]:
    """The parts of the last axis that arrays of these shapes take, in their own shapes."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    lead = np.shape(whole)[:-1]
    return [
        xp.np.reshape(whole[..., end - math.prod(shape) : end], (*lead, *shape))
        for end, shape in zip(ends, shapes, strict=True)
    ]


def through_time(g: Array, jacobians: Array) -> tuple[Array, Array]:
    """The adjoint (draws, steps, width) of the state after every step, and that of the state at the start."""
    out, carry = np.empty_like(g), np.zeros((len(g), 1, g.shape[2]))
    for t in range(len(jacobians) - 1, -1, -1):
        out[:, t] = g[:, t] + carry[:, 0]
        carry = np.matmul(out[:, t, None], jacobians[t])
    return out, carry[:, 0]
