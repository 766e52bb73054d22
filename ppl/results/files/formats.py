"""Draws in the format that a file's suffix names."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.distribution import requirements
from ppl.errors import ArgumentError, MissingPackage
from ppl.files import replacing
from ppl.results.arguments.tree import Values
from ppl.results.files.columns import Floats, reshape, variables

if TYPE_CHECKING:
    from ppl.results.fits.fit import Fit


CSV = ("", ".csv")
"""Suffixes of CSV files."""

ABOUT = "fit__"
"""The array of an .npz file that holds the provenance of the draws, as JSON."""


def save_draws(fit: "Fit", path: str | Path, arguments: Values | None = None) -> None:
    """Writes the draws of a fit: `.npz`, `.nc` (NetCDF, by ArviZ), `.parquet`, or CSV (`.csv`, or no suffix).

    `arguments` is for the comments of a CSV file (see Fit.save_csv). Every format says how the draws were
    made and what the verdict is (provenance.Provenance); the same fit gives the same bytes.

    Raises:
        ArgumentError: the suffix is none of these.
        MissingPackage: the package that writes the format is not installed.
        OSError: the file cannot be written; an older one is then left as it was.
    """
    suffix = Path(path).suffix
    if suffix in CSV:
        fit.save_csv(path, arguments)
        return
    writer = WRITERS.get(suffix)
    if writer is None:
        known = ", ".join([CSV[-1], *WRITERS])
        raise ArgumentError(f"{path}: draws are written as {known}; {suffix} is unsupported")
    with replacing(path) as part:
        try:
            writer(fit, part)
        except ImportError as error:
            raise MissingPackage(str(path), error.name or "h5py", *requirements(EXTRAS[suffix])) from None


def save_table(path: Path, columns: Sequence[str], rows: Floats, about: Mapping[str, str]) -> None:
    """Writes a table of draws as `.npz` or `.parquet`, with what `about` says of its fit.

    Raises:
        MissingPackage: pyarrow is not installed.
        OSError: the file cannot be written; an older one is then left as it was.
    """
    with replacing(path) as part:
        if path.suffix == ".npz":
            np.savez(part, allow_pickle=False, **_arrays(columns, rows, about))
            return
        try:
            from pandas import DataFrame

            _save_frame(DataFrame(rows, columns=list(columns)), about, part)
        except ImportError as error:
            raise MissingPackage(str(path), error.name or "pyarrow", *requirements("parquet")) from None


def _arrays(columns: Sequence[str], rows: Floats, about: Mapping[str, str]) -> dict[str, Any]:
    """An array a variable, draws first."""
    draws = {name: reshape(rows, columns, name, view=True) for name in variables(columns)}
    return {**draws, ABOUT: np.array(json.dumps(about))}


def _npz(fit: "Fit", path: Path) -> None:
    """`log_p__` and `log_g__` are as in the CSV file."""
    densities = {"log_p__": fit.result.log_p, "log_g__": fit.result.log_g}
    arrays = _arrays(fit.column_names, fit.draws(), fit.provenance.entries())
    np.savez(path, allow_pickle=False, **densities, **arrays)


def _netcdf(fit: "Fit", path: Path) -> None:
    fit.to_arviz().to_netcdf(str(path))


def _parquet(fit: "Fit", path: Path) -> None:
    """A column a name, and log_p__ and log_g__ before them; what it says of the fit is in the schema."""
    frame = fit.draws_pd().set_axis(list(fit.column_names), axis="columns")
    frame.insert(0, "log_g__", fit.result.log_g)
    frame.insert(0, "log_p__", fit.result.log_p)
    _save_frame(frame, fit.provenance.entries(), path)


def _save_frame(frame: Any, about: Mapping[str, str], path: Path) -> None:
    import pyarrow
    from pyarrow.parquet import write_table

    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), **about}), path)


WRITERS: Mapping[str, Callable[["Fit", Path], None]] = {".npz": _npz, ".nc": _netcdf, ".parquet": _parquet}
EXTRAS = {".nc": "arviz", ".parquet": "parquet"}
