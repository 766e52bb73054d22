"""Data with missing values, and the model in which these are parameters."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.data import Inputs
from ppl.data.missing import Holes, holes_in
from ppl.data.values import Numbers
from ppl.kernel.language import ast
from ppl.structure.discrete.evaluate import known_value
from ppl.structure.observed.completed import refuse_unmodelled

if TYPE_CHECKING:
    from ppl.density.compiled_program import CompiledProgram


def with_missing(model: "CompiledProgram", inputs: Inputs) -> tuple["CompiledProgram", Inputs]:
    """The model with parameters in place of missing values, and the inputs without them.

    Raises:
        ModelError: missing values of a variable cannot be parameters; says why, and what to write.
    """
    declared = {d.name for d in model.lowered.data}
    found = {name: holes_in(value) for name, value in inputs.values.items() if name in declared}
    holes = {name: each for name, each in found.items() if each is not None}
    if not holes:
        return model, inputs
    refuse_unmodelled(model.compilation.checked[0], holes)
    completed = model.changed(missing=frozenset(holes))
    values: dict[str, Any] = dict(inputs.values)
    known = {name: value for name, value in values.items() if name not in holes}
    for c in completed.completions:
        each = holes[c.name]
        if each.at.shape[1] != len(c.at):  # `null` for a whole array: its shape is refused
            return model, replace(inputs, values={**inputs.values, c.name: each.values})
        values[c.name] = filled(c.type, each, known)
        values[c.count] = len(each.at)
        values |= {name: each.at[:, axis] + 1 for axis, name in enumerate(c.at)}
    return completed, replace(inputs, values=values)


def filled(t: ast.SizedType, holes: Holes, known: Mapping[str, Any]) -> Any:
    """The values with one that the declaration allows in place of each that is missing; none is used."""
    given = holes.values[np.isfinite(holes.values)]
    at = tuple(holes.at.T)
    value = np.full(len(holes.at), given[0] if given.size else 0.0)
    for word, bound in ast.limits(t).items():
        limit = limits(bound, known, holes.values.shape, at)
        if limit is not None and word in ("lower", "upper"):
            value = (np.maximum if word == "lower" else np.minimum)(value, limit)
    out = holes.values.copy()
    out[np.isnan(out)] = value
    return out if out.shape else out.item()


def limits(
    bound: ast.Expr, known: Mapping[str, Any], shape: tuple[int, ...], at: tuple[NDArray[np.intp], ...]
) -> Numbers | None:
    """A bound at some entries, where data tell it."""
    value = known_value(bound, known)
    try:
        return None if value is None else np.broadcast_to(np.asarray(value, float), shape)[at]
    except (TypeError, ValueError):
        return None
