"""What is known of discrete parameters given the others: probabilities, and the most probable values."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ppl.data import Inputs
from ppl.density.completions import completed_draws
from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.floats import Floats

if TYPE_CHECKING:
    from ppl.structure.discrete.rewrite import Summed


def probabilities(posterior: LogDensity, us: Floats, name: str) -> Floats:
    """Of each value of each entry of a discrete parameter given each row of `us`: (n, *dims, values).

    They are the gradient of the log sum in log weights of the values (Darwiche 2003, section 4, of a network
    polynomial).

    Raises:
        InferenceError: there is no such discrete parameter.
    """
    own = {c.name: c.whole for c in posterior.model.completions}.get(name, name)
    require_discrete(posterior, own)
    tilted = with_elimination(posterior, "tilted")
    assert tilted.model.discrete is not None
    place = tilted.places[dict(tilted.model.discrete.tilts)[own]]
    wide = np.zeros((len(us), tilted.param_unc_num()))
    wide[:, : us.shape[1]] = us
    _, gradients = tilted.log_density_gradients(wide)
    found: Floats = gradients[:, place.at].reshape(len(us), *place.dims, *place.core)
    return found


def most_probable(posterior: LogDensity, us: Floats) -> dict[str, NDArray[np.int64]]:
    """The jointly most probable values of all discrete parameters given each row of `us`: (n, *dims) each.

    Raises:
        InferenceError: the program has no discrete parameters.
    """
    discrete = require_discrete(posterior)
    whole = with_elimination(posterior, "maximum")
    rows, found, start = rows_of(whole, us), {}, 0
    for v in whole.declared(include_tp=True, include_gq=True):
        columns = slice(start, start := start + v.count)
        if v.name in discrete.names:
            found[v.name] = in_shape(rows[:, columns], v.shape).astype(np.int64)
        for c in posterior.model.completions:
            if c.part == v.name and c.discrete:
                found[c.name] = completed_draws(c, posterior.d, rows[:, columns]).astype(np.int64)
    return found


def with_elimination(posterior: LogDensity, elimination: str) -> LogDensity:
    """The posterior of the same data in which another thing becomes of the discrete parameters.

    It is compiled at the first call.
    """
    if elimination not in posterior.eliminations:
        values = posterior.model.known_values(posterior.d)
        model = posterior.model.changed(elimination=elimination, values=values)
        d = model.data_of(Inputs(posterior.data, "the data"), posterior.d.seed__)
        posterior.eliminations[elimination] = LogDensity(model, d, posterior.data)
    return posterior.eliminations[elimination]


def in_shape(columns: Floats, shape: tuple[int, ...]) -> Floats:
    """Flat columns of draws (n, elements), the first index fastest, as (n, *shape)."""
    whole = columns.reshape(len(columns), *shape[::-1])
    return whole.transpose(0, *range(len(shape), 0, -1))


def rows_of(posterior: LogDensity, us: Floats) -> Floats:
    """All columns for each row of `us`."""
    rng, size = np.random.default_rng(0), posterior.draws_at_once
    if size > 1:
        parts = np.array_split(us, math.ceil(len(us) / size))
        return np.concatenate([posterior.param_constrain_draws(part, rng) for part in parts])
    return np.array([posterior.param_constrain(u, True, True, rng) for u in us])


def require_discrete(posterior: LogDensity, name: str | None = None) -> "Summed":
    """How discrete parameters were summed out; refuses a name that none of them has."""
    found = posterior.model.discrete
    if found is None:
        raise InferenceError("The program has no discrete parameters.")
    if name is not None and name not in found.names:
        known = ", ".join(found.names)
        raise InferenceError(f"`{name}` is not a discrete parameter; they are {known}.")
    return found
