"""A compiled program, and the posterior it becomes with data."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import AUTOGRAD, NUMPY, Namespace, value_and_grads
from ppl.backend.emit import Emitted, emit
from ppl.backend.library import Wrap
from ppl.backend.load import Module, compile_text, load, load_per_draw, solver
from ppl.backend.located import located
from ppl.backend.memory import keep_freed_memory
from ppl.backend.runtime import Place, block, joined
from ppl.conditioning import DataReader, leaf_values
from ppl.data import Inputs, load_data
from ppl.errors import InferenceError, PPLError, Rejection
from ppl.explaining import explained
from ppl.ir import nodes as ir
from ppl.ir.passes.apart import prepare_parts, take_apart
from ppl.ir.passes.fuse import fuse
from ppl.ir.passes.hoist_data import hoist_data
from ppl.ir.passes.share import share
from ppl.ir.passes.without_prior import NoSuchPrior, without_prior
from ppl.ir.walk import walk
from ppl.layout import check_sizes, free_names, lay_out, parameters_of
from ppl.many_draws import WIDEST, Sizes, as_one_of_many, in_batches, log_joint_gradients, log_joints
from ppl.minibatch import ByRows, by_rows
from ppl.names import Sized, column_names, flat, sized
from ppl.results.fit import Fit, variational
from ppl.source import SourceText

if TYPE_CHECKING:
    from ppl.compiled.density import Density

Floats = NDArray[np.float64]
Values = dict[str, Any]

RUN = 10_000
"""What a run of the emitted code costs beside its arithmetic, in numbers worked through."""
TRIED = 64
"""Points at which it is tried how many can be evaluated at once."""


@dataclass(frozen=True)
class Model:
    """A program that compiled; `condition` gives it data.

    Example:
        >>> model = compile_model("eight_schools.model")
        >>> model
        <Model eight_schools.model: data J, y, sigma; parameters mu, tau, theta_raw>
        >>> posterior = model.condition("eight_schools.data.json")
    """

    source: SourceText
    program: ir.Program = field(repr=False)
    resolved: ir.Program = field(repr=False)
    emitted: Emitted = field(repr=False)
    code: CodeType = field(repr=False)
    softplus: bool = False
    loaded: dict[tuple[str, bool], Module] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )
    """The modules of `per_draw` that were asked for."""

    def __repr__(self) -> str:
        data = f"data {', '.join(self.data_schema)}" if self.data_schema else "no data"
        parameters = ", ".join(d.name for d in self.program.parameters) or "none"
        return f"<Model {self.source.name}: {data}; parameters {parameters}>"

    @classmethod
    def build(cls, source: SourceText, resolved: ir.Program, softplus: bool) -> "Model":
        """The last phases of the compiler: hoist, emit, and Python's own compilation."""
        hoisted = prepare_parts(share(hoist_data(resolved)))
        emitted = emit(hoisted)
        return cls(source, hoisted, resolved, emitted, compile_text(emitted, source.name), softplus)

    @property
    def python_source(self) -> str:
        """The Python module the program was compiled to."""
        return self.emitted.text

    @property
    def data_schema(self) -> dict[str, str]:
        """The type of each variable of the data block, by name."""
        return {d.name: str(d.type) for d in self.program.data}

    def solver(self, xp: Namespace) -> Callable[..., Any]:
        """`lib.solve` of the module."""
        return solver(self.emitted, self.code, xp, self.softplus)

    def module(self, xp: Namespace, wrap: Wrap | None = None, **replaced: Any) -> Module:
        return load(self.emitted, self.code, xp, self.softplus, wrap, **replaced)

    @cached_property
    def recurs(self) -> bool:
        """Whether the log density has a recurrence, which is run step by step."""
        return any(isinstance(n, ir.Scan) for n in self._density_nodes())

    @cached_property
    def loops_by_row(self) -> bool:
        """Whether a function with a loop of its own is called once for each row of the data."""
        functions = self.program.functions
        loops = {f.name for f in functions if any(isinstance(n, ir.While | ir.For) for n in walk(f.body))}
        calls = (n for n in self._density_nodes() if isinstance(n, ir.CallUser))
        return any(call.lifted and call.name in loops for call in calls)

    def _density_nodes(self) -> Iterator[Any]:
        """Every node of what the log density may run."""
        p = self.program
        return walk((p.functions, p.transformed_parameters, p.model))

    @cached_property
    def plain(self) -> Module:
        """The module in NumPy: data, values, draws."""
        return self.module(NUMPY)

    @cached_property
    def traced(self) -> Module:
        """The module under autograd: gradients."""
        return load(*self.emitted_as(fuse(take_apart(self.program))), AUTOGRAD, self.softplus)

    def emitted_as(self, program: ir.Program) -> tuple[Emitted, CodeType]:
        """The text of another form of the program."""
        if program == self.program:
            return self.emitted, self.code
        emitted = emit(program)
        return emitted, compile_text(emitted, self.source.name)

    @cached_property
    def apart(self) -> tuple[Emitted, CodeType]:
        """The text in which densities are in two parts."""
        return self.emitted_as(take_apart(self.program))

    @cached_property
    def compiled(self) -> "Density":
        """The log density under JAX, which the extra "jax" installs."""
        from ppl.compiled.density import Density

        return Density(*self.apart, self.softplus)

    @cached_property
    def unnormalised(self) -> Module:
        """The module under autograd whose densities drop their constants."""
        return load(*self.without_constants, AUTOGRAD, self.softplus)

    @cached_property
    def without_constants(self) -> tuple[Emitted, CodeType]:
        emitted = emit(self.program, propto=True)
        return emitted, compile_text(emitted, self.source.name)

    def density(self, xp: Namespace, propto: bool) -> Module:
        """The module to ask for a log density."""
        return self.unnormalised if propto else self.traced if xp is AUTOGRAD else self.plain

    def per_draw(self, xp: Namespace, propto: bool) -> Module:
        """The module that takes many draws at once."""
        if (xp.name, propto) not in self.loaded:
            text = self.without_constants if propto else self.apart
            self.loaded[xp.name, propto] = load_per_draw(*text, xp, self.softplus)
        return self.loaded[xp.name, propto]

    def condition(self, data: Inputs | Mapping[str, Any] | str | Path = {}, seed: int = 0) -> "Posterior":  # noqa: B006
        """The posterior given data: a mapping of names, or a path to JSON (also .gz) or .npz.

        An array that is a `np.memmap` of doubles stays on disk; fitted by minibatches, it is read a block of
        rows at a time.  `data.with_arrays` takes variables from files of their own.

        `seed` is for random numbers in transformed data.

        Raises:
            DataError: a variable is missing or does not fit its declaration; the message names it.
        """
        keep_freed_memory()
        inputs = load_data(data)
        d = SimpleNamespace()
        with np.errstate(all="ignore"), located(self.plain):
            self.plain.read_data(d, DataReader(self.program.data, inputs).read)
            self.plain.transform_data(d, np.random.default_rng(seed))
            self.plain.prepare(d)
            d.places = lay_out(parameters_of(self.plain.layout, d))
            check_sizes(self.plain.shapes, d)
        return Posterior(self, d, inputs.values)


