"""The log joint of a program with its data: a density over R^dim, at one point or at many."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np

from ppl.arrays import AUTOGRAD, NUMPY, Namespace, TapeNode
from ppl.density import many_points as many
from ppl.density.compiled_program import CompiledProgram
from ppl.density.tapes import Tapes
from ppl.errors import InferenceError, Rejection
from ppl.floats import Floats
from ppl.kernel.density.layout import Data
from ppl.kernel.emit.located import located, not_traceable
from ppl.kernel.emit.runtime import joined
from ppl.memory import ARRAY_SIZES, available
from ppl.optimise.forms import (
    GRADIENT,
    POINTS_GRADIENT,
    POINTS_PROPTO,
    PROPTO,
    VALUES,
    Form,
    points_given,
    points_of,
)
from ppl.optimise.tracing.namespace import TRACING
from ppl.optimise.tracing.tape import numbers_depending_on
from ppl.records import dataclass, field, replace

Moving = tuple[int, ...] | None
"""The parameters that gradients are asked for, by their positions; None for all."""


@dataclass(frozen=True)
class Forms:
    """The forms that are run: for a value at a point, for the gradient there, and for many points."""

    value: Form
    gradient: Form
    many: Form

    @classmethod
    def of(cls, form: Form) -> "Forms":
        return cls(form, form, points_of(form))


TARGET = Forms(VALUES, GRADIENT, POINTS_GRADIENT)
UNNORMALISED = Forms(PROPTO, PROPTO, POINTS_PROPTO)
"""Less the constants that Stan drops after `~` and in lupdf."""


@dataclass(frozen=True, eq=False)
class LogJoint:
    """The log joint of some forms of a model, with data; the log-Jacobian of the transforms counts or not.

    A batch of points is as large as `width` allows, which is the size of the largest array that one
    evaluation makes, and as memory does.
    """

    model: CompiledProgram
    forms: Forms
    d: Data
    jacobian: bool = True
    width: int = 1
    sizes: many.LargestArrays = field(default_factory=many.LargestArrays)
    bytes_of_points: dict[bool, tuple[int, int]] = field(init=False, default_factory=dict)
    """What a run and a point take in a batch, without gradients and with them, where that was measured."""
    failing: set[bool] = field(init=False, default_factory=set)
    """Whether without gradients, or with them, batches failed: their points are evaluated one by one."""
    tapes_of_many: dict[tuple[bool, Moving], Tapes] = field(init=False, default_factory=dict)
    """The gradients at many points, by whether with values, and of which parameters."""

    def value(self, u: Floats) -> float:
        """At `u` (dim,); -inf where the program rejects it."""
        if found := self.as_one_of_many(u, gradient=False):
            return float(found[0])
        module = self.model.load(self.forms.value, NUMPY)
        with np.errstate(all="ignore"), located(module):
            try:
                return float(module.log_joint(self.d, u, self.jacobian))
            except Rejection:
                return -np.inf

    def value_and_gradient(self, u: Floats) -> tuple[float, Floats]:
        """The same with the gradient (dim,), nan where the program rejects `u`."""
        if found := self.as_one_of_many(u, gradient=True):
            return float(found[0]), found[1]
        module = self.model.load(self.forms.gradient, AUTOGRAD)
        with np.errstate(all="ignore"), self.refusing(), located(module):
            try:
                value, parts = self.tapes(self.d.blocks(u), self.model.nodes)
                return float(value), joined(list(self.d.places.values()), parts)
            except Rejection:
                return -np.inf, np.full(len(u), np.nan)

    def as_one_of_many(self, u: Floats, gradient: bool) -> many.PointDensities | None:
        """What a batch of this point alone finds, if functions are called by row; None if it fails."""
        if not self.model.traits.calls_by_row:
            return None
        return many.as_one_of_many(self.batched(gradient), u)

    @cached_property
    def tapes(self) -> Tapes:
        """The gradient at one point, of the blocks of the parameters.

        It holds the parts of this record, not the record: with a cycle, data would wait for the collector.
        """
        model, form, d, jacobian = self.model, self.forms.gradient, self.d, self.jacobian
        return Tapes(lambda xp: lambda v: model.load(form, xp).log_joint(d, v, jacobian))

    def tapes_at_many(self, with_values: bool = True, moving: Moving = None) -> Tapes:
        """The gradients at many points, of the blocks of some parameters or of all."""
        key = with_values, moving
        if key not in self.tapes_of_many:
            other = None if with_values else self.tapes_at_many(True, moving)
            self.tapes_of_many[key] = Tapes(self.of_many, other, moving)
        return self.tapes_of_many[key]

    @property
    def of_many(self) -> Callable[[Namespace], Callable[[Sequence[Any]], Any]]:
        """The log joint at many points, of the blocks of all; without a cycle, as `tapes`."""
        model, form, d, jacobian = self.model, self.forms.many, self.d_of_many, self.jacobian
        return lambda xp: many.of_points(model.load(form, xp), xp, d, jacobian)

    @cached_property
    def d_of_many(self) -> Data:
        """The data with what the form for many points computes of them once."""
        return self.model.prepared(self.d, self.forms.many, self.forms.value)

    def values(self, us: Floats) -> Floats:
        """At each row of `us` (n, dim), (n,), many at a time."""
        if not len(us):
            return np.zeros(0)
        batched = self.batched(gradient=False)
        fitting = partial(self.fitting, us, batched, False)
        fails = partial(self.failing.add, False)
        return many.in_batches(us, self.width, batched, lambda u: (self.value(u),), fitting, fails)[0]

    @property
    def values_at_once(self) -> Callable[[Floats], Floats] | None:
        """The same by one run of the emitted code, see many_points.log_joints; None where that cannot be."""
        batched = self.batched(gradient=False)
        return None if batched is None else lambda us: batched(us)[0]

    def batched(self, gradient: bool, moving: Moving = None) -> many.Batched | None:
        """What finds values, and gradients, at all points of a batch; None where that cannot be."""
        module = self.model.load_over_draws(self.forms.many, AUTOGRAD if gradient else NUMPY)
        if module is None or not self.d.places or gradient in self.failing:
            return None
        if gradient:
            tapes, nodes = self.tapes_at_many(True, moving), self.model.nodes
            return partial(
                many.log_joint_gradients, module, self.d_of_many, tapes=tapes, nodes=nodes, width=self.width
            )
        return lambda us: (many.log_joints(module, self.d_of_many, us, self.jacobian),)

    def values_and_gradients(self, us: Floats, moving: Moving = None) -> tuple[Floats, Floats]:
        """The same with the gradients (n, dim), which mean nothing where the density is zero or no number,
        nor for other parameters than those that are moving.
        """
        if not len(us):
            return np.zeros(0), us
        batched = self.batched(True, moving)
        fitting = partial(self.fitting, us, batched, True)
        fails = partial(self.failing.add, True)
        values, gradients = many.in_batches(us, self.width, batched, self.value_and_gradient, fitting, fails)
        return values, gradients

    def gradients(self, us: Floats, moving: Moving = None) -> Floats:
        """The gradients (n, dim) without the values, in two thirds of the time or less."""
        both = self.batched(True, moving)
        if both is None or self.model.nodes is not TapeNode or not len(us):
            return self.values_and_gradients(us, moving)[1]
        module, d = self.model.load(self.forms.many, AUTOGRAD), self.d_of_many
        tapes = self.tapes_at_many(False, moving)
        alone = partial(many.gradients_alone, module, d, tapes=tapes, both=both, width=self.width)
        fitting = partial(self.fitting, us, both, True)
        fails = partial(self.failing.add, True)
        return many.in_batches(us, self.width, alone, self.value_and_gradient, fitting, fails)[1]

    def given(self, moving: tuple[int, ...]) -> "LogJoint | None":
        """The log joint at points that agree in all parameters but those that are moving, by positions.

        What depends on the others alone is computed once for all points, and `width` is that of the rest.
        None where that cannot be.
        """
        shared = tuple(name for k, name in enumerate(self.d.places) if k not in moving)
        parameters = {p.name for p in self.model.lowered.parameters}
        if self.forms != TARGET or not set(shared) <= parameters:  # some terms; a part of a tuple
            return None
        forms = replace(self.forms, many=points_given(shared))
        found = replace(self, forms=forms, d=self.d.with_values({}, shared__=shared))
        if found.batched(True, moving) is None:
            return None
        blocks = found.d.blocks(np.zeros((many.BATCH.fewest_points, self.dim)))
        numbers = numbers_depending_on(found.of_many(TRACING), blocks, moving)
        return None if numbers is None else replace(found, width=numbers // many.BATCH.fewest_points)

    @property
    def dim(self) -> int:
        return sum(math.prod(place.shape) for place in self.d.places.values())

    def fitting(self, us: Floats, batched: many.Batched | None, gradient: bool, n: int) -> int:
        """How many of n points may be evaluated at once, `batched`, for the memory that is free.

        A line of emitted code makes some four arrays in every step of the loops around it, and a call some
        four of its results. What a point takes is measured, once, only if so much leaves room for few.
        """
        if batched is None or n < many.BATCH.fewest_points:
            return n
        arrays, nodes = (4 * numbers for numbers in self.numbers_of_a_run)
        of_a_run, of_a_point = (0, arrays + nodes) if self.model.traits.calls_by_row else (nodes, arrays)
        if of_a_run + n * of_a_point <= ARRAY_SIZES.unchecked:
            return n
        sure = (self.room // ARRAY_SIZES.number - of_a_run) // of_a_point
        if sure >= min(n, many.BATCH.enough_points):
            return min(n, sure)
        if gradient not in self.bytes_of_points:
            self.bytes_of_points[gradient] = many.bytes_of_points(batched, us)
        of_a_run, of_a_point = self.bytes_of_points[gradient]
        if of_a_run + n * of_a_point <= ARRAY_SIZES.unchecked * ARRAY_SIZES.number:
            return n
        return max(1, min(n, (available() // many.BATCH.share_of_memory - of_a_run) // of_a_point))

    @cached_property
    def room(self) -> int:
        """Bytes that a batch may take, when that was first asked for, which takes a millisecond."""
        return available() // many.BATCH.share_of_memory

    @cached_property
    def numbers_of_a_run(self) -> tuple[int, int]:
        """About how many numbers are in memory by the arrays of a point, and by the nodes of a tape."""
        sizes, lines = self.sizes, len(self.model.load(self.forms.many, NUMPY).emitted.spans)
        arrays = sizes.largest * lines * (1 + sizes.steps) + sizes.made + self.dim
        return arrays, many.BATCH.node * sizes.calls

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Name the statement of the largest array if memory is too short for the derivatives.

        An error of the reverse pass has no place in the program.
        """
        try:
            yield
        except MemoryError as error:
            place = f"{self.sizes.span.describe()}\n" if self.sizes.span else ""
            raise InferenceError(f"{place}{not_traceable(error)}", many.MEMORY) from None
