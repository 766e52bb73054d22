"""Where a run starts, from what the user said."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppl.errors import DataError
from ppl.results.columns import Floats
from ppl.results.posterior import Posterior


def start_for(posterior: Posterior, init: Any) -> float | Floats:
    """A radius as it is; constrained values, or the JSON file that holds them, as a point of R^dim.

    Raises:
        DataError: the file is no JSON object, or a value does not fit its parameter.
    """
    match init:
        case str() | Path():
            return posterior.param_unconstrain(_read(Path(init)))
        case Mapping():
            return posterior.param_unconstrain(init)
        case _:
            return float(init)


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
