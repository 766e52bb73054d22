"""Draws in the format that a file's suffix names."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from ppl.errors import ArgumentError, MissingPackage
from ppl.files import replacing
from ppl.floats import Floats
from ppl.kernel.draws.columns import reshape, variables
from ppl.results.arguments.tree import ArgumentValues
from ppl.results.files.arviz_versions import netcdf_bytes
from ppl.system.distribution import requirements

CSV = ("", ".csv")
"""Suffixes of CSV files."""

ABOUT = "fit__"
"""The array of an .npz file that holds the provenance of the draws, as JSON."""


About = Mapping[str, str]
"""The entries of a file about its fit, by name (provenance.entries)."""


class FitToSave(Protocol):
    """The members of a fit that a file of draws has."""

    @property
    def column_names(self) -> tuple[str, ...]: ...
    @property
    def about(self) -> dict[str, str]: ...
    def draws(self) -> Floats: ...
    def method_variables(self) -> dict[str, Floats]: ...
    def to_arviz(self) -> Any: ...
    def save_csv(self, path: str | Path, arguments: ArgumentValues | None) -> object: ...


def save_draws(fit: FitToSave, path: str | Path, arguments: ArgumentValues | None = None) -> None:
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
    with _written(Path(path)) as part:
        writer(fit, part, suffix)


def save_table(path: Path, columns: Sequence[str], rows: Floats, about: About) -> None:
    """Writes a table of draws as `.npz` or `.parquet`, with what `about` says of its fit.

    Raises:
        MissingPackage: pyarrow is not installed.
        OSError: the file cannot be written; an older one is then left as it was.
    """
    with _written(path) as part:
        _write(part, path.suffix, columns, rows, about, {})


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """An open file, as `replacing` gives it; MissingPackage names the package that cannot be imported."""
    with replacing(path) as part:
        try:
            yield part
        except ImportError as error:
            needed = requirements(EXTRAS[path.suffix])
            raise MissingPackage(str(path), error.name or "h5py", *needed) from None


def _write(
    part: BinaryIO,
    suffix: str,
    columns: Sequence[str],
    rows: Floats,
    about: About,
    first: Mapping[str, Floats],
) -> None:
    """`.npz`: an array a variable, draws first; `.parquet`: a column a name, with `about` in the schema."""
    if suffix == ".npz":
        draws = {name: reshape(rows, columns, name, view=True) for name in variables(columns)}
        np.savez(part, allow_pickle=False, **first, **draws, **{ABOUT: np.array(json.dumps(about))})
        return
    import pyarrow
    from pyarrow.parquet import write_table

    arrays = [*first.values(), *rows.T]
    write_table(pyarrow.Table.from_arrays(arrays, [*first, *columns], metadata=about), part)


def _table(fit: FitToSave, part: BinaryIO, suffix: str) -> None:
    """`log_p__` and `log_g__` are as in the CSV file."""
    _write(part, suffix, fit.column_names, fit.draws(), fit.about, fit.method_variables())


def _netcdf(fit: FitToSave, part: BinaryIO, suffix: str) -> None:
    part.write(netcdf_bytes(fit.to_arviz()))


DrawsWriter = Callable[[FitToSave, BinaryIO, str], None]
"""Writes the draws of a fit to an open file, in the format of a suffix."""
WRITERS: Mapping[str, DrawsWriter] = {".npz": _table, ".nc": _netcdf, ".parquet": _table}
EXTRAS = {".nc": "arviz", ".parquet": "parquet"}
PACKAGES = {".nc": ("xarray", "h5netcdf", "h5py"), ".parquet": ("pyarrow",)}
"""The packages that the writers import, by the extras that install them."""


def require_packages(path: Path) -> None:
    """Refuse a file, before a fit, whose format needs a package that is not installed.

    Raises:
        MissingPackage: names the package, and the extra that has it.
    """
    for package in PACKAGES.get(path.suffix, ()):
        if find_spec(package) is None:
            raise MissingPackage(str(path), package, *requirements(EXTRAS[path.suffix]))


OF_OBJECTS = (".pkl", ".pickle", ".joblib", ".rds")
"""Suffixes of files of any object, in Python and R."""


def require_name_of_fit(path: Path) -> None:
    """Refuse a name that says another format for a saved fit, which is JSON.

    Raises:
        ArgumentError: the suffix is a format of draws or of objects.
    """
    if (suffix := path.suffix.lower()) in (*CSV[1:], *WRITERS, *OF_OBJECTS):
        what = "objects" if suffix in OF_OBJECTS else "draws"
        raise ArgumentError(
            f"{path}: a saved fit is JSON, and {path.suffix} is a format of {what}. End its name in .json. "
            "Draws are written by `ppl variational -o FILE`, fit.save_csv and fit.to_arviz().to_netcdf."
        )
