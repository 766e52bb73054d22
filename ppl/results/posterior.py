"""What results take of a model and its posterior, and how inference sees the posterior.

Stated as protocols, so that posterior.Posterior can offer `variational` without a cycle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ppl.inference.target import Target
from ppl.names import Sized
from ppl.results.columns import Floats
from ppl.source import SourceText

Indices = NDArray[np.intp]


class Model(Protocol):
    """What a saved fit is checked against, and loaded with."""

    @property
    def source(self) -> SourceText: ...
    @property
    def softplus(self) -> bool: ...
    @property
    def data_schema(self) -> Mapping[str, str]: ...
    @property
    def recurs(self) -> bool: ...
    @property
    def discrete(self) -> Any: ...
    def condition(self, data: Any) -> "Posterior": ...


class Posterior(Protocol):
    """What a fit needs; posterior.Posterior has it, and documents it."""

    @property
    def model(self) -> Model: ...
    @property
    def data(self) -> Mapping[str, Any]: ...
    @property
    def targets(self) -> dict[Any, Any]: ...
    def param_unc_num(self) -> int: ...
    def probabilities(self, us: Floats, name: str) -> Floats: ...
    def most_probable(self, us: Floats) -> dict[str, NDArray[np.int64]]: ...
    def param_unc_names(self) -> Sequence[str]: ...
    def param_names(self, include_tp: bool = False, include_gq: bool = False) -> Sequence[str]: ...
    def declared(self, include_tp: bool, include_gq: bool) -> Sequence[Sized]: ...
    def log_density(self, u: Floats, propto: bool = False, jacobian: bool = True) -> float: ...
    def log_density_gradient(
        self, u: Floats, propto: bool = False, jacobian: bool = True
    ) -> tuple[float, Floats]: ...
    def log_densities(self, us: Floats, propto: bool = False, jacobian: bool = True) -> Floats: ...
    def log_density_gradients(
        self, us: Floats, propto: bool = False, jacobian: bool = True
    ) -> tuple[Floats, Floats]: ...
    def explain(self, u: Floats) -> str: ...
    @property
    def d(self) -> SimpleNamespace: ...
    @property
    def width(self) -> int: ...
    @property
    def cost(self) -> int: ...
    @property
    def in_bounded_sets(self) -> NDArray[np.bool_]: ...
    def by_rows(self, size: str | None = None) -> Target: ...
    def unconstrained(self, name: str) -> Indices: ...
    def without_prior(self, name: str) -> "tuple[Posterior, Indices]": ...
    def param_unconstrain(self, values: Mapping[str, Any]) -> Floats: ...
    @property
    def draws_at_once(self) -> int: ...
    def param_constrain_draws(self, us: Floats, rng: np.random.Generator) -> Floats: ...
    def param_constrain(
        self,
        u: Floats,
        include_tp: bool = False,
        include_gq: bool = False,
        rng: np.random.Generator | None = None,
    ) -> Floats: ...


@dataclass(frozen=True)
class AsTarget:
    """A posterior as a density over R^dim (inference.target.Target).

    Without `jacobian` it is no density over R^dim: its maximum is the mode of the constrained parameters.
    `note` is a sentence for the user, or "".
    """

    posterior: Posterior
    jacobian: bool = True
    note: str = ""

    @property
    def dim(self) -> int:
        return self.posterior.param_unc_num()

    @property
    def width(self) -> int:
        return self.posterior.cost

    def log_density(self, u: Floats) -> float:
        return self.posterior.log_density(u, jacobian=self.jacobian)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.posterior.log_density_gradient(u, jacobian=self.jacobian)

    def log_densities(self, us: Floats) -> Floats:
        return self.posterior.log_densities(us, jacobian=self.jacobian)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        return self.posterior.log_density_gradients(us, jacobian=self.jacobian)

    def explain(self, u: Floats) -> str:
        return self.posterior.explain(u)


def parameters_of(posterior: Posterior) -> tuple[str, ...]:
    """The names of the program's parameters."""
    return tuple(v.name for v in posterior.declared(include_tp=False, include_gq=False))
