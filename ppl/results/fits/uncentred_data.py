"""Data far from zero for their spread, whose coefficients hardly any approximation fits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class UncentredBounds:
    """When data count as far from zero."""

    far: float = 20.0
    """How many sds from zero a mean must lie to be told of."""

    fewest_rows: int = 3
    """Rows that a spread takes."""

    most_rows: int = 10_000
    """The first rows, which are looked at."""


UNCENTRED = UncentredBounds()


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
        some = value[: UNCENTRED.most_rows]
        columns = {name: some} if some.ndim == 1 else {f"{name}[, {k + 1}]": c for k, c in enumerate(some.T)}
        for column, x in columns.items():
            if (
                len(x) >= UNCENTRED.fewest_rows
                and abs(mean := float(x.mean())) > UNCENTRED.far * (sd := float(x.std())) > 0
            ):
                yield column, mean, sd
