"""Draws as ArviZ's InferenceData and as xarray, with groups, dimensions and coordinates by Stan's habits."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.data.shares import Share
from ppl.distribution import VERSION, requirements
from ppl.extras import extra
from ppl.names import parted
from ppl.results.files.columns import Floats, reshape, variables

if TYPE_CHECKING:
    from ppl.fitting.table import Table

PREDICTIVE, POINTWISE, OBSERVED = "y_rep", "log_lik", "y"
WHEN = "created_at"

Coords = Mapping[str, Sequence[Any]]
Dims = Mapping[str, Sequence[str]]
Groups = Mapping[str, Mapping[str, Any]]


def to_arviz(
    table: "Table",
    log_p: Floats,
    log_g: Floats,
    data: Mapping[str, Any],
    about: Mapping[str, str] = {},
    coords: Coords = {},  # noqa: B006
    dims: Dims = {},  # noqa: B006
    more: Groups = {},  # noqa: B006
) -> Any:
    """InferenceData of one chain: `y_rep` is predictive, `log_lik` pointwise, the `y` in the data observed.

    `more` has further variables by group, each (chains, draws, *its own shape), by the name of the data.

    `coords` has labels by the name of a dimension, `dims` the dimensions of a variable by its name; where
    `dims` says nothing, an axis takes the one dimension whose labels are as many as it is long. `about` goes
    into the attributes of every group, as ArviZ's own do; none says when, so that files repeat byte by byte.

    Independent draws of an approximation have no chains, so `az.rhat` says nothing about them.
    Needs the extra `arviz`.
    """
    stats = {"lp": log_p[np.newaxis], "lp_approx": log_g[np.newaxis]}
    return inference_data([table.rows[1:]], table.columns, stats, data, about, coords, dims, more)


def inference_data(
    chains: Sequence[Floats],
    columns: Sequence[str],
    stats: Mapping[str, Any],
    data: Mapping[str, Any],
    about: Mapping[str, str] = {},
    coords: Coords = {},  # noqa: B006
    dims: Dims = {},  # noqa: B006
    more: Groups = {},  # noqa: B006
) -> Any:
    """The same of the draws (draws, columns) of each chain, with the sampler's `stats` (chains, draws)."""
    arviz = extra("arviz", "to_arviz", *requirements("arviz"))
    data = {name: value for name, value in data.items() if not isinstance(value, Share)}
    values = by_variable(chains, columns)
    shapes = {name: array.shape[2:] for name, array in values.items()}
    named = {name: dimensions(shape, coords, dims.get(name, ())) for name, shape in shapes.items()}
    outside = {name: values.pop(name) for name in (PREDICTIVE, POINTWISE) if name in values}
    of_data = {
        group: {**({OBSERVED: outside[name]} if name in outside else {}), **more.get(group, {})}
        for group, name in (("posterior_predictive", PREDICTIVE), ("log_likelihood", POINTWISE))
    }
    outcomes = {OBSERVED, *(name for content in of_data.values() for name in content)} & {*data}
    observed = {name: np.asarray(value) for name, value in data.items() if name in outcomes}
    shaped = [(name, x.shape[2:]) for content in of_data.values() for name, x in content.items()]
    shaped += [(name, x.shape) for name, x in observed.items()]
    for name, shape in sorted(shaped, key=lambda each: -len(each[1])):  # a row may be a vector: fewer axes
        named[name] = dimensions(shape, coords, dims.get(name, ()))
    groups: dict[str, Any] = {
        "posterior": values,
        **of_data,
        "observed_data": observed,
        "sample_stats": stats,
    }
    used = {key: labels for key, labels in coords.items() if any(key in names for names in named.values())}
    full: dict[str, Any] = {group: content for group, content in groups.items() if content}
    found = arviz.from_dict(**full, coords={key: list(labels) for key, labels in used.items()}, dims=named)
    for group in found.groups():
        found[group].attrs.pop(WHEN, None)
        found[group].attrs.update(attributes(about))
    return found


def attributes(about: Mapping[str, str]) -> dict[str, str]:
    """What a group of draws says of itself, under ArviZ's names where it has some."""
    return {"inference_library": "ppl", "inference_library_version": VERSION, **about}


def to_xarray(
    chains: Sequence[Floats],
    columns: Sequence[str],
    about: Mapping[str, str] = {},
    coords: Coords = {},  # noqa: B006
    dims: Dims = {},  # noqa: B006
) -> Any:
    """An xarray Dataset of the draws of chains, its first dimensions `chain` and `draw`.

    `about`, `coords` and `dims` are as in `to_arviz`. Needs xarray.
    """
    xarray = extra("xarray", "draws_xr", "xarray")
    variables = {}
    for name, draws in by_variable(chains, columns).items():
        axes = dimensions(draws.shape[2:], coords, dims.get(name, ()))
        numbered = [axis or f"{name}_dim_{k}" for k, axis in enumerate(axes)]
        variables[name] = (("chain", "draw", *numbered), draws)
    used = {axis for axes, _ in variables.values() for axis in axes}
    labels = {key: list(labels) for key, labels in coords.items() if key in used}
    counted = {"chain": np.arange(len(chains)), "draw": np.arange(len(chains[0]))}
    return xarray.Dataset(variables, coords={**counted, **labels}, attrs=attributes(about))


def by_variable(chains: Sequence[Floats], columns: Sequence[str]) -> dict[str, Floats]:
    """The draws of each variable, shape (chains, draws, *its own shape); of a complex one, of its two parts.

    NetCDF has reals alone, and so have ArviZ's statistics.
    """
    found: dict[str, Floats] = {}
    for name in variables(columns):
        draws = np.stack([reshape(rows, columns, name) for rows in chains])
        if np.iscomplexobj(draws):
            found |= dict(zip(parted(name, True), (draws.real, draws.imag), strict=True))
        else:
            found[name] = draws
    return found


def dimensions(shape: Sequence[int], coords: Coords, named: Sequence[str]) -> list[str | None]:
    """The name of each axis: as given, else that of the only labels of its length, else none."""
    by_length: dict[int, list[str]] = {}
    for key, labels in coords.items():
        by_length.setdefault(len(labels), []).append(key)
    free: list[str | None] = [
        by_length[length][0] if len(by_length.get(length, ())) == 1 else None for length in shape
    ]
    repeated = {name for name in free if name and free.count(name) > 1}
    chosen = [*named, *(None if name in repeated else name for name in free[len(named) :])]
    return list(chosen[: len(shape)])
