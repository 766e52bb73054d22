"""Data with missing values, and the model in which these are parameters."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.data import Inputs
from ppl.data.missing import Holes, holes_in
from ppl.data.values import Numbers
from ppl.kernel.language import ast
from ppl.structure.discrete.evaluate import known_value
from ppl.structure.observed.completed import Completion, refuse_unmodelled


def holes_of(program: ast.Program, inputs: Inputs) -> dict[str, Holes]:
    """The missing values of each variable of the data that has some.

    Raises:
        ModelError: those of a variable cannot be parameters; says why, and what to write.
    """
    declared = {d.name for d in program.data}
    of_each = {name: holes_in(value) for name, value in inputs.values.items() if name in declared}
    holes = {name: each for name, each in of_each.items() if each is not None}
    if holes:
        refuse_unmodelled(program, holes)
    return holes


def without_holes(
    inputs: Inputs, holes: Mapping[str, Holes], completions: Iterable[Completion]
) -> tuple[Inputs, bool]:
    """The inputs of a program in which missing values are parameters.

    False, and nan in their place, where a whole array is `null`: its shape is then refused.
    """
    values: dict[str, Any] = dict(inputs.values)
    known = {name: value for name, value in values.items() if name not in holes}
    for c in completions:
        each = holes[c.name]
        if each.at.shape[1] != len(c.at):
            return replace(inputs, values={**inputs.values, c.name: each.values}), False
        values[c.name] = filled(c.type, each, known)
        values[c.count] = len(each.at)
        values |= {name: each.at[:, axis] + 1 for axis, name in enumerate(c.at)}
    return replace(inputs, values=values), True


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
