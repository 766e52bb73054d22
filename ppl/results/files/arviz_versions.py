"""Differences between ArviZ 0.2x, which has InferenceData, and ArviZ 1, which has xarray's DataTree."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from ppl.system.distribution import extra, requirements


def from_groups(
    groups: Mapping[str, Mapping[str, Any]],
    coords: Mapping[str, Sequence[Any]],
    dims: Mapping[str, Sequence[str | None]],
) -> Any:
    """A DataTree where ArviZ 1 or arviz-base alone is installed, else an InferenceData.

    Raises:
        MissingPackage: neither is installed.
    """
    package = _package("to_arviz")
    if package.__name__ == "arviz":
        return package.from_dict(**groups, coords=coords, dims=dims)
    return package.from_dict(groups, coords=coords, dims=dims)


def from_netcdf(path: str) -> Any:
    """The same from a NetCDF file, read into memory."""
    package = _package(path)
    if package.__name__ == "arviz":
        return package.from_netcdf(path)
    with extra("xarray", path, *requirements("arviz")).open_datatree(path) as tree:
        return tree.load()


def netcdf_bytes(result: Any) -> bytes:
    """The content of a NetCDF file of the same.

    It is made in memory: where a disk is full, HDF5 reports its own state and fails again when the process
    ends.
    """
    xarray = extra("xarray", ".nc", *requirements("arviz"))
    groups = {f"/{name}": to_dataset(result[name]) for name in group_names(result)}
    root = xarray.Dataset(attrs=result.attrs)
    tree, out = xarray.DataTree.from_dict({"/": root, **groups}), BytesIO()
    tree.to_netcdf(out, engine="h5netcdf", encoding={name: compressed(data) for name, data in groups.items()})
    return out.getvalue()


def to_dataset(group: Any) -> Any:
    return group.to_dataset() if hasattr(group, "to_dataset") else group


def compressed(data: Any) -> Mapping[str, Mapping[str, bool]]:
    """The encoding of a group: numbers are compressed."""
    return {name: {"zlib": True} for name, x in data.variables.items() if x.dtype.kind in "biufc"}


def group_names(data: Any) -> list[str]:
    """The names of the groups of an InferenceData or of a DataTree."""
    return list(data.children) if hasattr(data, "children") else list(data.groups())


def _package(what: str) -> Any:
    """arviz-base, which ArviZ 1 is built on, or the whole of an older ArviZ."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        older = version("arviz").startswith("0.")
    except PackageNotFoundError:
        older = find_spec("arviz_base") is None
    return extra("arviz" if older else "arviz_base", what, *requirements("arviz"))
