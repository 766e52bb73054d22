"""Missing data that are parameters: their places, their columns, and their draws among the data."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.density.compiled_program import CompiledProgram
from ppl.errors import DataError, first_few
from ppl.floats import Floats
from ppl.kernel.density.expected import written
from ppl.kernel.density.layout import Data
from ppl.kernel.draws.names import Sized, dotted
from ppl.stdlib.constraints.sentences import position

if TYPE_CHECKING:
    from ppl.structure.observed.completed import Completion

FEW_PLACES = 5
"""Missing values of a variable that a sentence lists."""


def places_of(c: "Completion", d: Data) -> list[tuple[int, ...]]:
    """The indices of missing values, counted from 0."""
    indices = [np.asarray(d.of(name)).tolist() for name in c.at]
    return [tuple(i - 1 for i in index) for index in zip(*indices, strict=True)] if indices else [()]


def named_places(c: "Completion", d: Data) -> list[str]:
    """The missing values as the program calls them, `y[3]`."""
    return [c.name + position(index) for index in places_of(c, d)]


def sentences(model: CompiledProgram, d: Data) -> Iterator[str]:
    """How many values are missing, and where, of each variable."""
    for c in model.completions:
        named = named_places(c, d)
        values = "value is a parameter" if len(named) == 1 else "values are parameters"
        how = ", marginalised and drawn afterwards" if c.discrete else ""
        yield f"{len(named)} missing {values}{how}: {first_few(named, FEW_PLACES)}."


def with_holes(model: CompiledProgram, d: Data, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data that were given, nan in place of what was missing."""
    own = {name for c in model.completions for name in (c.count, *c.at)}
    out = {name: value for name, value in data.items() if name not in own}
    for c in model.completions:
        places = tuple(np.array(places_of(c, d), int).T)
        out[c.name] = np.array(d.of(c.name), float)
        out[c.name][places] = np.nan
    return out


def with_entries(model: CompiledProgram, d: Data, declared: list[Sized]) -> list[Sized]:
    """The variables that have columns: missing values by their places, `y.3`; not what they complete."""
    whole = {c.whole for c in model.completions}
    entries = {c.part: tuple(c.name + dotted(at) for at in places_of(c, d)) for c in model.completions}
    return [replace(v, entries=entries.get(v.name, ())) for v in declared if v.name not in whole]


def with_missing_entries(model: CompiledProgram, d: Data, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of parameters, those of missing data taken from all of a variable or from the missing alone.

    Raises:
        DataError: they are not given, or have another shape.
    """
    out, parameters = dict(values), {p.name for p in model.lowered.parameters}
    for c in model.completions:
        if c.part in out or c.part not in parameters:
            continue
        places, shape = places_of(c, d), np.shape(d.of(c.name))
        needs = f"give all of it, of shape {written(shape)}, or its {len(places)} missing values"
        if c.name not in out:
            raise DataError(f"the given values: `{c.name}` is missing; {needs}", c.name, "PPL901")
        given = np.asarray(out.pop(c.name), float)
        if given.shape not in (shape, (len(places),)):
            raise DataError(f"the given values: {c.name} has shape {written(given.shape)}; {needs}", c.name)
        out[c.part] = given[tuple(np.array(places, int).T)].ravel() if given.shape == shape else given
    return out


def completed_draws(c: "Completion", d: Data, draws: Floats) -> Floats:
    """Draws (draws, missing) of what is missing, in their places among the data: (draws, *shape)."""
    given = np.asarray(d.of(c.name), float)
    if not given.shape:
        return draws[:, 0]
    out = np.broadcast_to(given, (len(draws), *given.shape)).copy()
    out[(slice(None), *np.array(places_of(c, d), int).T)] = draws
    return out
