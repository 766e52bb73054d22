"""The outcome of a formula: its column as numbers, and whether a family takes it."""

from typing import Any

import numpy as np

from ppl.data import Inputs
from ppl.data.levels import categories
from ppl.data.values import Numbers
from ppl.errors import ArgumentError, DataError
from ppl.formula.families import family_of
from ppl.formula.terms import Terms


def numbers_of(column: Any, first: int) -> Numbers:
    """A column as numbers; levels are numbered from `first`."""
    return np.asarray(column.cat.codes + first if hasattr(column, "cat") else column, float)


def require_outcome(terms: Terms, name: str, inputs: Inputs) -> None:
    """Refuse an outcome that the family does not take.

    Raises:
        ArgumentError: the formula says something else of it.
        DataError: its values are others.
    """
    family, y = family_of(name), terms.outcome
    if family.has_trials != bool(terms.trials):
        right = f"`p({y}, trials)`" if family.has_trials else f"`{y}`"
        raise ArgumentError(f"the outcome of a {name} formula is written {right}")
    if family.is_ordinal and not terms.intercept:
        raise ArgumentError(
            "cutpoints are the intercepts of an ordinal outcome: remove `0 +` from the formula"
        )
    column = terms.frame[y]
    is_words = hasattr(column, "cat")
    needs = f"but {name} needs {family.needs}"
    if is_words and not family.takes_words:
        raise DataError(f"{inputs.label}: {y} is a column of words, {needs}", y)
    if is_words and family.is_ordinal and categories(inputs.values[y]) is None:
        raise DataError(f"{inputs.label}: {y} is a column of words without an order, {needs}", y)
    values = numbers_of(column, int(family.is_ordinal))
    if not family.fits(values):
        raise DataError(f"{inputs.label}: {y} has other values, {needs}", y)
    if family.in_units and values.min() == values.max():
        raise DataError(f"{inputs.label}: {y} is {values[0]:g} in all rows, so that no prior has a scale", y)
