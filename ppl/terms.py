"""Some terms of a target as a density of their own, at one point or at many."""

from dataclasses import dataclass
from functools import cached_property
from types import CodeType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grads
from ppl.backend.emit import Emitted
from ppl.backend.load import Module, load, load_per_draw
from ppl.backend.located import located
from ppl.backend.runtime import block, joined
from ppl.errors import Rejection
from ppl.many_draws import in_batches, log_joint_gradients, log_joints, sizes_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Terms:
    """Emitted code whose log joint is a sum of some terms of a target.

    Every method takes the data `d` and whether the log-Jacobian counts.
    """

    emitted: Emitted
    code: CodeType
    softplus: bool

    @cached_property
    def traced(self) -> Module:
        """For one point, under autograd."""
        return load(self.emitted, self.code, AUTOGRAD, self.softplus)

    @cached_property
    def many(self) -> dict[str, Module]:
        """For many points at once, by namespace."""
        return {
            xp.name: load_per_draw(self.emitted, self.code, xp, self.softplus) for xp in (NUMPY, AUTOGRAD)
        }

    def width(self, d: SimpleNamespace, dim: int) -> int:
        """How many numbers the largest array of an evaluation has, as far as the origin (dim,) shows."""
        return sizes_of(self.emitted, self.code, self.softplus, d, dim).largest

    def log_density(self, d: SimpleNamespace, u: Floats, jacobian: bool) -> float:
        """At `u` (dim,); -inf where the program rejects it."""
        with np.errstate(all="ignore"), located(self.traced):
            try:
                return float(self.traced.log_joint(d, _blocks(d, u), jacobian))
            except Rejection:
                return -np.inf

    def log_density_gradient(self, d: SimpleNamespace, u: Floats, jacobian: bool) -> tuple[float, Floats]:
        """The same with the gradient (dim,), nan where the program rejects `u`."""
        with np.errstate(all="ignore"), located(self.traced):
            try:
                value, parts = value_and_grads(lambda v: self.traced.log_joint(d, v, jacobian), _blocks(d, u))
                return value, joined(list(d.places.values()), parts)
            except Rejection:
                return -np.inf, np.full(len(u), np.nan)

    def log_densities(self, d: SimpleNamespace, us: Floats, jacobian: bool, width: int) -> Floats:
        """At each row of `us` (n, dim), (n,); `width` is as in `many_draws.in_batches`."""
        return in_batches(
            us,
            width,
            lambda some: (log_joints(self.many[NUMPY.name], d, some, jacobian),),
            lambda u: (self.log_density(d, u, jacobian),),
        )[0]

    def log_density_gradients(
        self, d: SimpleNamespace, us: Floats, jacobian: bool, width: int
    ) -> tuple[Floats, Floats]:
        """The same with the gradients (n, dim)."""
        values, gradients = in_batches(
            us,
            width,
            lambda some: log_joint_gradients(self.many[AUTOGRAD.name], d, some, jacobian),
            lambda u: self.log_density_gradient(d, u, jacobian),
        )
        return values, gradients


def _blocks(d: SimpleNamespace, u: Floats) -> list[Floats]:
    """One array a parameter."""
    return [block(u, place) for place in d.places.values()]
