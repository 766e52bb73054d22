"""A program with discrete parameters as the program without: with sums, tilted weights, or maxima."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.memory import MOST_TABLE_ENTRIES
from ppl.structure.discrete import refused
from ppl.structure.discrete.concrete import NeedsData
from ppl.structure.discrete.emit import MAXIMUM, SUM
from ppl.structure.discrete.parameters import discrete_parameters, is_discrete
from ppl.structure.discrete.rewrite import Summed, summed_out
from ppl.structure.discrete.transformed import divided
from ppl.structure.discrete.uses import check_uses


def summed(
    p: ast.Program,
    facts: Facts,
    elimination: str = "sum",
    most: int = MOST_TABLE_ENTRIES,
    values: Mapping[str, Any] | None = None,
) -> Summed:
    """The program with its discrete parameters summed out.

    `elimination` is "sum"; "maximum", which takes their jointly most probable values; or "tilted", which adds
    parameters that weight their values. If the dependence of entries is known only from data, the result
    without `values` of data and transformed data is one that `needs_data`.

    Raises:
        ModelError: a discrete parameter cannot be summed out, as far as program and values tell.
    """
    check_uses(p, facts)
    way = MAXIMUM if elimination == "maximum" else SUM
    try:
        return summed_out(p, facts, way, elimination == "tilted", most, values or {})
    except NeedsData as unknown:
        parameters = discrete_parameters(p.parameters)
        if values is None:
            return Summed(without(p), parameters, (), needs_data=True)
        why = f"the dependence of its entries is determined by {unknown}, which is not analysed"
        raise refused.unplanned([d.name for d in parameters], why, parameters[0].span) from None


def without(p: ast.Program) -> ast.Program:
    """The program of the continuous parameters alone: its data are read and its sizes known."""
    discrete = {d.name for d in p.parameters if is_discrete(d)}
    independent, _ = divided(p.transformed_parameters, discrete)
    real = tuple(d for d in p.parameters if d.name not in discrete)
    return replace(p, parameters=real, transformed_parameters=independent, model=(), generated_quantities=())
