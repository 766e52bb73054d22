"""What is known of discrete parameters given the others: probabilities, and the most probable values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.errors import InferenceError
from ppl.results.columns import reshape

if TYPE_CHECKING:
    from ppl.posterior import Posterior

Floats = NDArray[np.float64]


def probabilities(posterior: "Posterior", us: Floats, name: str) -> Floats:
    """Of each value of each entry of a discrete parameter given each row of `us`: (n, *dims, values).

    They are the gradient of the log sum in log weights of the values (Darwiche 2003, section 4: the derivatives
    of a network polynomial).

    Raises:
        InferenceError: there is no such discrete parameter.
    """
    require(posterior, [name])
    tilted, names = posterior.model.discrete.tilted(posterior.model.known_values(posterior.d))
    whole = tilted.condition(posterior.data)
    dim = whole.param_unc_num()
    place = whole.places[names[name]]
    wide = np.zeros((len(us), dim))
    wide[:, : us.shape[1]] = us
    _, gradients = whole.log_density_gradients(wide)
    found: Floats = gradients[:, place.at].reshape(len(us), *place.dims, *place.core)
    return found


def most_probable(posterior: "Posterior", us: Floats) -> dict[str, NDArray[np.int64]]:
    """The jointly most probable values of all discrete parameters given each row of `us`: (n, *dims) each.

    Raises:
        InferenceError: the program has no discrete parameters.
    """
    require(posterior, [])
    names = posterior.model.discrete.names
    model = posterior.model.discrete.most_probable(posterior.model.known_values(posterior.d))
    whole = model.condition(posterior.data)
    rows = rows_of(whole, us)
    columns = whole.param_names(include_tp=True, include_gq=True)
    return {name: reshape(rows, columns, name).astype(np.int64) for name in names}


def rows_of(posterior: "Posterior", us: Floats) -> Floats:
    """All columns for each row of `us`."""
    rng = np.random.default_rng(0)
    if posterior.draws_at_once > 1:
        size = posterior.draws_at_once
        parts = [posterior.param_constrain_draws(us[k : k + size], rng) for k in range(0, len(us), size)]
        return np.concatenate(parts)
    return np.array([posterior.param_constrain(u, True, True, rng) for u in us])


def require(posterior: "Posterior", asked: Sequence[str]) -> Any:
    """Refuses a name that no discrete parameter has."""
    known = posterior.model.discrete.names if posterior.model.discrete is not None else ()
    wrong = [name for name in asked if name not in known]
    if wrong or not known:
        what = f"`{wrong[0]}` is no discrete parameter" if wrong else "The program has no discrete parameters"
        raise InferenceError(f"{what}; the discrete parameters are {', '.join(known) or 'none'}.")
