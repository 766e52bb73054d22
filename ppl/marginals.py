"""What is known of discrete parameters given the others: probabilities, and the most probable values."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ppl.errors import InferenceError
from ppl.results.columns import reshape

if TYPE_CHECKING:
    from ppl.posterior import Posterior
    from ppl.summing import Summing

Floats = NDArray[np.float64]


def probabilities(posterior: "Posterior", us: Floats, name: str) -> Floats:
    """Of each value of each entry of a discrete parameter given each row of `us`: (n, *dims, values).

    They are the gradient of the log sum in log weights of the values (Darwiche 2003, section 4, of a network
    polynomial).

    Raises:
        InferenceError: there is no such discrete parameter.
    """
    tilted, names = summing_of(posterior, name).tilted(posterior.model.known_values(posterior.d))
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
    summing = summing_of(posterior)
    names = summing.names
    model = summing.most_probable(posterior.model.known_values(posterior.d))
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


def summing_of(posterior: "Posterior", name: str | None = None) -> "Summing":
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
