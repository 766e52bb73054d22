"""Log densities and gradients at many points, many at a time.

The emitted log joint runs once for a whole batch of points (optimise/passes/draws_axis.py).  Points that the
program rejects are removed from the batch.  Points whose density is neither finite nor zero are evaluated
again, one by one; if the first of several nan is nan again, the others are not.
"""

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Namespace, TapeNode
from ppl.density.tapes import Tapes
from ppl.errors import PPLError, Rejection
from ppl.floats import Floats
from ppl.kernel.density.layout import Data
from ppl.kernel.emit import runtime
from ppl.kernel.emit.load import BUILTINS, Code, Module, load
from ppl.kernel.emit.located import located
from ppl.kernel.emit.runtime import DrawsRejected
from ppl.kernel.emit.text import Binding
from ppl.late import tracemalloc
from ppl.records import dataclass
from ppl.source import Span
from ppl.stdlib.over_draws import for_all

PointDensities = tuple[Floats, ...]
"""Log densities (n,), and with them gradients (n, dim) where they are wanted."""

MEMORY = "PPL977"
"""The code of a statement that needs more memory than there is."""

Batched = Callable[[Floats], PointDensities]
Scalar = Callable[[Floats], tuple[float | Floats, ...]]


@dataclass(frozen=True)
class BatchLimits:
    """How many points are evaluated together."""

    elements: int = 1 << 17
    """How many numbers the largest array of a batch should have: larger ones leave the cache."""

    solver_work: int = 300
    """Numbers that a solver goes through for each that it gives: stages of a step, operations of a stage."""

    fewest_points: int = 4
    """Points that are worth a batch; fewer are no faster than one at a time."""

    points_tried: int = 8
    """Points at which it is looked what an evaluation works through, where the program rejects them."""

    smallest: int = 8
    """How many points a batch should have however wide: what a run of the code costs is shared among them."""

    widest: int = 1 << 15
    """How wide one evaluation may be for a batch to gain anything on it."""

    little_work: int = 1 << 12
    """Numbers that points work through, of twice as many of which a run of the code takes hardly longer."""

    node: int = 64
    """What the record of a call takes, in numbers, beside its result."""

    enough_points: int = 512
    """Points of a batch that would gain nothing by more: to measure what they take is dearer, by far in code
    of many lines, since Python searches all lines before one for the place of each allocation.
    """

    measured: int = 32
    """Points at which it is measured what a point takes of memory."""

    share_of_memory: int = 2
    """A batch may take one part in so many of the memory that is free."""


BATCH = BatchLimits()


