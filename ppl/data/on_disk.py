"""Arrays that stay on disk: NumPy's files as they are, columns of Parquet and Arrow by a temporary file."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.data.archive import BROKEN, said
from ppl.data.blocks import release
from ppl.data.inputs import Inputs
from ppl.data.read_only import aligned, read_only, room_for
from ppl.data.shares import Partition, Share
from ppl.distribution import with_extra
from ppl.errors import DataError, MissingPackage
from ppl.files import require_file

COLUMNS = (".parquet", ".arrow", ".feather")
Own = Callable[[int], tuple[slice, ...]]
"""The rows of an array of so many that are this process's."""
ROWS_AT_A_TIME = 1 << 16
"""Rows of a file that are read at a time."""


def with_arrays(inputs: Inputs, files: Mapping[str, str]) -> Inputs:
    """The inputs, and beside them variables each from a file of its own, {"x": "rows.npy"}.

    An .npy file is mapped. Of a .parquet, .arrow or .feather file a variable takes all columns, in order, or
    those that are named behind a colon, "rows.parquet:age,weight"; one column is a vector, several a matrix.

    Raises:
        DataError: a variable is given twice, or its file cannot be read.
    """
    return _beside(inputs, files, open_array)


def with_shares(
    inputs: Inputs, files: Mapping[str, str], partition: Callable[[int], Partition], parts: range
) -> Inputs:
    """As `with_arrays`, but of each array only the rows of consecutive parts are read, and those left over.

    `partition(n_rows)` says how rows are shared out. They are those along the first axis.

    Raises:
        DataError: as `with_arrays`.
    """
    return _beside(inputs, files, lambda file: open_share(file, lambda n_rows: partition(n_rows).own(parts)))


def _beside(inputs: Inputs, files: Mapping[str, str], read: Callable[[str], Any]) -> Inputs:
    """The inputs, and beside them what each file holds."""
    twice = next((name for name in files if name in inputs.values), None)
    if twice:
        raise refused(files[twice], f"`{twice}` is in {inputs.label_of(twice)} too; give it once", twice)
    values = {name: _read_for(name, file, read) for name, file in files.items()}
    return replace(inputs, values={**inputs.values, **values}, files={**inputs.files, **files})


def _read_for(name: str, file: str, read: Callable[[str], Any]) -> Any:
    """What a file holds for a variable, which an error then names."""
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
    name, _, columns = str(file).partition(":")
    path = Path(name)
    if path.suffix in (".npy", *COLUMNS):
        require_file(path)
    try:
        if path.suffix == ".npy":
            mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
            return mapped
        if path.suffix in COLUMNS or path.is_dir():
            table, names, dtype = _columns(path, columns.split(",") if columns else [])
            return _all_rows(path, table, names, dtype)
    except (OSError, *BROKEN) as error:
        why = getattr(error, "strerror", None) or said(error)
        raise refused(path, f"cannot be read: {why}") from None
    raise refused(path, f"arrays are read from .npy, {', '.join(COLUMNS)}; {path.suffix} is not known")


def open_share(file: str | Path, own: Own) -> Share:
    """Some rows of the array in a file, which `own` chooses by their number.

    Raises:
        DataError: as `open_array`.
    """
    name, _, columns = str(file).partition(":")
    path = Path(name)
    if path.suffix not in COLUMNS and not path.is_dir():
        mapped = open_array(file)
        slices = own(len(mapped))
        values = np.concatenate([np.asarray(mapped[rows]) for rows in slices])
        release(mapped)
        return Share(
            mapped.shape,
            _numbers(slices),
            read_only(aligned(values, values.dtype)),
            _identity(path, mapped.shape),
        )
    try:
        table, names, dtype = _columns(path, columns.split(",") if columns else [])
        slices = own(table.n_rows)
        shape = (table.n_rows, len(names)) if len(names) > 1 else (table.n_rows,)
        values = room_for((sum(s.stop - s.start for s in slices), *shape[1:]), dtype)
        first = 0
        for rows in slices:
            _fill(path, values[first : (first := first + rows.stop - rows.start)], table, names, rows)
        return Share(shape, _numbers(slices), read_only(values), _identity(path, (shape, names)))
    except (OSError, *BROKEN) as error:
        why = getattr(error, "strerror", None) or said(error)
        raise refused(path, f"cannot be read: {why}") from None


def _numbers(slices: Iterable[slice]) -> NDArray[np.intp]:
    return np.concatenate([np.arange(s.start, s.stop) for s in slices])


def _identity(path: Path, shape: Any) -> str:
    """What tells a file from others without reading it: shape, and sizes of files."""
    return repr((shape, [file.stat().st_size for file in _files(path)]))


