"""Data that hold nan and make the log density nan wherever it is looked at: named before the fit."""

import numpy as np

from ppl.data.blocks import blocks
from ppl.data.values import TO_MODEL, place
from ppl.density.log_density import LogDensity
from ppl.errors import DataError

NAN_LOOKED_FOR_AT = (0.0, 0.7, -0.9)
"""Where the log density is looked at, in every coordinate: a program may test for nan, and be finite."""


def refuse_nan_data(posterior: LogDensity) -> None:
    """Refuse data whose missing values enter the target.

    Raises:
        DataError: data hold nan, and the log density is nan wherever it is looked at; names the first entry
            of each variable.
    """
    found, dim = nan_entries(posterior), posterior.param_unc_num()
    if found and all(np.isnan(posterior.log_density(np.full(dim, x))) for x in NAN_LOOKED_FOR_AT):
        raise DataError(sentence(found), next(iter(found)), "PPL971")


def nan_entries(posterior: LogDensity) -> dict[str, tuple[str, int]]:
    """By variable of the data block: its first entry that is nan, as the program counts, and how many are."""
    found = {}
    for name in posterior.model.data_schema:
        value = posterior.d.of(name)
        if isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                may_be = any(np.isnan(np.sum(block)) for block in blocks(np.asanyarray(value)))
            at = np.flatnonzero(np.isnan(value) if may_be else False)
            if at.size:
                found[name] = place(name, int(at[0]), np.shape(value)), at.size
    return found


def sentence(found: dict[str, tuple[str, int]]) -> str:
    named = "; ".join(first + f" and {n - 1} more of {name}" * (n > 1) for name, (first, n) in found.items())
    return f"data: {named}: not a number (nan), and so is the log density, for any parameters{TO_MODEL}."