def in_batches(
    us: Floats,
    width: int,
    batched: Batched | None,
    scalar: Scalar,
    fitting: Callable[[int], int] = int,
    note_failure: Callable[[], None] = lambda: None,
) -> PointDensities:
    """What `batched` finds at the points `us` (n, dim), n > 0, as many at a time as `width` allows.

    `width` is the size of the largest array that one evaluation makes; without `batched` they go one by one.
    `fitting(n)` is how many of n points fit in memory at once; `note_failure` is called where no points can
    be evaluated at once, but one by one.
    """
    if batched is None or width > BATCH.widest or len(us) < BATCH.fewest_points:
        return one_by_one(us, scalar)
    size = fitting(min(len(us), max(BATCH.smallest, BATCH.elements // max(1, width))))
    if size >= len(us):
        return tuple(map(np.array, evaluated(us, batched, scalar, note_failure)))
    parts = np.array_split(us, -(-len(us) // size))
    return joined([evaluated(part, batched, scalar, note_failure) for part in parts])


def evaluated(
    us: Floats, batched: Batched, scalar: Scalar, note_failure: Callable[[], None]
) -> PointDensities:
    """The values at all points of one batch, in halves if the program rejects one or memory is short.

    After another error points that raise it alone, as a batch of one, are evaluated without one, and raise
    it again if it is theirs; all are if none or each of them does, which is noted.
    """
    if len(us) == 1:
        return one_by_one(us, scalar)
    again = partial(evaluated, batched=batched, scalar=scalar, note_failure=note_failure)
    try:
        found = batched(us)
    except DrawsRejected as some:
        return without_rejected(some.draws, us, again, scalar)
    except (MemoryError, PPLError) as error:
        if isinstance(error, Rejection | MemoryError) or getattr(error, "code", "") == MEMORY:
            halves = np.array_split(np.arange(len(us)), 2)
            return in_order([again(us[half]) for half in halves], halves)
        fails = np.array([raises(batched, u[None]) for u in us])
        if fails.any() and not fails.all():
            groups = np.flatnonzero(fails), np.flatnonzero(~fails)
            return in_order([one_by_one(us[groups[0]], scalar), again(us[groups[1]])], groups)
        found = one_by_one(us, scalar)
        note_failure()
        return found
    if all(np.isfinite(f).all() for f in found):
        return found
    finite = [np.isfinite(f).reshape(len(us), -1).all(axis=1) for f in found]
    sure = np.logical_and.reduce(finite) | (found[0] == -np.inf)
    bad = np.flatnonzero(~sure)
    if are_nan(us, found, bad, scalar):
        bad = bad[~np.isnan(found[0][bad])]
    if bad.size:
        for whole, alone in zip(found, one_by_one(us[bad], scalar), strict=True):
            whole[bad] = alone
    return found


def raises(batched: Batched, us: Floats) -> bool:
    """Whether an evaluation at the points raises an error, but for points that the program rejects."""
    try:
        batched(us)
    except (DrawsRejected, Rejection):
        return False
    except PPLError:
        return True
    return False


def bytes_of_points(batched: Batched, us: Floats) -> tuple[int, int]:
    """Bytes that an evaluation at some of the points `us` (n, dim), n > 2, has in use: of a run, and of each.

    What arrays a program makes, and how long the tape holds them, only a run tells: of a loop that stays a
    loop every step is on the tape, and takes more than the numbers of a few points.
    """
    few, more = us[:2], us[: BATCH.measured]
    bytes_in_use(batched, few)  # the first run makes what stays, such as caches
    of_a_run, of_more = bytes_in_use(batched, few), bytes_in_use(batched, more)
    return of_a_run, max(1, (of_more - of_a_run) // (len(more) - len(few)))


def bytes_in_use(batched: Batched, us: Floats) -> int:
    """The most bytes that an evaluation at `us` (n, dim) has in use, by tracemalloc."""
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        with suppress(DrawsRejected, PPLError):
            batched(us)
        _, most = tracemalloc.get_traced_memory()
    finally:
        if not tracing:
            tracemalloc.stop()
    return int(most - before)


def are_nan(us: Floats, found: PointDensities, bad: NDArray[np.intp], scalar: Scalar) -> bool:
    """Whether the `bad` points with density nan keep it: whether the first of them does, evaluated alone.

    If a path diverges, most points of a batch are nan, and evaluating each alone would take longer than all
    others.
    """
    nan = bad[np.isnan(found[0][bad])]
    return len(nan) > 1 and bool(np.isnan(one_by_one(us[nan[:1]], scalar)[0][0]))


def without_rejected(
    rejected: NDArray[np.intp], us: Floats, again: Batched, scalar: Scalar
) -> PointDensities:
    """The values at the other points; at those that are rejected the density is zero, and the gradient nan.

    They are not evaluated again: a solver rejects a point only after all steps that it may take.
    """
    left = np.setdiff1d(np.arange(len(us)), rejected)
    if not left.size:
        one = one_by_one(us[:1], scalar)
        return tuple(np.repeat(each, len(us), axis=0) for each in one)
    others = again(us[left])
    nothing = zip(others, (-np.inf, np.nan), strict=False)
    found = tuple(np.full((len(rejected), *each.shape[1:]), none) for each, none in nothing)
    return in_order([found, others], [rejected, left])


def in_order(parts: Sequence[PointDensities], groups: Sequence[NDArray[np.intp]]) -> PointDensities:
    """What was found at points in groups, in the order of the points."""
    order = np.argsort(np.concatenate(groups))
    return tuple(f[order] for f in joined(parts))


def one_by_one(us: Floats, scalar: Scalar) -> PointDensities:
    return tuple(np.array(column, dtype=float) for column in zip(*map(scalar, us), strict=True))


def joined(parts: Sequence[PointDensities]) -> PointDensities:
    return tuple(np.concatenate(pieces) for pieces in zip(*parts, strict=True))


# --- One run of the emitted code -----------------------------------------------------------------


def log_joints(module: Module, d: Data, us: Floats, jacobian: bool) -> Floats:
    """The log joint at each row of `us` (n, dim), (n,).

    Raises:
        DrawsRejected: the program rejects some of them; or Rejection, which does not say which.
    """
    draw = draw_numbers(us)
    with np.errstate(all="ignore"), located(module):
        return np.asarray(for_all(NUMPY, module.log_joint(d, d.blocks(us), jacobian, draw), draw))


def of_points(module: Module, xp: Namespace, d: Data, jacobian: bool) -> Callable[[Sequence[Any]], Any]:
    """The log joint at some points as a function of their blocks, which `xp` traces."""

    def run(traced: Sequence[Any]) -> Any:
        moving = next(x for name, x in zip(d.places, traced, strict=True) if name not in d.shared__)
        draw = draw_numbers(moving)
        return for_all(xp, module.log_joint(d, list(traced), jacobian, draw), draw)

    return run


def log_joint_gradients(
    module: Module, d: Data, us: Floats, tapes: Tapes, nodes: type[TapeNode], width: int
) -> tuple[Any, Floats]:
    """The same with the gradients (n, dim), by one tape of `nodes` for all: each row moves its own value.

    Tapes without values give None for these.
    """
    full = padded(us, width) if tapes.traceable and nodes is TapeNode else us
    try:
        with np.errstate(all="ignore"), located(module):
            values, found = tapes(d.blocks(full), nodes)
    except DrawsRejected as some:
        raise DrawsRejected(some.draws[some.draws < len(us)], str(some)) from None
    parts = (
        np.zeros((len(full), *place.shape)) if name in d.shared__ else part
        for (name, place), part in zip(d.places.items(), found, strict=True)
    )
    gradients = runtime.joined(list(d.places.values()), parts, (len(full),))[: len(us)]
    return values if values is None else values[: len(us)], gradients


def padded(us: Floats, width: int) -> Floats:
    """The rows, the last of them repeated until there are as many as tapes are compiled for: a power of two
    where they are little work, else of two numbers of rows that differ by less than an eighth, the same.
    """
    bits = (len(us) - 1).bit_length()
    few = 1 << (bits if len(us) * width <= BATCH.little_work else max(0, len(us).bit_length() - 4))
    missing = -len(us) % few
    return np.concatenate([us, np.repeat(us[-1:], missing, axis=0)]) if missing else us


def gradients_alone(
    module: Module, d: Data, us: Floats, tapes: Tapes, both: Batched, width: int
) -> PointDensities:
    """The gradients, by tapes without values, with zeros for values; where they are not finite, `both`."""
    _, gradients = log_joint_gradients(module, d, us, tapes, TapeNode, width)
    return (np.zeros(len(us)), gradients) if np.isfinite(gradients).all() else both(us)


def as_one_of_many(batched: Batched | None, u: Floats) -> PointDensities | None:
    """The values at u (dim,) as a batch of one point; None if that fails.

    If a function of the program with a loop is called for each row, a batch runs it once for all rows.
    """
    try:
        return None if batched is None else tuple(each[0] for each in batched(u[None]))
    except (DrawsRejected, PPLError):
        return None


def draw_numbers(us: Floats) -> NDArray[np.intp]:
    """1, 2, ... for the rows."""
    return np.arange(1, len(us) + 1)


@dataclass
class LargestArrays:
    """The size of the largest array that library functions make, or go through number by number.

    `solved` is what solvers go through, and what else says so; `steps` those of loops that stayed loops;
    `calls` are all of functions, which make `made` numbers and go `through` these or more; `span` is the
    statement that makes the largest array.
    """

    code: Code | None = None
    largest: int = 1
    span: Span | None = None
    solved: int = 0
    steps: int = 0
    calls: int = 0
    made: int = 0
    through: int = 0

    def wrap(self, name: str, binding: Binding, f: Callable[..., Any]) -> Callable[..., Any]:
        work = getattr(binding.impl, "work", None)

        def measured(*args: Any) -> Any:
            value = f(*args)
            size = value.size if isinstance(value, np.ndarray) else 1  # a tuple has no size of its own
            self.calls += 1
            self.made += size
            size = max(size, elements_read(binding, args))
            self.through += size
            if size > self.largest:
                self.largest, self.span = size, span_of(self.code, sys._getframe(1))
            if work is not None:
                self.solved += work(*args)
            return value

        return measured

    def solving(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """`lib.solve`, its work counted by the size of its answers."""

        def counted(*args: Any) -> Any:
            answer = f(*args)
            solver, _, (start, *_), _ = args
            read = start if "laplace" in solver else answer  # the covariance stands first
            self.solved += BATCH.solver_work * int(np.size(read))
            return answer

        return counted

    def range(self, *bounds: int) -> range:
        """Python's own, its steps counted."""
        whole = range(*bounds)
        self.steps += len(whole)
        return whole


def span_of(code: Code | None, frame: FrameType) -> Span | None:
    """The statement that a frame of the emitted code is at; None for another frame."""
    if code is None or frame.f_code.co_filename != code.file:
        return None
    return code.emitted.spans[frame.f_lineno - 1]


def sizes_of(code: Code, d: Data, dim: int) -> LargestArrays:
    """What an evaluation works through, at the origin (dim,) or, where that is rejected, elsewhere."""
    rng = np.random.default_rng(dim)
    for tried in range(BATCH.points_tried):
        sizes = LargestArrays(code)
        builtins = {**BUILTINS, "range": sizes.range}
        solving = sizes.solving(code.solve)
        module = load(code, NUMPY, sizes.wrap, builtins, solve=solving)
        with np.errstate(all="ignore"), suppress(PPLError), located(module):
            module.log_joint(d, rng.normal(size=dim) if tried else np.zeros(dim), True)
            break
    return sizes


def elements_read(binding: Binding, args: Sequence[Any]) -> int:
    """How many numbers a density looks at, combined where it takes single ones; of x in a GLM its rows."""
    if binding.family is None:
        return 0
    if binding.batch == "elementwise":
        return math.prod(np.broadcast_shapes(*map(np.shape, args)))
    of_each = zip_longest(args, binding.family.cores, fillvalue=0)
    return max(math.prod(np.shape(a)[: np.ndim(a) - core]) for a, core in of_each)
