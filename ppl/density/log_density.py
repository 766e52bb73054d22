"""A compiled program with its data: what fits and reports are made of."""

import math
import re
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from itertools import chain, compress, count
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ppl.arguments import checks, numbers
from ppl.data.levels import Factor, Levels
from ppl.data.shares import NOT_ALL_ROWS
from ppl.density.axes import axes
from ppl.density.compiled_program import CompiledProgram, mapped
from ppl.density.completions import named_places, with_entries, with_holes, with_missing_entries
from ppl.density.conditioning import leaf_values
from ppl.density.labels import labels_of
from ppl.density.log_joint import TARGET, UNNORMALISED, LogJoint
from ppl.density.many_points import BATCH, LargestArrays, in_batches, sizes_of
from ppl.density.problem import Extent, Problem
from ppl.density.rounding import rounding_limits
from ppl.density.updated import Earlier, UpdatedJoint, updated_joint
from ppl.errors import ArgumentError, DataError, InferenceError, Rejection
from ppl.floats import Floats
from ppl.kernel.advi.target import Axis, Kinds, Target
from ppl.kernel.density.layout import Data, free_names, parameters_of
from ppl.kernel.density.reading import leaves
from ppl.kernel.draws.names import Labels, Sized, column_names, flat, sized
from ppl.kernel.emit.located import located
from ppl.kernel.emit.runtime import DrawsRejected, ParameterPlace, joined
from ppl.kernel.ir.nodes import Declared
from ppl.memory import ARRAY_SIZES, available
from ppl.optimise.forms import ARRAYS, VALUES
from ppl.records import dataclass, field, replace
from ppl.source import SourceText
from ppl.stdlib.constraints.bounds import LOWER, LOWER_UPPER, UPPER
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD

VariableValues = dict[str, Any]
BOUNDS = (LOWER.keyword, UPPER.keyword, LOWER_UPPER.keyword)


@dataclass(frozen=True)
class CostModel:
    """What evaluations of a program take, in numbers worked through or held."""

    run: int = 10_000
    """What a run of the emitted code costs beside its arithmetic, in numbers worked through."""

    points_share: int = 16
    """How many times larger than the largest array of a batch its points may be, which are read once each."""

    mean_shares: int = 32
    """How many times larger than calls in the mean a batch takes the largest array of a point to be, at most:
    what runs of many small calls cost is shared by more points, though that array leaves the cache."""

    of_draws: int = 1 << 20
    """How many numbers the largest array of all draws that are computed at once should have."""

    of_variables: int = 1 << 23
    """How many numbers the variables of all draws that are computed at once may have."""

    points_tried: int = 64
    """Points at which it is tried how many can be evaluated at once."""


COST = CostModel()