@dataclass(frozen=True, eq=False)
class Posterior:
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

    model: Model
    d: SimpleNamespace = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)
    targets: dict[Any, Any] = field(init=False, default_factory=dict, repr=False)
    """The targets of compiled/target.py that were asked for, by Jacobian and device."""

    @property
    def source(self) -> SourceText:
        return self.model.source

    def __repr__(self) -> str:
        return f"<Posterior of {self.source.name}: {self.param_unc_num()} unconstrained parameters>"

    # --- Names and sizes ---

    @cached_property
    def variables(self) -> dict[str, list[Sized]]:
        """Parameters, transformed parameters ("transformed") and generated quantities ("generated")."""
        groups: dict[str, list[Sized]] = {"parameters": [], "transformed": [], "generated": []}
        with located(self.model.plain):
            self.model.plain.shapes(self.d, lambda group, *shape: groups[group].append(sized(*shape)))
        return groups

    def declared(self, include_tp: bool, include_gq: bool) -> list[Sized]:
        v = self.variables
        return [
            *v["parameters"],
            *(v["transformed"] if include_tp else []),
            *(v["generated"] if include_gq else []),
        ]

    def param_num(self, include_tp: bool = False, include_gq: bool = False) -> int:
        """How many flat columns there are."""
        return len(self.param_names(include_tp, include_gq))

    def param_names(self, include_tp: bool = False, include_gq: bool = False) -> list[str]:
        """Flat names in Stan's order, e.g. "theta.1"."""
        return [n for v in self.declared(include_tp, include_gq) for n in column_names(v)]

    def param_unc_num(self) -> int:
        """The dimension of the unconstrained space."""
        return sum(math.prod(p.shape) for p in self.places.values())

    def param_unc_names(self) -> list[str]:
        """Flat names of the unconstrained elements, in the order of `u`."""
        parameters = parameters_of(self.model.plain.layout, self.d)
        return [name for p in parameters for name in free_names(p, p.name)]

    @property
    def places(self) -> dict[str, Place]:
        return self.d.places  # type: ignore[no-any-return]

    # --- Density ---

    def log_density(self, u: Floats, propto: bool = False, jacobian: bool = True) -> float:
        """The log density at `u`, with the log-Jacobian of the transforms unless told otherwise.

        `propto` leaves out what does not depend on parameters, as Stan does after `~` and in lupdf.  A point
        that the program rejects has log density -inf.
        """
        module = self.model.density(NUMPY, propto)
        with np.errstate(all="ignore"), located(module):
            try:
                return float(module.log_joint(self.d, self.checked(u), jacobian))
            except Rejection:
                return -np.inf

    def log_density_gradient(
        self, u: Floats, propto: bool = False, jacobian: bool = True
    ) -> tuple[float, Floats]:
        """The log density and its gradient, shape (param_unc_num(),)."""
        if self.model.loops_by_row:
            found = as_one_of_many(self.model.per_draw(AUTOGRAD, propto), self.d, self.checked(u), jacobian)
            if found:
                return found
        module = self.model.density(AUTOGRAD, propto)
        with np.errstate(all="ignore"), located(module):
            try:
                value, parts = value_and_grads(
                    lambda v: module.log_joint(self.d, v, jacobian), self.blocks(self.checked(u))
                )
                return value, joined(list(self.places.values()), parts)
            except Rejection:
                return -np.inf, np.full(self.param_unc_num(), np.nan)

    def log_densities(self, us: Floats, propto: bool = False, jacobian: bool = True) -> Floats:
        """The log density at each row of `us` (n, dim), shape (n,), many at a time; see `log_density`."""
        module, us = self.model.per_draw(NUMPY, propto), self.checked_rows(us)
        if not len(us):
            return np.zeros(0)
        return in_batches(
            us,
            self.width,
            lambda batch: (log_joints(module, self.d, batch, jacobian),),
            lambda u: (self.log_density(u, propto, jacobian),),
        )[0]

    def log_density_gradients(
        self, us: Floats, propto: bool = False, jacobian: bool = True
    ) -> tuple[Floats, Floats]:
        """The log density (n,) and its gradient (n, dim) at each row of `us` (n, dim), many at a time."""
        module, us = self.model.per_draw(AUTOGRAD, propto), self.checked_rows(us)
        if not len(us):
            return np.zeros(0), us
        values, gradients = in_batches(
            us,
            self.width,
            lambda batch: log_joint_gradients(module, self.d, batch, jacobian),
            lambda u: self.log_density_gradient(u, propto, jacobian),
        )
        return values, gradients

    @cached_property
    def cost(self) -> int:
        """How many numbers one of many evaluations works through, its share of a run of the code counted too.

        Points that part at a branch, or cannot be evaluated at once, need runs of their own.
        """
        if self.width > WIDEST:  # then each is evaluated by itself
            return self.width + RUN
        runs = [0]
        module = self.model.per_draw(NUMPY, False)

        def together(batch: Floats) -> tuple[Floats]:
            runs[0] += 1
            return (log_joints(module, self.d, batch, True),)

        def alone(u: Floats) -> tuple[float]:
            runs[0] += 1
            return (self.log_density(u),)

        dim = self.param_unc_num()
        if dim:
            in_batches(np.random.default_rng(0).uniform(-1, 1, (TRIED, dim)), self.width, together, alone)
        return self.width + self.sizes.solved + RUN * runs[0] // TRIED

    @cached_property
    def width(self) -> int:
        """How many numbers the largest array of an evaluation has, as far as the origin shows."""
        return max(self.sizes.largest, self.param_unc_num())

    @cached_property
    def sizes(self) -> Sizes:
        """What an evaluation at the origin works through."""
        sizes = Sizes()
        module = self.model.module(NUMPY, sizes.wrap, solve=sizes.solving(self.model.solver(NUMPY)))
        with np.errstate(all="ignore"), suppress(PPLError), located(module):
            module.log_joint(self.d, np.zeros(self.param_unc_num()), True)
        return sizes

    def blocks(self, u: Floats) -> list[Floats]:
        """One array a parameter."""
        return [block(u, place) for place in self.places.values()]

    def checked_rows(self, us: Floats) -> Floats:
        us = np.asarray(us, dtype=float)
        if us.ndim != 2 or us.shape[1] != self.param_unc_num():
            raise ValueError(f"us has shape {us.shape}, but must have shape (n, {self.param_unc_num()})")
        return us

    def checked(self, u: Floats) -> Floats:
        u = np.asarray(u, dtype=float)
        if u.shape != (self.param_unc_num(),):
            raise ValueError(f"u has shape {u.shape}, but must have shape ({self.param_unc_num()},)")
        return u

    def explain(self, u: Floats) -> str:
        """Why the log density or its gradient at `u` is not finite: statement, argument, value; else ""."""
        return explained(self.model, self.d, self.checked(u))

    # --- Values ---

    def values(
        self, u: Floats, rng: np.random.Generator | None, include_tp: bool, include_gq: bool
    ) -> Values:
        """Every asked-for variable by name, as arrays."""
        module = self.model.plain
        with np.errstate(all="ignore"), located(module):
            steps = module.constrained(self.d, self.checked(u))
            values: Values = dict(next(steps))
            if include_tp or include_gq:
                values |= next(steps)
            if include_gq:
                values |= module.generated(self.d, values, rng or np.random.default_rng(0))
        return values

    def param_constrain(
        self,
        u: Floats,
        include_tp: bool = False,
        include_gq: bool = False,
        rng: np.random.Generator | None = None,
    ) -> Floats:
        """The constrained values at `u`, flat, in the order of `param_names`.

        `rng` draws for generated quantities.
        """
        return flat(self.declared(include_tp, include_gq), self.values(u, rng, include_tp, include_gq))

    def variational(self, **settings: Any) -> Fit:
        """Fit a variational approximation; the settings and their defaults are those of `results.Settings`.

        Example:
            >>> posterior.variational(algorithm="fullrank", seed=1).column_names[:2]
            ('mu', 'tau')
        """
        return variational(self, **settings)

    def by_rows(self, size: str | None = None) -> ByRows:
        """This posterior a few rows at a time; `size` names the variable that counts rows.

        Raises:
            InferenceError: the target is no sum over rows; the message says where.
        """
        return by_rows(self, size)

    def unconstrained(self, name: str) -> NDArray[np.intp]:
        """Where a parameter that has no constraint lies in `u`.

        Raises:
            InferenceError: there is no such parameter, or it has a constraint.
        """
        constraints = {d.name: d.constraint for d in self.model.program.parameters if not d.items}
        found = constraints.get(name)
        if found != "identity":
            free = ", ".join(n for n, constraint in constraints.items() if constraint == "identity")
            is_what = f"has the constraint {found}" if found else "is no parameter"
            raise InferenceError(f"`{name}` {is_what}; the parameters without one are {free or 'none'}.")
        place = self.places[name]
        return np.ravel(np.arange(self.param_unc_num())[place.at])

    def without_prior(self, name: str) -> tuple["Posterior", NDArray[np.intp]]:
        """The posterior less the Gaussian prior of a parameter, and where that parameter lies in `u`.

        Raises:
            InferenceError: the program has not exactly one statement `name ~ normal(0, ...)`.
        """
        try:
            removed = without_prior(self.model.resolved, name)
        except NoSuchPrior as why:
            raise InferenceError(str(why)) from None
        model = Model.build(self.source, removed.program, self.model.softplus)
        place = self.places[name]
        return model.condition(self.data), np.ravel(np.arange(self.param_unc_num())[place.at])

    def param_unconstrain(self, values: Mapping[str, Any]) -> Floats:
        """The `u` of constrained values, given by variable name in their natural shapes.

        Raises:
            DataError: a value is missing, has another shape or breaks its constraint.
        """
        given = leaf_values(self.model.program.parameters, self.places, values)
        with np.errstate(all="ignore"), located(self.model.plain):
            return joined(list(self.places.values()), self.model.plain.unconstrained(self.d, given))
