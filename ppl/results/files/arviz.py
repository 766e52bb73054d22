"""Draws for ArviZ, of either major version, and as xarray, with groups and dimensions by Stan's habits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ppl.data.shares import Share
from ppl.floats import Floats
from ppl.kernel.draws.columns import reshape, variables
from ppl.kernel.draws.names import part_columns
from ppl.results.files.arviz_versions import from_groups, group_names
from ppl.results.files.axes import Axes
from ppl.system.distribution import VERSION, extra

PREDICTIVE, POINTWISE, OBSERVED = "y_rep", "log_lik", "y"
REPLICATED = "_rep"
"""How the name of data drawn anew ends among generated quantities."""
BY_OUTCOME = ("posterior_predictive", "log_likelihood")
"""ArviZ's groups of variables that are called by their outcome."""
WHEN = "created_at"

Groups = Mapping[str, Mapping[str, Any]]


def inference_data(
    chains: Sequence[Floats],
    columns: Sequence[str],
    stats: Mapping[str, Any],
    data: Mapping[str, Any],
    about: Mapping[str, str],
    axes: Axes,
    of_data: Mapping[str, tuple[str, str]],
    more: Groups,
) -> Any:
    """ArviZ's object: replicated data and the log likelihood by outcome, with the data that they are of.

    It is a DataTree of xarray with ArviZ 1, whose part arviz-base is enough, and an InferenceData before.
    Needs the extra `arviz`.

    Args:
        chains: the draws (draws, columns) of each chain.
        stats: the sampler's, (chains, draws) each.
        about: goes into the attributes of every group, as ArviZ's own do; none says when, so that files
            repeat byte by byte.
        of_data: variables among the draws that belong to another group, and the outcome that they are of.
        more: further variables by group, each (chains, draws, *its own shape), by the name of the data.
    """
    data = {name: value for name, value in data.items() if not isinstance(value, Share)}
    values = by_variable(chains, columns)
    shapes = {name: array.shape[2:] for name, array in values.items()}
    moved = {group: dict[str, Any]() for group in BY_OUTCOME}
    for name, (group, outcome) in of_data.items():
        moved[group][outcome] = values.pop(name)
    by_outcome = {group: {**own, **more.get(group, {})} for group, own in moved.items()}
    outcomes = {OBSERVED, *(name for content in by_outcome.values() for name in content)} & {*data}
    observed = {name: np.asarray(value) for name, value in data.items() if name in outcomes}
    shaped = [(name, x.shape[2:]) for content in by_outcome.values() for name, x in content.items()]
    shaped += [(name, x.shape) for name, x in observed.items()]
    shapes |= sorted(shaped, key=lambda each: -len(each[1]))  # a row may be a vector: fewer axes
    named = axes.of_all(shapes)
    groups = {"posterior": values, **by_outcome, "observed_data": observed, "sample_stats": stats}
    full: dict[str, Any] = {group: content for group, content in groups.items() if content}
    tree = from_groups(full, axes.labels(named), named)
    for group in group_names(tree):
        tree[group].attrs.pop(WHEN, None)
        tree[group].attrs.update(attributes(about))
    return tree


def attributes(about: Mapping[str, str]) -> dict[str, str]:
    """The attributes of a group of draws, under ArviZ's names where it has some."""
    return {"inference_library": "ppl", "inference_library_version": VERSION, **about}


def to_xarray(chains: Sequence[Floats], columns: Sequence[str], about: Mapping[str, str], axes: Axes) -> Any:
    """An xarray Dataset of the draws of chains, its first dimensions `chain` and `draw`. Needs xarray."""
    xarray = extra("xarray", "draws_xr", "xarray")
    drawn = by_variable(chains, columns)
    named = axes.of_all({name: draws.shape[2:] for name, draws in drawn.items()})
    numbered = {
        name: [axis or f"{name}_dim_{k}" for k, axis in enumerate(axes_of_one)]
        for name, axes_of_one in named.items()
    }
    variables = {name: (("chain", "draw", *numbered[name]), draws) for name, draws in drawn.items()}
    counted = {"chain": np.arange(len(chains)), "draw": np.arange(len(chains[0]))}
    labels = axes.labels(named)
    return xarray.Dataset(variables, coords={**counted, **labels}, attrs=attributes(about))


def by_variable(chains: Sequence[Floats], columns: Sequence[str]) -> dict[str, Floats]:
    """The draws of each variable, shape (chains, draws, *its own shape); of a complex one, of its two parts.

    NetCDF has reals alone, and so have ArviZ's statistics.
    """
    arrays: dict[str, Floats] = {}
    for name in variables(columns):
        draws = np.stack([reshape(rows, columns, name) for rows in chains])
        if np.iscomplexobj(draws):
            arrays |= dict(zip(part_columns(name, True), (draws.real, draws.imag), strict=True))
        else:
            arrays[name] = draws
    return arrays
