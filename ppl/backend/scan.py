"""Running a recurrence: in order for its values, all steps at once for its derivatives.

With the state before every step known from the run forward, the step may be linearised for all steps at once:
x_t = f_t(x_{t-1}) has the Jacobians J_t, and the adjoint of the state obeys the linear recurrence
a_t = g_t + J_{t+1}' a_{t+1}.  One pull-back of f by the a_t gives the adjoints of everything else.
(Griewank & Walther 2008, Evaluating Derivatives, section 3.2, with the steps of the tape taken in blocks.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import AUTOGRAD, Array, Namespace, pullback, record

Step = Callable[..., tuple[Array, ...]]
WIDEST_STATE = 24
"""Numbers of state above which the tape goes through the steps: their Jacobians would cost more."""


@dataclass(frozen=True)
class Scan:
    """One recurrence, with the library its step runs on, and the one for all steps at once."""

    step: Step
    batch: Step
    plain: Any
    traced: Any

    def run(
        self, lib: Any, start: Sequence[Array], entries: Sequence[Array], fixed: Sequence[Array]
    ) -> list[tuple[Array, ...]]:
        """The state after each step."""
        states, state = [], tuple(start)
        for entry in zip(*map(listed, entries), strict=True):
            state = self.step(lib, *state, *entry, *fixed)
            states.append(state)
        return states


def listed(x: Array) -> Sequence[Array]:
    """The entries; plain numbers as Python's own, which compute faster."""
    return x.tolist() if isinstance(x, np.ndarray) and x.ndim == 1 else x  # type: ignore[no-any-return]


def scan(
    xp: Namespace,
    lib: Any,
    plain: Callable[[], Any],
    step: Step,
    batch: Step,
    start: tuple[Array, ...],
    entries: tuple[Array, ...],
    fixed: tuple[Array, ...],
) -> tuple[Array, ...]:
    """Every state after each step, one array a state with the steps along its first axis.

    `step(lib, *state, *entry, *fixed)` gives the next state; `batch` is the same for all steps at once.
    """
    s = Scan(step, batch, plain(), lib)
    args = (*start, *entries, *fixed)
    boxes = [a for a in args if isbox(a)]
    if xp.scan is not None:
        read = lib.readable(fixed)
        return xp.scan(lambda *inputs: step(lib, *inputs, *read), start, entries)
    if xp is not AUTOGRAD or not boxes:
        states = s.run(s.plain, start, entries, fixed)
        return tuple(np.array(each) for each in zip(*states, strict=True))
    width = sum(int(np.size(xp.plain(a))) for a in start)
    if width > WIDEST_STATE or not on_one_tape(boxes):
        states = s.run(lib, start, entries, fixed)
        return tuple(xp.np.stack(each) for each in zip(*states, strict=True))
    return unpacked(xp, packed_scan(s, start, entries, fixed), [np.shape(xp.plain(a)) for a in start])


def on_one_tape(boxes: Sequence[Any]) -> bool:
    """Whether all are on the same tape, of a first derivative."""
    return len({a._trace for a in boxes}) == 1 and not any(isbox(a._value) for a in boxes)


def unpacked(xp: Namespace, whole: Array, shapes: Sequence[tuple[int, ...]]) -> tuple[Array, ...]:
    """The columns of (steps, width) that each state takes, in its own shape."""
    out, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        out.append(whole[:, at] if not shape else xp.np.reshape(whole[:, at : at + size], (-1, *shape)))
        at += size
    return tuple(out)


def packed(xp: Namespace, states: Sequence[Array]) -> Array:
    """States along their first axis as (steps, width)."""
    return xp.np.concatenate([xp.np.reshape(a, (np.shape(a)[0], -1)) for a in states], axis=1)


def packed_scan(
    s: Scan, start: tuple[Array, ...], entries: tuple[Array, ...], fixed: tuple[Array, ...]
) -> Array:
    """All states as one array, one entry of the tape."""
    args = (*start, *entries, *fixed)
    boxed = [i for i, a in enumerate(args) if isbox(a)]
    plain = [a._value if isbox(a) else a for a in args]
    first, last = len(start), len(start) + len(entries)
    begin = [np.asarray(a, dtype=float) for a in plain[:first]]
    states = s.run(s.plain, plain[:first], plain[first:last], plain[last:])
    after = [np.array(each, dtype=float) for each in zip(*states, strict=True)]
    before = [np.concatenate([b[None], a[:-1]]) for b, a in zip(begin, after, strict=True)]
    inputs = [*before, *plain[first:]]

    def adjoints(g: Array) -> list[Array]:
        jacobians = step_jacobians(s, inputs, first)
        weights, to_start = through_time(g, jacobians)
        parts = pull_back(s, inputs, [i for i in boxed if i >= first])(weights)
        starts = unpacked_start(to_start, begin)
        return [starts[i] if i < first else parts.pop(0) for i in boxed]

    return record([args[i] for i in boxed], packed(AUTOGRAD, after), adjoints)


def unpacked_start(flat: Array, begin: Sequence[Array]) -> list[Array]:
    ends = np.cumsum([b.size for b in begin])
    return [np.reshape(flat[e - b.size : e], b.shape) for b, e in zip(begin, ends, strict=True)]


def pull_back(
    s: Scan, inputs: Sequence[Array], differentiated: Sequence[int]
) -> Callable[[Array], list[Array]]:
    """The adjoints of some arguments of all steps at once, as a function of that of the states."""

    def steps(traced: list[Array]) -> Array:
        args = list(inputs)
        for i, box in zip(differentiated, traced, strict=True):
            args[i] = box
        return packed(AUTOGRAD, s.batch(s.traced, *args))

    return pullback(steps, [inputs[i] for i in differentiated])[1]


def step_jacobians(s: Scan, inputs: Sequence[Array], states: int) -> Array:
    """(steps, width, width): what each number of the state after a step owes to each before it."""
    pull = pull_back(s, inputs, range(states))
    steps = len(inputs[0])
    width = sum(int(np.prod(np.shape(b)[1:])) for b in inputs[:states])
    rows = []
    for k in range(width):
        g = np.zeros((steps, width))
        g[:, k] = 1.0
        rows.append(np.concatenate([np.reshape(p, (steps, -1)) for p in pull(g)], axis=1))
    return np.stack(rows, axis=1)


def through_time(g: Array, jacobians: Array) -> tuple[Array, Array]:
    """The adjoint of the state after every step, and that of the state at the start."""
    if g.shape[1] == 1:
        return through_time_alone(g, jacobians)
    out, carry = np.empty_like(g), np.zeros(g.shape[1])
    for t in range(len(g) - 1, -1, -1):
        out[t] = g[t] + carry
        carry = out[t] @ jacobians[t]
    return out, carry


def through_time_alone(g: Array, jacobians: Array) -> tuple[Array, Array]:
    """The same for a state of one number, in Python's own arithmetic."""
    out, carry = [], 0.0
    for each, slope in zip(g[::-1, 0].tolist(), jacobians[::-1, 0, 0].tolist(), strict=True):
        total = each + carry
        out.append(total)
        carry = total * slope
    return np.array(out[::-1])[:, None], np.array([carry])
