"""A compiled program, and the posterior it becomes with data."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import AUTOGRAD, NUMPY, Namespace, value_and_grad
from ppl.backend.emit import Emitted
from ppl.backend.load import Module, load
from ppl.backend.runtime import Place
from ppl.conditioning import DataReader, lay_out, leaf_values
from ppl.data import load_data
from ppl.errors import InferenceError, PPLError, Rejection
from ppl.ir import nodes as ir
from ppl.names import Sized, column_names, flat, sized
from ppl.source import SourceText

Floats = NDArray[np.float64]
Values = dict[str, Any]


@dataclass(frozen=True)
class Model:
    """A program that compiled; `condition` gives it data.

    Example:
        >>> model = compile_model("eight_schools.model")
        >>> posterior = model.condition("eight_schools.data.json")
    """

    source: SourceText
    program: ir.Program = field(repr=False)
    emitted: Emitted = field(repr=False)
    code: CodeType = field(repr=False)
    softplus: bool = False

    @property
    def python_source(self) -> str:
        """The Python module the program was compiled to."""
        return self.emitted.text

    @property
    def data_schema(self) -> dict[str, str]:
        """The type of each variable of the data block, by name."""
        return {d.name: str(d.type) for d in self.program.data}

    def module(self, xp: Namespace, **replaced: Any) -> Module:
        return load(self.emitted, self.code, xp, self.softplus, **replaced)

    @cached_property
    def plain(self) -> Module:
        """The module in NumPy: data, values, draws."""
        return self.module(NUMPY)

    @cached_property
    def traced(self) -> Module:
        """The module under autograd: gradients."""
        return self.module(AUTOGRAD)

    def condition(self, data: Mapping[str, Any] | str | Path = {}, seed: int = 0) -> "Posterior":  # noqa: B006
        """The posterior given data: a mapping of names, or a path to JSON (also .gz) or .npz.

        `seed` is for random numbers in transformed data.

        Raises:
            DataError: a variable is missing or does not fit its declaration; the message names it.
        """
        inputs = load_data(data)
        d = SimpleNamespace()
        with np.errstate(all="ignore"), located(self.plain):
            self.plain.read_data(d, DataReader(self.program.data, inputs).read)
            self.plain.transform_data(d, np.random.default_rng(seed))
            self.plain.prepare(d)
            d.places = lay_out(self.plain.layout, d)
        return Posterior(self, d, inputs.values)


@contextmanager
def located(module: Module) -> Iterator[None]:
    """Give errors that emitted code raises their place in the program."""
    try:
        yield
    except Rejection as error:
        place = module.place_of(error)
        raise Rejection(f"{place.describe()}\n{error}" if place else str(error)) from None
    except (IndexError, ValueError, ArithmeticError) as error:
        place = module.place_of(error)
        if place is None:
            raise
        raise InferenceError(f"{place.describe()}\n{error}") from error


class CheckedTerms(list[Any]):
    """Terms of the target that stop at the first one that is not finite."""

    def append(self, term: Any) -> None:
        if not np.isfinite(term):
            raise NotFinite(float(term))
        super().append(term)


class NotFinite(ArithmeticError):
    """A term of the target is nan or infinite."""

    def __init__(self, value: float):
        self.value = value
        super().__init__(f"This term of the log density is {value}.")


@dataclass(frozen=True, eq=False)
class Posterior:
    """A model with its data: a log density over R^dim, and the way back to the program's variables.

    `u` is always the unconstrained vector, shape (param_unc_num(),).
    """

    model: Model
    d: SimpleNamespace = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)

    @property
    def source(self) -> SourceText:
        return self.model.source

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
        return max((p.stop for p in self.places.values()), default=0)

    def param_unc_names(self) -> list[str]:
        """Flat names of the unconstrained elements, in the order of `u`."""
        return [
            "".join([name, *(f".{k + 1}" for k in index)])
            for name, place in self.places.items()
            for index in np.ndindex(*place.shape)
        ]

    @property
    def places(self) -> dict[str, Place]:
        return self.d.places  # type: ignore[no-any-return]

    # --- Density ---

    def log_density(self, u: Floats, propto: bool = False, jacobian: bool = True) -> float:
        """The log density at `u`, with the log-Jacobian of the transforms unless told otherwise.

        A point that the program rejects has log density -inf.
        """
        module = self.model.plain
        with np.errstate(all="ignore"), located(module):
            try:
                return float(module.log_joint(self.d, self.checked(u), jacobian))
            except Rejection:
                return -np.inf

    def log_density_gradient(
        self, u: Floats, propto: bool = False, jacobian: bool = True
    ) -> tuple[float, Floats]:
        """The log density and its gradient, shape (param_unc_num(),)."""
        module = self.model.traced
        with np.errstate(all="ignore"), located(module):
            try:
                point = self.checked(u)
                return value_and_grad(lambda v: module.log_joint(self.d, v, jacobian), point)
            except Rejection:
                return -np.inf, np.full(self.param_unc_num(), np.nan)

    def checked(self, u: Floats) -> Floats:
        u = np.asarray(u, dtype=float)
        if u.shape != (self.param_unc_num(),):
            raise ValueError(f"u has shape {u.shape}, but must have shape ({self.param_unc_num()},)")
        return u

    def explain(self, u: Floats) -> str:
        """Which statement makes the log density at `u` not finite, in words; "" when none does."""
        module = self.model.module(NUMPY, terms=CheckedTerms)
        try:
            with np.errstate(all="ignore"):
                module.log_joint(self.d, self.checked(u), True)
        except (PPLError, ArithmeticError, IndexError, ValueError) as error:
            place = module.place_of(error)
            return f"{place.describe()}\n{error}" if place else str(error)
        return ""

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

    def param_unconstrain(self, values: Mapping[str, Any]) -> Floats:
        """The `u` of constrained values, given by variable name in their natural shapes.

        Raises:
            DataError: a value is missing, has another shape or breaks its constraint.
        """
        given = leaf_values(self.model.program.parameters, self.places, values)
        with np.errstate(all="ignore"), located(self.model.plain):
            blocks: Sequence[Floats] = list(self.model.plain.unconstrained(self.d, given))
        return np.concatenate(blocks) if blocks else np.zeros(0)