@dataclass(frozen=True, eq=False)
class LogDensity:
    """A model with its data: a log density over R^dim, and the way back to the program's variables.

    `u` is always the unconstrained vector, shape (param_unc_num(),).

    Example:
        >>> posterior
        <Posterior of eight_schools.model: 10 unconstrained parameters>
        >>> posterior.param_names()[:3]
        ['mu', 'tau', 'theta_raw.1']
        >>> value, gradient = posterior.log_density_gradient(np.zeros(10))
        >>> gradient.shape
        (10,)
    """

    model: CompiledProgram
    d: Data
    data: Mapping[str, Any]
    earlier: Earlier | None = None
    """What an earlier fit knows, in place of the prior; then the data are those of new rows."""
    notes: tuple[str, ...] = ()
    """What became of columns and rows of the data."""
    whole: "LogDensity | None" = None
    """The posterior of all rows of data, of one that has each different row once; see `distinct_rows`."""
    targets: dict[Any, Any] = field(init=False, default_factory=dict)
    """Targets, once made: by Jacobian, device and fast compilation, or by rows and device; and the posterior
    by its distinct rows."""
    log_joints: dict[tuple[bool, bool], LogJoint | UpdatedJoint] = field(init=False, default_factory=dict)
    eliminations: "dict[str, LogDensity]" = field(init=False, default_factory=dict)
    """Posteriors in which another thing becomes of the discrete parameters, by elimination."""

    @property
    def source(self) -> SourceText:
        """The text of the program, with its name."""
        return self.model.source

    def __repr__(self) -> str:
        return f"<Posterior of {self.source.name}: {self.param_unc_num()} unconstrained parameters>"

    def __reduce__(self) -> Any:
        """By the program and the data that were given: what was computed of them does not travel."""
        # The caller may have changed the arrays that were given.
        own = {name for name, value in self.data.items() if isinstance(value, Factor)}
        nonempty = {name: x for name, x in self.numbers.items() if np.size(x) and name not in own}
        data = {**self.data, **nonempty}
        return conditioned_anew, (self.model, data, self.d.seed__, self.earlier, self.notes)

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers and arrays of the data block as they were read, by name."""
        return {v.name: self.d.of(v.name) for v in self.model.lowered.data if not v.items}

    @property
    def observed(self) -> Mapping[str, Any]:
        """The data that were given, by name; nan where values are missing."""
        return with_holes(self.model, self.d, self.data) if self.model.completions else self.data

    @property
    def levels(self) -> dict[str, Levels]:
        """What the codes of each factor among the data stand for.

        Example:
            >>> posterior.levels
            {}
        """
        return {name: value.levels for name, value in self.data.items() if isinstance(value, Factor)}

    @cached_property
    def missing(self) -> dict[str, list[str]]:
        """The missing values that are parameters, as the program calls them, by data variable.

        Example:
            >>> posterior.missing
            {}
        """
        return {c.name: named_places(c, self.d) for c in self.model.completions}

    @cached_property
    def prepared(self) -> Data:
        """The data with what the log joint computes of them once.

        Of data on disk it is computed only when the log joint of all rows at once is asked for.
        """
        return self.model.prepared(self.d) if self.on_disk else self.d

    @cached_property
    def on_disk(self) -> list[NDArray[Any]]:
        """The variables of the data that lie on disk, of any shape."""
        return mapped(self.d)

    # --- Names and sizes ---

    @cached_property
    def labels(self) -> Labels:
        """What indices of variables stand for: the levels of the factors that index them."""
        return labels_of(self.model, self.data, self.d, self.declared(include_tp=True, include_gq=True))

    @cached_property
    def variables(self) -> dict[str, list[Sized]]:
        """Parameters, transformed parameters ("transformed") and generated quantities ("generated")."""
        groups: dict[str, list[Sized]] = {"parameters": [], "transformed": [], "generated": []}
        with located(self.model.plain):
            self.model.plain.shapes(self.d, lambda group, *shape: groups[group].append(sized(*shape)))
        return {group: with_entries(self.model, self.d, found) for group, found in groups.items()}

    @checks
    def declared(self, include_tp: bool, include_gq: bool) -> list[Sized]:
        """The variables with their names and shapes: parameters, then those that are asked for.

        Example:
            >>> [v.name for v in posterior.declared(include_tp=True, include_gq=False)]
            ['mu', 'tau', 'theta_raw', 'theta']
        """
        groups = compress(self.variables.values(), (True, include_tp, include_gq))
        return list(chain.from_iterable(groups))

    @checks
    def param_num(self, include_tp: bool = False, include_gq: bool = False) -> int:
        """How many flat columns there are: the length of `param_names`.

        Example:
            >>> posterior.param_num(), posterior.param_num(include_tp=True)
            (10, 18)
        """
        return len(self.param_names(include_tp, include_gq))

    @checks
    def param_names(self, include_tp: bool = False, include_gq: bool = False) -> list[str]:
        """Flat names in Stan's order: the first index fastest, from 1, e.g. "theta.1".

        Example:
            >>> posterior.param_names(include_tp=True)[-2:]
            ['theta.7', 'theta.8']
        """
        return [n for v in self.declared(include_tp, include_gq) for n in column_names(v)]

    def param_unc_num(self) -> int:
        """The dimension of the unconstrained space.

        Example:
            >>> posterior.param_unc_num()
            10
        """
        return self._unconstrained_elements

    @cached_property
    def _unconstrained_elements(self) -> int:
        return sum(math.prod(p.shape) for p in self.places.values())

    def param_unc_names(self) -> list[str]:
        """Flat names of the unconstrained elements, in the order of `u`.

        Example:
            >>> posterior.param_unc_names()[:3]
            ['mu', 'tau', 'theta_raw.1']
        """
        return list(self.element_names)

    @cached_property
    def element_names(self) -> tuple[str, ...]:
        """The same, made once."""
        entries = {v.name: v.entries for v in self.variables["parameters"]}
        parameters = parameters_of(self.model.plain.layout, self.d)
        return tuple(name for p in parameters for name in entries[p.name] or free_names(p, p.name))

    @property
    def places(self) -> Mapping[str, ParameterPlace]:
        """Where each parameter lies in `u`, by its name."""
        return self.d.own_places

    @property
    def extent(self) -> Extent:
        """How large a point and a row of draws are."""
        return Extent(self.param_unc_num(), tuple(self.declared(include_tp=True, include_gq=True)))

    @cached_property
    def problem(self) -> Problem:
        """What checks and the choice of a backend read."""
        return Problem(
            self.extent,
            self.element_names,
            self._elements(lambda d: CONSTRAINT_BY_KEYWORD[d.constraint].bounded),
            self.numbers,
            self.model.traits,
            self.width,
            self.sizes.steps,
            is_updated=self.earlier is not None,
            is_timed=self.model.keeps_time,
        )

    # --- Density ---

    @checks
    def log_joint(self, propto: bool = False, jacobian: bool = True) -> LogJoint | UpdatedJoint:
        """The log density as it is computed, with the log-Jacobian of the transforms unless told otherwise.

        `propto` omits terms that do not depend on parameters, as Stan does after `~` and in lupdf (Stan
        Reference Manual, Statements).

        Raises:
            InferenceError: some rows of the data are another process's, or the density of an updated fit is
                asked for without the Jacobian.

        Example:
            >>> round(posterior.log_joint(propto=True).value(np.zeros(10)), 3)
            -4.174
        """
        if self.model.compilation.sharded:
            raise InferenceError(NOT_ALL_ROWS)
        if self.earlier is not None and not jacobian:
            raise InferenceError(
                "An updated fit has a density of the unconstrained parameters only, so the mode of the "
                "constrained parameters is unavailable. Omit jacobian = False and algorithm = 'optimize'."
            )
        key, forms = (propto, jacobian), UNNORMALISED if propto else TARGET
        if key not in self.log_joints:
            width, sizes = self.batch_width, self.sizes
            joint = LogJoint(self.model, forms, self.prepared, jacobian, width, sizes)
            self.log_joints[key] = updated_joint(joint, self.earlier, self.element_names)
        return self.log_joints[key]

    def log_density(self, u: ArrayLike, propto: bool = False, jacobian: bool = True) -> float:
        """The log density, in nats, at `u` (param_unc_num(),); -inf at a point that the program rejects.

        `propto` leaves out constants, `jacobian` adds the log-Jacobian of the transforms; see `log_joint`.

        Raises:
            ArgumentError: `u` has another shape.
            InferenceError: a statement cannot be computed there, such as an index out of range; names it.

        Example:
            >>> round(posterior.log_density(np.zeros(10)), 3)
            -44.129
        """
        return self.log_joint(propto, jacobian).value(self.checked(u))

    def log_density_gradient(
        self, u: ArrayLike, propto: bool = False, jacobian: bool = True
    ) -> tuple[float, Floats]:
        """The log density, in nats, at `u` (param_unc_num(),) and its gradient of the same shape.

        Raises:
            ArgumentError: `u` has another shape.
            InferenceError: a statement cannot be computed there, such as an index out of range; names it.

        Example:
            >>> value, gradient = posterior.log_density_gradient(np.zeros(10))
            >>> gradient[:3].round(2).tolist()
            [0.46, 0.92, 0.12]
        """
        return self.log_joint(propto, jacobian).value_and_gradient(self.checked(u))

    def log_densities(self, us: ArrayLike, propto: bool = False, jacobian: bool = True) -> Floats:
        """The log density at each row of `us` (n, dim), shape (n,), many at a time; see `log_density`.

        Raises:
            ArgumentError: `us` has another shape.
            InferenceError: a statement cannot be computed at one of them; names it.

        Example:
            >>> posterior.log_densities(np.zeros((3, 10))).shape
            (3,)
        """
        return self.log_joint(propto, jacobian).values(self.checked_rows(us))

    def log_density_gradients(
        self, us: ArrayLike, propto: bool = False, jacobian: bool = True
    ) -> tuple[Floats, Floats]:
        """The log density (n,) and its gradient (n, dim) at each row of `us` (n, dim), many at a time.

        If the density is zero (logarithm -inf), the gradient is not defined.

        Raises:
            ArgumentError: `us` has another shape.
            InferenceError: a statement cannot be computed at one of them; names it.

        Example:
            >>> values, gradients = posterior.log_density_gradients(np.zeros((3, 10)))
            >>> values.shape, gradients.shape
            ((3,), (3, 10))
        """
        return self.log_joint(propto, jacobian).values_and_gradients(self.checked_rows(us))

    @cached_property
    def cost(self) -> int:
        """How many numbers one of many evaluations works through, its share of a run of the code counted too.

        Points that cannot be evaluated at once need runs of their own.
        """
        if self.width > BATCH.widest:  # then each is evaluated by itself
            return self.width + COST.run
        runs, joint = count(), self.log_joint()
        at_once = joint.values_at_once

        def counted(f: Callable[[Floats], Any]) -> Callable[[Floats], tuple[Any]]:
            def run(us: Floats) -> tuple[Any]:
                next(runs)
                return (f(us),)

            return run

        if dim := self.param_unc_num():
            points = np.random.default_rng(0).uniform(-1, 1, (COST.points_tried, dim))
            in_batches(points, self.width, at_once and counted(at_once), counted(joint.value))
        return self.width + self.sizes.solved + COST.run * next(runs) // COST.points_tried

    @cached_property
    def width(self) -> int:
        """How many numbers the largest array of an evaluation has, as far as the origin shows."""
        return max(self.sizes.largest, self.param_unc_num())

    @cached_property
    def batch_width(self) -> int:
        """How many numbers a point counts for in a batch: many scalar parameters are never one array.

        Fewer than its largest array has where many small ones, as of the steps of a recurrence, take longer.
        """
        sizes = self.sizes
        largest = min(sizes.largest, COST.mean_shares * sizes.through // max(1, sizes.calls))
        return max(largest, self.param_unc_num() // COST.points_share, 1)

    @cached_property
    def sizes(self) -> LargestArrays:
        """The shapes that an evaluation at the origin works through; of data on disk, how many rows."""
        code = self.model.code_of(VALUES)
        if self.on_disk:
            return LargestArrays(code, max(len(x) for x in self.on_disk))
        return sizes_of(code, self.d, self.param_unc_num())

    def checked_rows(self, us: ArrayLike) -> Floats:
        """`us` as doubles (n, dim).

        Raises:
            ArgumentError: it has another shape.
        """
        us = numbers("us", us)
        if us.ndim != 2 or us.shape[1] != self.param_unc_num():
            raise ArgumentError(f"us has shape {us.shape}, but must have shape (n, {self.param_unc_num()})")
        return us

    def checked(self, u: ArrayLike) -> Floats:
        """`u` as doubles (param_unc_num(),).

        Raises:
            ArgumentError: it has another shape.
        """
        u = numbers("u", u)
        if u.shape != (self.param_unc_num(),):
            raise ArgumentError(f"u has shape {u.shape}, but must have shape ({self.param_unc_num()},)")
        return u

    def explain(self, u: ArrayLike) -> str:
        """Why the log density or its gradient at `u` (param_unc_num(),) is not finite; "" where it is.

        It names the statement with its place in the program, the argument and its value.

        Raises:
            ArgumentError: `u` has another shape.

        Example:
            >>> posterior.explain(np.zeros(10))
            ''
        """
        if self.whole is not None:
            return self.whole.explain(u)
        if self.model.compilation.sharded:
            return "Run with all rows in one process to find the statement at fault."
        from ppl.density.explaining import explained

        return explained(self.model, self.prepared, self.checked(u))

    # --- Values ---

    @checks
    def values(
        self, u: ArrayLike, rng: np.random.Generator | None, include_tp: bool, include_gq: bool
    ) -> VariableValues:
        """Every variable that is asked for at `u` (param_unc_num(),), by name, as arrays of its own shape.

        Raises:
            ArgumentError: `u` has another shape.
            Rejection: the program rejects the point, or a quantity breaks its declared constraint.
            InferenceError: a statement cannot be computed there; names it.
        """
        module = self.model.plain
        with np.errstate(all="ignore"), located(module):
            steps = module.constrained(self.d, self.checked(u))
            values: VariableValues = dict(next(steps))
            if include_tp or include_gq:
                values |= next(steps)
            if include_gq:
                values |= module.generated(self.d, values, rng or np.random.default_rng(0))
        return values

    @cached_property
    def draws_at_once(self) -> int:
        """How many draws `param_constrain_draws` should be given; 1 where the program takes one at a time.

        Fewer where memory is short for the variables, and for the largest array on each other line of the
        emitted code. The random numbers of generated quantities are then others.
        """
        module = self.model.over_draws
        if module is None:
            return 1
        variables = self.declared(include_tp=True, include_gq=True)
        columns = self.param_num(include_tp=True, include_gq=True)
        draws = min(COST.of_draws // self.batch_width, COST.of_variables // max(1, columns))
        other_lines = max(0, len(module.emitted.spans) - len(variables))
        of_a_draw = columns + other_lines * self.sizes.largest
        if draws * of_a_draw > ARRAY_SIZES.unchecked:
            draws = min(draws, available() // BATCH.share_of_memory // ARRAY_SIZES.number // of_a_draw)
        return max(1, draws)

    @checks
    def param_constrain_draws(self, us: Floats, rng: np.random.Generator) -> Floats:
        """All columns, (n, columns), at the rows of `us` (n, dim): every statement runs once for all draws.

        Raises:
            ArgumentError: the program takes one draw at a time, as `draws_at_once` says, or `us` has
                another shape.
            Rejection: it rejects one of them.
        """
        module = self.model.over_draws
        if module is None:
            raise ArgumentError("the program takes one draw at a time: use param_constrain")
        us = self.checked_rows(us)
        draw = np.arange(1, len(us) + 1)
        with np.errstate(all="ignore"), located(module):
            try:
                steps = module.constrained(self.d, us, draw)
                values: VariableValues = {**next(steps), **next(steps)}
                values |= module.generated(self.d, values, rng, draw)
            except DrawsRejected as some:
                raise Rejection(str(some)).with_traceback(some.__traceback__) from some
        return flat(self.declared(include_tp=True, include_gq=True), values, (len(us),))

    @checks
    def param_constrain(
        self,
        u: ArrayLike,
        include_tp: bool = False,
        include_gq: bool = False,
        rng: np.random.Generator | None = None,
    ) -> Floats:
        """The constrained values at `u` (param_unc_num(),), flat (param_num(),), ordered as `param_names`.

        `rng` draws for generated quantities; without one, one with seed 0 does. Stan Reference Manual,
        Constraint Transforms.

        Raises:
            ArgumentError: `u` has another shape.
            Rejection: the program rejects the point, or a quantity breaks its declared constraint.
            InferenceError: a statement cannot be computed there; names it.

        Example:
            >>> posterior.param_constrain(np.zeros(10))[:3].tolist()
            [0.0, 1.0, 0.0]
        """
        return flat(self.declared(include_tp, include_gq), self.values(u, rng, include_tp, include_gq))

    @checks
    def unconstrained(self, name: str) -> NDArray[np.intp]:
        """The positions in `u` of the elements of a parameter that has no constraint, shape (elements,).

        Raises:
            InferenceError: there is no such parameter, or it has a constraint.

        Example:
            >>> posterior.unconstrained("mu").tolist()
            [0]
        """
        constraints = {d.name: d.constraint for d in self.model.lowered.parameters if not d.items}
        found = constraints.get(name)
        if found != "identity":
            free = ", ".join(n for n, constraint in constraints.items() if constraint == "identity")
            is_what = f"has the constraint {found}" if found else "is not a parameter"
            raise InferenceError(f"`{name}` {is_what}; the parameters without one are {free or 'none'}.")
        place = self.places[name]
        return np.ravel(np.arange(self.param_unc_num())[place.at])

    def _elements(self, which: Callable[[Declared], bool]) -> NDArray[np.bool_]:
        """Which elements of `u` (dim,) are those of such parameters."""
        found = np.zeros(self.param_unc_num(), dtype=bool)
        for d in leaves(self.model.lowered.parameters):
            found[self.places[d.name].at] = which(d)
        return found

    @cached_property
    def kinds(self) -> Kinds:
        """Which elements of `u` (dim,) are parameters of one number, without an index; which are of
        parameters without a constraint, but an offset and multiplier; and how many bounds each has.
        """
        single = np.array(["." not in name for name in self.element_names], dtype=bool)
        one = self._elements(lambda d: d.constraint in (LOWER.keyword, UPPER.keyword))
        both = self._elements(lambda d: d.constraint == LOWER_UPPER.keyword)
        return single, self._elements(lambda d: d.allows_all), one + 2 * both

    @cached_property
    def rounding_limits(self) -> Floats:
        """The elements of `u` (2, dim) below and above which a parameter is its bound, to rounding.

        Not known, and infinite, where bounds of some cannot be computed at others so far out.
        """
        of = (d for d in self.model.lowered.parameters if not d.items)
        bounded = {d.name: self.places[d.name] for d in of if d.constraint in BOUNDS}
        values = partial(self.values, rng=None, include_tp=False, include_gq=False)
        try:
            return rounding_limits(values, bounded, self.param_unc_num())
        except (InferenceError, Rejection):
            return rounding_limits(values, {}, self.param_unc_num())

    def axes(self, most: int) -> tuple[Axis, ...]:
        """The axes of parameters that have at most so many entries, by elements of `u`."""
        of = leaves(self.model.lowered.parameters)
        declared = [(self.places[d.name], CONSTRAINT_BY_KEYWORD[d.constraint]) for d in of]
        return tuple(axes(np.arange(self.param_unc_num()), declared, most))

    @checks
    def without_prior(self, name: str) -> tuple[Self, NDArray[np.intp]]:
        """The posterior less the Gaussian prior of a parameter, and where that parameter lies in `u`.

        Raises:
            InferenceError: the program has not exactly one statement `name ~ normal(0, ...)`.
        """
        from ppl.optimise.passes.without_prior import NoSuchPrior, without_prior

        try:
            lowered = without_prior(self.model.lowered, self.model.program(ARRAYS), name)
        except NoSuchPrior as why:
            raise InferenceError(str(why)) from None
        model = self.model.changed(part=lowered)
        at = np.arange(self.param_unc_num())[self.places[name].at]
        return replace(self, model=model, d=model.prepared(self.d)), np.ravel(at)

    @checks
    def param_unconstrain(self, values: Mapping[str, Any]) -> Floats:
        """The `u` (param_unc_num(),) of constrained values, given by variable name in their natural shapes.

        Raises:
            DataError: a value is missing, has another shape or breaks its constraint.

        Example:
            >>> posterior.param_unconstrain({"mu": 0.0, "tau": 1.0, "theta_raw": np.zeros(8)}).shape
            (10,)
        """
        given = with_missing_entries(self.model, self.d, values)
        leaves = leaf_values(self.model.lowered.parameters, self.places, given)
        with np.errstate(all="ignore"), located(self.model.plain):
            return joined(list(self.places.values()), self.model.plain.unconstrained(self.d, leaves))

    def initial_point(self, values: Mapping[str, Any]) -> Floats:
        """The `u` (param_unc_num(),) of some constrained values, by name; nan for the other parameters.

        Raises:
            DataError: it names no parameter, or a value does not fit its parameter.
        """
        declared = self.declared(include_tp=False, include_gq=False)
        open_ = {v.name for v in declared} - set(values)
        if declared and len(open_) == len(declared):
            names = ", ".join(v.name for v in declared)
            raise DataError(f"the initial values name no parameter of the program; it has {names}")
        if open_:  # on which the bounds of others may depend
            origin = self.values(np.zeros(self.param_unc_num()), None, include_tp=False, include_gq=False)
            values = {**origin, **values}
        u, owners = self.param_unconstrain(values), [re.split("[.:]", n)[0] for n in self.param_unc_names()]
        for name, value in zip(owners, u, strict=True):
            if name not in open_ and not np.isfinite(value):
                raise DataError(
                    f"the initial value of {name} is outside its constraint or on its boundary", name
                )
        return np.where(np.isin(owners, list(open_)), np.nan, u)


class OfPosterior(Target):
    """What a target answers as its posterior does."""

    posterior: LogDensity

    @property
    def dim(self) -> int:
        return self.posterior.param_unc_num()

    @property
    def kinds(self) -> Kinds:
        return self.posterior.kinds

    @property
    def rounding_limits(self) -> Floats:
        return self.posterior.rounding_limits

    def axes(self, most: int) -> tuple[Axis, ...]:
        return self.posterior.axes(most)

    def explain(self, u: Floats) -> str:
        return self.posterior.explain(u)


def conditioned_anew(
    model: Any, data: Mapping[str, Any], seed: int, earlier: Earlier | None, notes: tuple[str, ...]
) -> Any:
    """The posterior of a model that was compiled anew."""
    return replace(model.condition(data, seed=seed), earlier=earlier, notes=notes)
