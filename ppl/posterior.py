"""A compiled program with its data: what fits and reports are made of."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grads
from ppl.backend.located import located
from ppl.backend.runtime import Place, block, joined
from ppl.conditioning import leaf_values, leaves
from ppl.errors import InferenceError, Rejection
from ppl.explaining import explained
from ppl.ir.passes.without_prior import NoSuchPrior, without_prior
from ppl.layout import free_names, parameters_of
from ppl.many_draws import (
    WIDEST,
    Sizes,
    as_one_of_many,
    in_batches,
    log_joint_gradients,
    log_joints,
    sizes_of,
)
from ppl.marginals import most_probable, probabilities
from ppl.minibatch import ByRows, by_rows
from ppl.names import Sized, column_names, flat, flat_draws, sized
from ppl.results.fit import Fit, variational
from ppl.source import SourceText
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD

if TYPE_CHECKING:
    from ppl.model import Model

Floats = NDArray[np.float64]
Values = dict[str, Any]

RUN = 10_000
"""What a run of the emitted code costs beside its arithmetic, in numbers worked through."""
OF_POINTS = 16
"""How many times larger than the largest array of a batch its points may be, which are read once each."""
OF_DRAWS = 1 << 18
"""How many numbers the variables of all draws that are computed at once should have."""
TRIED = 64
"""Points at which it is tried how many can be evaluated at once."""


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

    model: "Model"
    d: SimpleNamespace = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)
    targets: dict[Any, Any] = field(init=False, default_factory=dict, repr=False)
    """The targets of compiled/ that were asked for: by Jacobian, device and haste, or by rows and device."""

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
            self.in_a_batch,
            lambda batch: (log_joints(module, self.d, batch, jacobian),),
            lambda u: (self.log_density(u, propto, jacobian),),
        )[0]

    def log_density_gradients(
        self, us: Floats, propto: bool = False, jacobian: bool = True
    ) -> tuple[Floats, Floats]:
        """The log density (n,) and its gradient (n, dim) at each row of `us` (n, dim), many at a time.

        Where the density is zero, its logarithm -inf, the gradient means nothing.
        """
        module, us = self.model.per_draw(AUTOGRAD, propto), self.checked_rows(us)
        if not len(us):
            return np.zeros(0), us
        values, gradients = in_batches(
            us,
            self.in_a_batch,
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
    def in_a_batch(self) -> int:
        """How many numbers a point counts for in a batch: many scalar parameters are never one array."""
        return max(self.sizes.largest, self.param_unc_num() // OF_POINTS, 1)

    @cached_property
    def sizes(self) -> Sizes:
        """What an evaluation at the origin works through."""
        model = self.model
        return sizes_of(model.emitted, model.code, model.softplus, self.d, self.param_unc_num())

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

    @cached_property
    def draws_at_once(self) -> int:
        """How many draws `param_constrain_draws` should be given; 1 where the program takes one at a time."""
        if self.model.over_draws is None:
            return 1
        return max(1, OF_DRAWS // max(self.in_a_batch, self.param_num(include_tp=True, include_gq=True)))

    def param_constrain_draws(self, us: Floats, rng: np.random.Generator) -> Floats:
        """All columns, a row for each row of `us` (n, dim): every statement runs once for all draws.

        Raises:
            ValueError: the program takes one draw at a time, as `draws_at_once` says.
            Rejection: it rejects one of them.
        """
        module = self.model.over_draws
        if module is None:
            raise ValueError("the program takes one draw at a time")
        draw = np.arange(1, len(us) + 1)
        with np.errstate(all="ignore"), located(module):
            steps = module.constrained(self.d, self.checked_rows(us), draw)
            values: Values = {**next(steps), **next(steps)}
            values |= module.generated(self.d, values, rng, draw)
        return flat_draws(self.declared(include_tp=True, include_gq=True), values, len(us))

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

    # --- Discrete parameters ---

    def probabilities(self, us: Floats, name: str) -> Floats:
        """The exact probabilities of a discrete parameter's values given each row of `us` (n, dim).

        Shape (n, *dims, values), the values in order from the lower bound.

        Raises:
            InferenceError: there is no such discrete parameter.

        """
        return probabilities(self, self.checked_rows(us), name)

    def most_probable(self, us: Floats) -> dict[str, NDArray[np.int64]]:
        """The jointly most probable values of the discrete parameters given each row of `us`.

        Of each an array (n, *dims).

        Raises:
            InferenceError: the program has no discrete parameters.
        """
        return most_probable(self, self.checked_rows(us))

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

    @cached_property
    def in_bounded_sets(self) -> NDArray[np.bool_]:
        """Which elements of `u` make a value of a set that is always bounded, as a simplex is."""
        found = np.zeros(self.param_unc_num(), dtype=bool)
        for d in leaves(self.model.program.parameters):
            if CONSTRAINT_BY_KEYWORD[d.constraint].bounded:
                found[self.places[d.name].at] = True
        return found

    def without_prior(self, name: str) -> tuple["Posterior", NDArray[np.intp]]:
        """The posterior less the Gaussian prior of a parameter, and where that parameter lies in `u`.

        Raises:
            InferenceError: the program has not exactly one statement `name ~ normal(0, ...)`.
        """
        try:
            removed = without_prior(self.model.resolved, name)
        except NoSuchPrior as why:
            raise InferenceError(str(why)) from None
        model = self.model.build(self.source, removed.program, self.model.softplus)
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
