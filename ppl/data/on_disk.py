"""Arrays that stay on disk: NumPy's files as they are, columns of tables by a temporary file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.data.archive import BROKEN, cause
from ppl.data.blocks import release, room_on_disk
from ppl.data.inputs import Inputs
from ppl.data.locations import InStore, Location, OnDisk, location_of
from ppl.data.read_only import aligned, read_only, room_for
from ppl.data.shares import Share
from ppl.data.tables import COLUMNS, columns_of, fill, refused
from ppl.errors import DataError, MissingFile

Own = Callable[[int], tuple[slice, ...]]
"""The rows of an array of so many that are this process's."""


def with_arrays(inputs: Inputs, files: Mapping[str, str], own: Own | None = None) -> Inputs:
    """The inputs, and beside them variables each from a file of its own, {"x": "rows.npy"}.

    An .npy file is mapped. Of a .parquet, .arrow or .feather file a variable takes all columns, in order, or
    those that are named behind a colon, "rows.parquet:age,weight"; one column is a vector, several a matrix.
    Such a file may lie behind a URL, "s3://bucket/rows.parquet". With `own` only those rows of each array are
    read, along its first axis.

    Raises:
        DataError: a variable is given twice, or its file cannot be read.
    """
    twice = next((name for name in files if name in inputs.values), None)
    if twice:
        raise refused(files[twice], f"`{twice}` is in {inputs.label_of(twice)} too; give it once", twice)
    read = partial(open_share, own=own) if own else open_array
    values = {name: _read_for(name, file, read) for name, file in files.items()}
    return replace(inputs, values={**inputs.values, **values}, files={**inputs.files, **files})


def _read_for(name: str, file: str, read: Callable[[str], Any]) -> Any:
    """The content of a file for a variable, which an error then names."""
    try:
        return read(file)
    except DataError as error:
        raise DataError(f"{error} (for `{name}`)", name, error.code) from None


def open_array(file: str | Path) -> NDArray[Any]:
    """The array in a file, mapped where it is long.

    Raises:
        MissingFile: the file is not there.
        DataError: it cannot be read, or is none of .npy, .parquet, .arrow and .feather.
    """
    where, columns = location_of(str(file))
    if where.suffix in (".npy", *COLUMNS):
        _require(where)
    try:
        if where.suffix == ".npy" and isinstance(where, OnDisk):
            mapped: NDArray[Any] = np.load(where.path, mmap_mode="r", allow_pickle=False)
            if not mapped.itemsize:  # any number of such values fits into no bytes
                raise refused(where, f"it is an array of {mapped.dtype}, no numbers")
            return mapped
        if where.suffix in COLUMNS or where.is_folder:
            table, names, shape, dtype = columns_of(where, columns)
            array = room_on_disk(shape, dtype)
            fill(where, array, table, names, slice(0, table.n_rows))
            return array
    except (OSError, *BROKEN) as error:
        raise _unreadable(where, error) from None
    known = ", ".join(COLUMNS)
    if isinstance(where, InStore):
        raise refused(where, f"arrays behind a URL are read from {known} and folders of .parquet")
    raise refused(where, f"arrays are read from .npy, {known}; {where.suffix} is unsupported")


def _require(where: Location) -> None:
    if not where.exists:
        raise MissingFile(f"there is no file {where}", str(where))


def _unreadable(where: Location, error: BaseException) -> DataError:
    return refused(where, f"cannot be read: {getattr(error, 'strerror', None) or cause(error)}")


def open_share(file: str | Path, own: Own) -> Share:
    """Some rows of the array in a file, which `own` chooses by their number.

    Raises:
        DataError: as `open_array`.
    """
    where, columns = location_of(str(file))
    if where.suffix not in COLUMNS and not where.is_folder:
        mapped = open_array(file)
        slices = own(len(mapped))
        values = np.concatenate([np.asarray(mapped[rows]) for rows in slices])
        release(mapped)
        values = read_only(aligned(values, values.dtype))
        return Share(mapped.shape, _numbers(slices), values, _identity(where, mapped.shape))
    _require(where)
    try:
        table, names, shape, dtype = columns_of(where, columns)
        slices = own(table.n_rows)
        values = room_for((sum(s.stop - s.start for s in slices), *shape[1:]), dtype)
        first = 0
        for rows in slices:
            fill(where, values[first : (first := first + rows.stop - rows.start)], table, names, rows)
        return Share(shape, _numbers(slices), read_only(values), _identity(where, (shape, names)))
    except (OSError, *BROKEN) as error:
        raise _unreadable(where, error) from None


def _numbers(slices: Iterable[slice]) -> NDArray[np.intp]:
    return np.concatenate([np.arange(s.start, s.stop) for s in slices])


def _identity(where: Location, shape: Any) -> str:
    """The identity of a file without reading it: shape, and sizes of files."""
    return repr((shape, [where.size(file) for file in where.files]))
