"""What is known of discrete parameters given the others: probabilities, and the most probable values."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ppl.backend.runtime import Place
from ppl.errors import InferenceError
from ppl.results.columns import reshape

Floats = NDArray[np.float64]


class Summing(Protocol):
    """A program with discrete parameters; summing.Summing has it, and documents it."""

    @property
    def names(self) -> tuple[str, ...]: ...
    def with_data(self, values: Mapping[str, Any]) -> Any: ...
    def check_sizes(self, values: Mapping[str, Any]) -> None: ...
    def tilted(self, values: Mapping[str, Any]) -> tuple[Any, dict[str, str]]: ...
    def most_probable(self, values: Mapping[str, Any]) -> Any: ...


class Compiled(Protocol):
    """What is needed of a model."""

    @property
    def discrete(self) -> Summing | None: ...
    def known_values(self, d: SimpleNamespace) -> dict[str, Any]: ...


class Conditioned(Protocol):
    """What is needed of a posterior; posterior.Posterior has it."""

    @property
    def model(self) -> Compiled: ...
    @property
    def d(self) -> SimpleNamespace: ...
    @property
    def data(self) -> Mapping[str, Any]: ...
    @property
    def places(self) -> Mapping[str, Place]: ...
    @property
    def draws_at_once(self) -> int: ...
    def param_unc_num(self) -> int: ...
    def param_names(self, include_tp: bool = False, include_gq: bool = False) -> Sequence[str]: ...
    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]: ...
    def param_constrain_draws(self, us: Floats, rng: np.random.Generator) -> Floats: ...
    def param_constrain(
        self, u: Floats, include_tp: bool, include_gq: bool, rng: np.random.Generator | None
    ) -> Floats: ...


def probabilities(posterior: Conditioned, us: Floats, name: str) -> Floats:
    """Of each value of each entry of a discrete parameter given each row of `us`: (n, *dims, values).

    They are the gradient of the log sum in log weights of the values (Darwiche 2003, section 4, of a network
    polynomial).

    Raises:
        InferenceError: there is no such discrete parameter.
    """
    tilted, names = summing_of(posterior, name).tilted(posterior.model.known_values(posterior.d))
    whole: Conditioned = tilted.condition(posterior.data)
    dim = whole.param_unc_num()
    place = whole.places[names[name]]
    wide = np.zeros((len(us), dim))
    wide[:, : us.shape[1]] = us
    _, gradients = whole.log_density_gradients(wide)
    found: Floats = gradients[:, place.at].reshape(len(us), *place.dims, *place.core)
    return found


def most_probable(posterior: Conditioned, us: Floats) -> dict[str, NDArray[np.int64]]:
    """The jointly most probable values of all discrete parameters given each row of `us`: (n, *dims) each.

    Raises:
        InferenceError: the program has no discrete parameters.
    """
    summing = summing_of(posterior)
    names = summing.names
    model = summing.most_probable(posterior.model.known_values(posterior.d))
    whole: Conditioned = model.condition(posterior.data)
    rows = rows_of(whole, us)
    columns = whole.param_names(include_tp=True, include_gq=True)
    return {name: reshape(rows, columns, name).astype(np.int64) for name in names}


def rows_of(posterior: Conditioned, us: Floats) -> Floats:
    """All columns for each row of `us`."""
    rng = np.random.default_rng(0)
    if posterior.draws_at_once > 1:
        size = posterior.draws_at_once
        parts = [posterior.param_constrain_draws(us[k : k + size], rng) for k in range(0, len(us), size)]
        return np.concatenate(parts)
    return np.array([posterior.param_constrain(u, True, True, rng) for u in us])


def summing_of(posterior: Conditioned, name: str | None = None) -> Summing:
    """The program with its discrete parameters; refuses a name that none of them has."""
    found = posterior.model.discrete
    known = found.names if found is not None else ()
    if found is None or (name is not None and name not in known):
        what = (
            "The program has no discrete parameters"
            if found is None
            else f"`{name}` is no discrete parameter"
        )
        raise InferenceError(f"{what}; they are {', '.join(known)}." if known else f"{what}.")
    return found
