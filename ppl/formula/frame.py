"""The columns that a formula names, as a DataFrame that formulae reads."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ppl.data import Inputs
from ppl.data.levels import is_date, number_among_words, words_of
from ppl.data.values import DATES, Misfit, as_array, is_missing
from ppl.errors import ArgumentError, DataError, MissingPackage, UnknownName
from ppl.kernel.language.lalr import is_identifier
from ppl.spelling import as_variable
from ppl.system.distribution import extra, requirements


def formulae() -> Any:
    """The package.

    Raises:
        MissingPackage: it is not installed.
    """
    return extra("formulae", "A formula", *requirements("formula"))


def names_of(formula: str) -> list[str]:
    """The columns that a formula names.

    Raises:
        ArgumentError: the formula cannot be read.
    """
    try:
        return sorted(formulae().model_description(formula).var_names - {""})
    except MissingPackage:
        raise
    except Exception as error:  # formulae raises its own, and what Python does where it meets an odd one
        write = "; write `outcome ~ ...`, with `~`" if "~" not in formula else ""
        raise ArgumentError(f"the formula {formula!r} cannot be read: {error}".rstrip(".") + write) from None


def frame_of(names: Sequence[str], inputs: Inputs) -> Any:
    """Those columns, without rows where one of them is missing.

    Words are categories in the order in which a fit codes them, and booleans are 0 and 1.

    Raises:
        DataError: a column is not of numbers or words, or its name cannot be that of a variable.
        UnknownName: there is no such column.
    """
    pandas = extra("pandas", "A formula", *requirements("formula"))
    columns = {name: column(name, inputs) for name in names}
    try:
        frame = pandas.DataFrame(columns).dropna()
    except ValueError:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise DataError(f"{inputs.label}: columns have different numbers of rows: {lengths}") from None
    if not len(frame):
        raise DataError(f"{inputs.label}: no row has all of {', '.join(names)}")
    return frame


def column(name: str, inputs: Inputs) -> Any:
    """A column of floats, or a categorical."""
    from pandas import Categorical

    if name not in inputs.values:
        raise UnknownName(f"{inputs.label}: no column", name, inputs.values)
    if not is_identifier(name):
        why = f"a program cannot name a variable `{name}`; write {as_variable(name)} in the formula"
        why += ", which finds it"
        raise DataError(f"{inputs.label}: {why}", name)
    value = inputs.values[name]
    if (words := words_of(value)) and words.are_text:
        if all(map(is_date, words.levels)):
            raise DataError(f"{inputs.label_of(name)}: {name} holds dates{DATES.format(name=name)}", name)
        return Categorical(words.leaves, categories=words.levels, ordered=True)
    try:
        if words:
            return words.codes((False, True), 0).astype(float)
        values = value.to_numpy() if hasattr(value, "to_numpy") else value
        leaves = (
            [np.nan if is_missing(leaf) else leaf for leaf in values] if isinstance(values, list) else values
        )
        array = as_array(name, leaves).astype(float)
    except Misfit as misfit:
        odd = number_among_words(name, value) or misfit
        where, needs = inputs.place_of(name, odd.index), odd.needs or "numbers alone or words alone"
        raise DataError(f"{where}: {odd.found}, but a formula needs {needs}{odd.hint}", name) from None
    if array.ndim != 1:
        raise DataError(
            f"{inputs.label_of(name)}: {name} has shape {array.shape}; a column has one axis", name
        )
    return array
