"""What the results take of a posterior, and how inference sees the same posterior."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ppl.results.columns import Floats


class Program(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...


class Posterior(Protocol):
    """The methods of model.Posterior that a fit uses."""

    @property
    def source(self) -> Program: ...
    @property
    def data(self) -> Mapping[str, Any]: ...
    def param_unc_num(self) -> int: ...
    def param_unc_names(self) -> Sequence[str]: ...
    def param_names(self, include_tp: bool = False, include_gq: bool = False) -> Sequence[str]: ...
    def log_density(self, u: Floats, propto: bool = False, jacobian: bool = True) -> float: ...
    def log_density_gradient(
        self, u: Floats, propto: bool = False, jacobian: bool = True
    ) -> tuple[float, Floats]: ...
    def param_constrain(
        self,
        u: Floats,
        include_tp: bool = False,
        include_gq: bool = False,
        rng: np.random.Generator | None = None,
    ) -> Floats: ...
    def param_unconstrain(self, values: Mapping[str, Any]) -> Floats: ...
    def explain(self, u: Floats) -> str: ...


@dataclass(frozen=True)
class AsTarget:
    """A posterior as a density over R^dim (inference.target.Target)."""

    posterior: Posterior

    @property
    def dim(self) -> int:
        return self.posterior.param_unc_num()

    def log_density(self, u: Floats) -> float:
        return self.posterior.log_density(u)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.posterior.log_density_gradient(u)

    def explain(self, u: Floats) -> str:
        return self.posterior.explain(u)
