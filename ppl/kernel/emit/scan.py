"""Running a recurrence: in order for its values, all steps at once for its derivatives.

With the state before every step known from the run forward, the step may be linearised for all steps at once:
x_t = f_t(x_{t-1}) has the Jacobians J_t, and the adjoint of the state obeys the linear recurrence
a_t = g_t + J_{t+1}' a_{t+1}.  One pull-back of f by the a_t gives the adjoints of everything else.
(Griewank & Walther 2008, Evaluating Derivatives, section 3.2, with the steps of the tape taken in blocks.)

The axes of many draws and of loops around, where there are any, stand before that of the steps.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import AUTOGRAD, NUMPY, Adjoints, Array, Joint, Namespace, combs, is_traced, pullback
from ppl.records import dataclass

Arrays = Sequence[Array]
EmittedStep = Callable[..., tuple[Array, ...]]
WIDEST_STATE = 24
"""Numbers of state above which the tape goes through the steps: their Jacobians would cost more."""
MOST_IN_JACOBIANS = 1 << 22
"""Of many draws: numbers in the Jacobians of all steps above which the tape goes through the steps."""


@dataclass(frozen=True)
class Scan:
    """One recurrence, with the library its step runs on, and the one for all steps at once.

    `outer` axes of the states stand before that of the steps, and `over` axes of each entry.
    """

    step: EmittedStep
    batch: EmittedStep | None
    plain: Any
    traced: Any
    outer: int = 0
    over: tuple[int, ...] = ()

    @property
    def each(self) -> tuple[slice, ...]:
        """The index of all that stands before the steps."""
        return (slice(None),) * self.outer

    def places(self, entries: Arrays) -> Sequence[int]:
        """The axis of the steps in each entry."""
        return self.over or (0,) * len(entries)

    def run(self, lib: Any, start: Arrays, entries: Arrays, fixed: Arrays) -> list[tuple[Array, ...]]:
        """Each state after every step."""
        states, state = [], tuple(start)
        for entry in zip(*map(by_step, entries, self.places(entries)), strict=True):
            state = self.step(lib, *state, *entry, *fixed)
            states.append(state)
        return list(zip(*states, strict=True))


def by_step(x: Array, outer: int) -> Iterable[Array]:
    """The entries; plain numbers as Python's own, which compute faster."""
    if outer:
        each = (slice(None),) * outer
        return (x[(*each, t)] for t in range(np.shape(x)[outer]))
    return x.tolist() if isinstance(x, np.ndarray) and x.ndim == 1 else x


def scan(
    xp: Namespace,
    lib: Any,
    plain: Callable[[], Any],
    step: EmittedStep,
    batch: EmittedStep | None,
    start: Arrays,
    entries: Arrays,
    fixed: Arrays,
    outer: int = 0,
    over: tuple[int, ...] = (),
) -> tuple[Array, ...]:
    """Every state after each step, one array a state with the steps along the axis after the `outer` ones.

    `step(lib, *state, *entry, *fixed)` gives the next state; `batch` is the same for all steps at once,
    None in loops.
    """
    s = Scan(step, batch, plain(), lib, outer, over)
    on_tape = [a for a in (*start, *entries, *fixed) if is_traced(a)]
    if xp.scan is not None:
        read = lib.readable(fixed)
        each = [xp.np.moveaxis(x, k, 0) for x, k in zip(entries, s.places(entries), strict=True)]
        after = xp.scan(lambda *inputs: step(lib, *inputs, *read), start, each)
        return tuple(xp.np.moveaxis(x, 0, outer) for x in after)
    if xp.joint_vjp is None or not on_tape:
        return tuple(side_by_side(s, each) for each in s.run(s.plain, start, entries, fixed))
    if not (fits_in_jacobians(s, start, entries) and on_one_tape(on_tape)):
        return tuple(xp.np.stack(each, axis=s.outer) for each in s.run(lib, start, entries, fixed))
    shapes = [np.shape(a)[s.outer :] for a in start]
    return tuple(split(xp, packed_scan(xp.joint_vjp, s, start, entries, fixed), shapes))


def side_by_side(s: Scan, each: Arrays) -> Array:
    """Plain states of all steps; of numbers NumPy makes an array fastest by itself."""
    return np.stack(each, axis=s.outer) if s.outer else np.array(each)


def fits_in_jacobians(s: Scan, start: Arrays, entries: Arrays) -> bool:
    """Whether the Jacobians of the steps are small enough to be worth their while, and there are any.

    Where loops are around, a step does so much that they never are.
    """
    if s.batch is None:
        return False
    width = sum(math.prod(np.shape(a)[s.outer :]) for a in start)
    if not s.outer or width == 0:
        return 0 < width <= WIDEST_STATE
    steps = np.shape(entries[0])[s.over[0]]
    few = width <= max(WIDEST_STATE, int(steps))  # a pull-back for each number, or for each step
    return few and len(start[0]) * int(steps) * width**2 <= MOST_IN_JACOBIANS


