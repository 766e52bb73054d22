"""Where a run starts, from what the user said."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ppl.errors import DataError
from ppl.results.columns import Floats, variable_of
from ppl.results.posterior import Posterior


def start_for(posterior: Posterior, init: Any) -> float | Floats:
    """A radius as it is; constrained values, or the JSON file that holds them, as a point of R^dim.

    Raises:
        DataError: the file is no JSON object, or a value does not fit its parameter.
    """
    match init:
        case str() | Path():
            return _unconstrained(posterior, _read(Path(init)))
        case Mapping():
            return _unconstrained(posterior, init)
        case _:
            return float(init)


def _unconstrained(posterior: Posterior, values: Mapping[str, Any]) -> Floats:
    u = posterior.param_unconstrain(values)
    if not np.isfinite(u).all():
        name = variable_of(posterior.param_unc_names()[int(np.argmin(np.isfinite(u)))])
        raise DataError(f"the initial value of {name} is outside its constraint or on its boundary", name)
    return u


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: the initial values are not JSON: {error}") from None
    if not isinstance(values, dict):
        raise DataError(
            f"{path}: initial values are one JSON object, name to value, not a {type(values).__name__}"
        )
    return values


def drawn(posterior: Posterior, start: float | Floats, seed: int) -> Floats:
    """The point (dim,) that a start means, finite there or not: a radius is drawn from, once."""
    if isinstance(start, float):
        rng = np.random.default_rng(seed)
        return rng.uniform(-start, start, posterior.param_unc_num())
    return start
