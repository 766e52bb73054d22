"""A program with its data as a log density over R^dim, and the way back to the program's variables."""

import math
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from ppl.arrays import AUTOGRAD, NUMPY, values_and_grads
from ppl.errors import Rejection
from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.kernel.density.layout import Data, parameter_places, parameters_of
from ppl.kernel.density.reading import checked_value, reader_of
from ppl.kernel.draws.names import Sized, flat, sized
from ppl.kernel.emit.load import Code, Module, load
from ppl.kernel.emit.located import located
from ppl.kernel.emit.runtime import joined
from ppl.kernel.ir.nodes import Program
from ppl.records import dataclass


@dataclass(frozen=True, eq=False)
class LogDensity(Target):
    """The log joint, with the log-Jacobian of the transforms: a target of `advi`.

    `u` is the unconstrained vector (dim,). `plain` computes values and variables in NumPy, `traced` the log
    joint under autograd.
    """

    plain: Module
    traced: Module
    d: Data

    @property
    def dim(self) -> int:
        return sum(math.prod(place.shape) for place in self.d.places.values())

    def log_density(self, u: Floats) -> float:
        """In nats; -inf where the program rejects `u`."""
        with np.errstate(all="ignore"), located(self.plain):
            try:
                return float(self.plain.log_joint(self.d, u, True))
            except Rejection:
                return -np.inf

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        """The same with the gradient (dim,), nan where the program rejects `u`."""
        with np.errstate(all="ignore"), located(self.traced):
            try:
                value, parts = values_and_grads(self._of_blocks, self.d.blocks(u))
                return float(value), joined(list(self.d.places.values()), parts)
            except Rejection:
                return -np.inf, np.full(len(u), np.nan)

    def _of_blocks(self, blocks: list[Any]) -> Any:
        return self.traced.log_joint(self.d, blocks, True)

    @cached_property
    def variables(self) -> list[Sized]:
        """Parameters, transformed parameters and generated quantities, with their shapes."""
        variables: list[Sized] = []
        self.plain.shapes(self.d, lambda group, *shape: variables.append(sized(*shape)))
        return variables

    def constrained(self, u: Floats, rng: np.random.Generator) -> Floats:
        """All variables at `u`, flat, in the order of their names; `rng` draws generated quantities."""
        with np.errstate(all="ignore"), located(self.plain):
            parameters, transformed = self.plain.constrained(self.d, u)
            values = {**parameters, **transformed}
            values |= self.plain.generated(self.d, values, rng)
        return flat(self.variables, values)


def conditioned(program: Program, code: Code, values: Mapping[str, Any], seed: int = 0) -> LogDensity:
    """The log density given data by name, as JSON has them; `seed` is for random numbers among them.

    Raises:
        DataError: a variable is missing, or does not fit its declaration; the message names it.
        Rejection: a statement of transformed data rejects them.
    """
    plain, traced = load(code, NUMPY), load(code, AUTOGRAD)
    d = Data(seed__=seed)
    with np.errstate(all="ignore"), located(plain):
        plain.read_data(d, reader_of(program.data, partial(checked_value, values)))
        plain.transform_data(d, np.random.default_rng(seed))
        plain.prepare(d)
        d.places = d.own_places = parameter_places(parameters_of(plain.layout, d))
    return LogDensity(plain, traced, d)