def on_one_tape(boxes: Sequence[Any]) -> bool:
    """Whether all are on the same tape, of a first derivative."""
    tapes = {getattr(a, "_trace", None) for a in boxes}
    return len(tapes) == 1 and not any(isbox(getattr(a, "_value", None)) for a in boxes)


def split(xp: Namespace, whole: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The parts of the last axis that arrays of these shapes take, each in its own shape."""
    out, at, lead = [], 0, np.shape(whole)[:-1]
    each = (slice(None),) * len(lead)
    for shape in shapes:
        end = at + math.prod(shape)
        one = whole[(*each, slice(at, end) if shape else at)]
        out.append(xp.np.reshape(one, (*lead, *shape)) if shape else one)
        at = end
    return out


def packed(s: Scan, xp: Namespace, states: Arrays) -> Array:
    """States side by side, (..., steps, width)."""
    parts = [xp.np.reshape(x, (*np.shape(x)[: s.outer + 1], -1)) for x in states]
    return xp.np.concatenate(parts, axis=s.outer + 1)


def packed_scan(joint: Joint, s: Scan, start: Arrays, entries: Arrays, fixed: Arrays) -> Array:
    """All states as one array, one entry of the tape."""
    first, last = len(start), len(start) + len(entries)

    def forward(plain: Sequence[Array], traced: Sequence[int]) -> tuple[Array, Adjoints]:
        begin = [np.asarray(a, dtype=float) for a in plain[:first]]
        states = s.run(s.plain, plain[:first], plain[first:last], plain[last:])
        after = [side_by_side(s, each).astype(float, copy=False) for each in states]
        before = [
            np.concatenate([np.expand_dims(b, s.outer), a[(*s.each, slice(-1))]], axis=s.outer)
            for b, a in zip(begin, after, strict=True)
        ]
        inputs = [*before, *plain[first:]]

        def adjoints(g: Array) -> list[Array]:
            weights, to_start = through_time(g, step_jacobians(s, inputs, after), s.outer)
            parts = pull_back(s, inputs, [i for i in traced if i >= first])(weights)
            starts = split(NUMPY, to_start, [b.shape[s.outer :] for b in begin])
            return [starts[i] if i < first else parts.pop(0) for i in traced]

        return packed(s, NUMPY, after), adjoints

    return joint(forward, (*start, *entries, *fixed))


def pull_back(s: Scan, inputs: Arrays, differentiated: Sequence[int]) -> Callable[[Array], list[Array]]:
    """The adjoints of some arguments of all steps at once, as a function of that of the states."""

    assert s.batch is not None
    batch = s.batch

    def steps(traced: list[Array]) -> Array:
        args = list(inputs)
        for i, box in zip(differentiated, traced, strict=True):
            args[i] = box
        return packed(s, AUTOGRAD, batch(s.traced, *args))

    return pullback(steps, [inputs[i] for i in differentiated])[1]


def step_jacobians(s: Scan, inputs: Arrays, after: Arrays) -> Array:
    """(steps, ..., width, width): what each number of the state after a step owes to each before it."""
    pull = pull_back(s, inputs, range(len(after)))
    lead = after[0].shape[: s.outer + 1]
    width = sum(math.prod(a.shape[len(lead) :]) for a in after)
    rows = [packed(s, NUMPY, pull(g)) for g in combs(width, (*lead, width))]
    return np.moveaxis(np.stack(rows, axis=-2), s.outer, 0)


def through_time(g: Array, jacobians: Array, outer: int = 0) -> tuple[Array, Array]:
    """The adjoint of the state after every step, and that of the state at the start."""
    if g.ndim == 2 and g.shape[1] == 1:
        return through_time_alone(g, jacobians)
    out = np.empty_like(g)
    given, outputs = np.moveaxis(g, outer, 0), np.moveaxis(out, outer, 0)
    carry = np.zeros(given.shape[1:])
    for t in range(len(given) - 1, -1, -1):
        outputs[t] = given[t] + carry
        carry = np.matmul(outputs[t][..., None, :], jacobians[t])[..., 0, :]
    return out, carry


def through_time_alone(g: Array, jacobians: Array) -> tuple[Array, Array]:
    """The same for a state of one number, in Python's own arithmetic."""
    out, carry = [], 0.0
    for each, slope in zip(g[::-1, 0].tolist(), jacobians[::-1, 0, 0].tolist(), strict=True):
        total = each + carry
        out.append(total)
        carry = total * slope
    return np.array(out[::-1])[:, None], np.array([carry])
