"""Data far from zero for their spread, whose coefficients hardly any approximation fits."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

FAR_FROM_ZERO = 20.0
"""How many sds from zero a mean must lie to be told of."""
FEWEST_SPREAD_ROWS = 3
"""Rows that a spread takes."""
FIRST_ROWS = 10_000
"""The first rows, which are looked at."""


def advice_on(data: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence that names them, for a fit that cannot be believed; none where there are none.

    Example:
        >>> advice_on({"year": np.arange(1990.0, 2000.0)})[0][:46]
        'Far from zero for its spread: `year` (mean 199'
    """
    found = list(uncentred(data))
    if not found:
        return ()
    which = ", ".join(f"`{name}` (mean {mean:.4g}, sd {sd:.2g})" for name, mean, sd in found)
    its = "its" if len(found) == 1 else "their"
    return (
        f"Far from zero for {its} spread: {which}. Coefficients of such data are confounded with the "
        "intercept: subtract the mean and divide by the sd before the fit.",
    )


def uncentred(data: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Name, mean and sd of each array of reals, or column of one, that is far from zero for its spread."""
    for name, value in data.items():
        if not (isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim in (1, 2)):
            continue
        some = value[:FIRST_ROWS]
        columns = {name: some} if some.ndim == 1 else {f"{name}[, {k + 1}]": c for k, c in enumerate(some.T)}
        for column, x in columns.items():
            if (
                len(x) >= FEWEST_SPREAD_ROWS
                and abs(mean := float(x.mean())) > FAR_FROM_ZERO * (sd := float(x.std())) > 0
            ):
                yield column, mean, sd