def _files(path: Path) -> list[Path]:
    """The file, or those of a data set, in the order of their names."""
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def refused(path: str | Path, why: str, variable: str | None = None) -> DataError:
    return DataError(f"{path}: {why}", variable, "PPL905")


def _columns(path: Path, names: Sequence[str]) -> tuple[Any, Sequence[str], type]:
    """The table in a file or data set, the columns of it that are wanted, and of which type an array is."""
    try:
        import pyarrow as arrow
    except ImportError:
        raise MissingPackage(str(path), "pyarrow", with_extra("parquet")) from None
    if not _files(path):
        raise refused(path, "there is no .parquet file in this folder")
    table = _Parquet(path) if path.suffix == ".parquet" or path.is_dir() else _Ipc(path)
    names = names or table.schema.names
    absent = next((name for name in names if name not in table.schema.names), None)
    if absent is not None:
        raise refused(path, f"there is no column {absent}; there are {', '.join(table.schema.names)}")
    kinds = {name: table.schema.field(name).type for name in names}
    for name, kind in kinds.items():
        if not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
            raise refused(path, f"column {name} holds {kind}, no numbers")
    return table, names, np.int64 if all(map(arrow.types.is_integer, kinds.values())) else np.float64


def _all_rows(path: Path, table: Any, names: Sequence[str], dtype: type) -> NDArray[Any]:
    """All rows, by a temporary file."""
    array = np.memmap(
        tempfile.TemporaryFile(),  # noqa: SIM115 - the map keeps it, and its end is the file's
        dtype,
        "w+",
        shape=(table.n_rows, len(names)) if len(names) > 1 else (table.n_rows,),
    )
    _fill(path, array, table, names, slice(0, table.n_rows))
    return array


def _fill(path: Path, array: NDArray[Any], table: Any, names: Sequence[str], rows: slice) -> None:
    """Put some rows of the table in an array of as many."""
    first = 0
    for batch in table.batches(names, rows):
        for k, name in enumerate(names):
            column = batch.column(batch.schema.get_field_index(name))
            if column.null_count:
                raise refused(path, f"column {name} has missing values; leave their rows out")
            where = (slice(first, first + len(column)), k)[: array.ndim]
            array[where] = _fitting(path, name, column.to_numpy(zero_copy_only=False), array.dtype)
        first += len(batch)
        release(array)
    table.release()


def _fitting(path: Path, name: str, values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The values, unless one is beyond the integers they are kept as, where it would wrap around."""
    largest = np.iinfo(np.int64).max
    if values.dtype == np.uint64 and dtype == np.int64 and len(values) and values.max() > largest:
        row = int(np.argmax(values > largest))
        why = f"column {name} has {values[row]}, but integers are of 64 bits with a sign, at most {largest}"
        raise refused(path, f"{why}; convert the column to float64")
    return values


class _Parquet:
    """A Parquet file, or the files of a folder one after the other, row group by row group."""

    def __init__(self, path: Path):
        from pyarrow import parquet

        self.files = [parquet.ParquetFile(file, buffer_size=1 << 20) for file in _files(path)]
        self.schema = self.files[0].schema_arrow
        self.n_rows = sum(file.metadata.num_rows for file in self.files)

    def release(self) -> None:
        """Give back what Arrow keeps of the memory that it read into."""
        from pyarrow import default_memory_pool

        default_memory_pool().release_unused()

    def batches(self, names: Sequence[str], rows: slice) -> Iterator[Any]:
        """Those rows; of row groups without any, nothing is read."""
        first = 0
        for file in self.files:
            for k in range(file.num_row_groups):
                size = file.metadata.row_group(k).num_rows
                if first < rows.stop and first + size > rows.start:
                    some = file.iter_batches(ROWS_AT_A_TIME, row_groups=[k], columns=list(names))
                    yield from within(some, first, rows)
                first += size


class _Ipc:
    """An Arrow (Feather 2) file, record batch by record batch."""

    def __init__(self, path: Path):
        from pyarrow import ipc, memory_map

        self.file = ipc.open_file(memory_map(str(path)))
        self.schema = self.file.schema
        self.n_rows = sum(len(self.file.get_batch(k)) for k in range(self.file.num_record_batches))

    def batches(self, names: Sequence[str], rows: slice) -> Iterator[Any]:
        return within((self.file.get_batch(k) for k in range(self.file.num_record_batches)), 0, rows)

    def release(self) -> None:
        """Nothing is kept of a file that is mapped."""


def within(batches: Iterable[Any], first: int, rows: slice) -> Iterator[Any]:
    """What of batches of rows, numbered from `first`, lies among some rows."""
    for batch in batches:
        start, stop = max(rows.start - first, 0), min(rows.stop - first, len(batch))
        if start < stop:
            yield batch.slice(start, stop - start)
        first += len(batch)
