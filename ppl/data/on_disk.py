"""Arrays that stay on disk: NumPy's files as they are, columns of Parquet and Arrow by a temporary file."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.data.archive import BROKEN, said
from ppl.data.blocks import release
from ppl.data.inputs import Inputs
from ppl.errors import DataError, MissingPackage
from ppl.files import require_file

COLUMNS = (".parquet", ".arrow", ".feather")
ROWS_AT_A_TIME = 1 << 16
"""Rows of a file that are read at a time."""


def with_arrays(inputs: Inputs, files: Mapping[str, str]) -> Inputs:
    """The inputs, and beside them variables each from a file of its own, {"x": "rows.npy"}.

    An .npy file is mapped. Of a .parquet, .arrow or .feather file a variable takes all columns, in order, or
    those that are named behind a colon, "rows.parquet:age,weight"; one column is a vector, several a matrix.

    Raises:
        DataError: a variable is given twice, or its file cannot be read.
    """
    twice = next((name for name in files if name in inputs.values), None)
    if twice:
        raise refused(files[twice], f"`{twice}` is in {inputs.label_of(twice)} too; give it once", twice)
    arrays = {name: _open_for(name, file) for name, file in files.items()}
    return replace(inputs, values={**inputs.values, **arrays}, files={**inputs.files, **files})


def _open_for(name: str, file: str) -> NDArray[Any]:
    """The array for a variable, which an error then names."""
    try:
        return open_array(file)
    except DataError as error:
        raise DataError(f"{error} (for `{name}`)", name, error.code) from None


def open_array(file: str | Path) -> NDArray[Any]:
    """The array in a file, mapped where it is long.

    Raises:
        MissingFile: the file is not there.
        DataError: it cannot be read, or is none of .npy, .parquet, .arrow and .feather.
    """
    name, _, columns = str(file).partition(":")
    path = Path(name)
    if path.suffix in (".npy", *COLUMNS):
        require_file(path)
    try:
        if path.suffix == ".npy":
            mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
            return mapped
        if path.suffix in COLUMNS:
            return _columns(path, columns.split(",") if columns else [])
    except (OSError, *BROKEN) as error:
        why = getattr(error, "strerror", None) or said(error)
        raise refused(path, f"cannot be read: {why}") from None
    raise refused(path, f"arrays are read from .npy, {', '.join(COLUMNS)}; {path.suffix} is not known")


def refused(path: str | Path, why: str, variable: str | None = None) -> DataError:
    return DataError(f"{path}: {why}", variable, "PPL905")


def _columns(path: Path, names: Sequence[str]) -> NDArray[Any]:
    try:
        import pyarrow as arrow
    except ImportError:
        raise MissingPackage(str(path), "pyarrow", "ppl[parquet]") from None
    table = _Parquet(path) if path.suffix == ".parquet" else _Ipc(path)
    names = names or table.schema.names
    absent = next((name for name in names if name not in table.schema.names), None)
    if absent is not None:
        raise refused(path, f"there is no column {absent}; there are {', '.join(table.schema.names)}")
    kinds = {name: table.schema.field(name).type for name in names}
    for name, kind in kinds.items():
        if not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
            raise refused(path, f"column {name} holds {kind}, no numbers")
    whole = all(map(arrow.types.is_integer, kinds.values()))
    array = np.memmap(
        tempfile.TemporaryFile(),  # noqa: SIM115 - the map keeps it, and its end is the file's
        np.int64 if whole else np.float64,
        "w+",
        shape=(table.n_rows, len(names)) if len(names) > 1 else (table.n_rows,),
    )
    first = 0
    for batch in table.batches(names):
        for k, name in enumerate(names):
            column = batch.column(batch.schema.get_field_index(name))
            if column.null_count:
                raise refused(path, f"column {name} has missing values; leave their rows out")
            where = (slice(first, first + len(column)), k)[: array.ndim]
            array[where] = _fitting(path, name, column.to_numpy(zero_copy_only=False), array.dtype)
        first += len(batch)
        release(array)
    return array


def _fitting(path: Path, name: str, values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The values, unless one is beyond the integers they are kept as, where it would wrap around."""
    largest = np.iinfo(np.int64).max
    if values.dtype == np.uint64 and dtype == np.int64 and len(values) and values.max() > largest:
        row = int(np.argmax(values > largest))
        why = f"column {name} has {values[row]}, but integers are of 64 bits with a sign, at most {largest}"
        raise refused(path, f"{why}; convert the column to float64")
    return values


class _Parquet:
    """A Parquet file, row group by row group."""

    def __init__(self, path: Path):
        from pyarrow import parquet

        self.file = parquet.ParquetFile(path)
        self.schema, self.n_rows = self.file.schema_arrow, self.file.metadata.num_rows

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        return iter(self.file.iter_batches(ROWS_AT_A_TIME, columns=list(names)))


class _Ipc:
    """An Arrow (Feather 2) file, record batch by record batch."""

    def __init__(self, path: Path):
        from pyarrow import ipc, memory_map

        self.file = ipc.open_file(memory_map(str(path)))
        self.schema = self.file.schema
        self.n_rows = sum(len(batch) for batch in self.batches([]))

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        return (self.file.get_batch(k) for k in range(self.file.num_record_batches))
