"""Tables in files of Parquet and Arrow, of which columns of numbers are read, some rows at a time."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.data.blocks import release
from ppl.data.bounded_read import repeated
from ppl.data.locations import Location
from ppl.errors import DataError, MissingPackage
from ppl.system.distribution import requirements

COLUMNS = (".parquet", ".arrow", ".feather")
ROWS_AT_A_TIME = 1 << 16
"""Rows of a file that are read at a time."""


def refused(where: object, why: str, variable: str | None = None) -> DataError:
    return DataError(f"{where}: {why}", variable, "PPL905")


def columns_of(where: Location, names: Sequence[str]) -> tuple[Any, Sequence[str], tuple[int, ...], type]:
    """The table in a file or data set, the columns of it that are wanted, and an array's shape and type."""
    try:
        import pyarrow as arrow
    except ImportError:
        raise MissingPackage(str(where), "pyarrow", *requirements("parquet")) from None
    if not where.files:
        raise refused(where, "there is no .parquet file in this folder")
    table = _Parquet(where) if where.suffix == ".parquet" or where.is_folder else _Ipc(where)
    if (name := repeated(table.schema.names)) is not None:
        raise refused(where, f"`{name}` names two columns; give each column a name of its own", name)
    names = names or table.schema.names
    absent = next((name for name in names if name not in table.schema.names), None)
    if absent is not None:
        raise refused(where, f"there is no column {absent}; there are {', '.join(table.schema.names)}")
    kinds = {name: table.schema.field(name).type for name in names}
    for name, kind in kinds.items():
        if not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
            raise refused(where, f"column {name} holds {kind}, no numbers")
    dtype = np.int64 if all(map(arrow.types.is_integer, kinds.values())) else np.float64
    return table, names, (table.n_rows, len(names))[: min(len(names), 2)], dtype


def fill(where: Location, array: NDArray[Any], table: Any, names: Sequence[str], rows: slice) -> None:
    """Put some rows of the table in an array of as many, and give back what Arrow keeps of its memory."""
    from pyarrow import default_memory_pool

    first = 0
    for batch in table.batches(names, rows):
        for k, name in enumerate(names):
            column = batch.column(batch.schema.get_field_index(name))
            if column.null_count:
                raise refused(where, f"column {name} has missing values; leave their rows out")
            entries = (slice(first, first + len(column)), k)[: array.ndim]
            array[entries] = _fitting(where, name, column.to_numpy(zero_copy_only=False), array.dtype)
        first += len(batch)
        release(array)
    default_memory_pool().release_unused()


def _fitting(where: Location, name: str, values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The values, unless one is beyond the integers they are kept as, where it would wrap around."""
    largest = np.iinfo(np.int64).max
    if values.dtype == np.uint64 and dtype == np.int64 and len(values) and values.max() > largest:
        row = int(np.argmax(values > largest))
        why = f"column {name} has {values[row]}, but integers are of 64 bits with a sign, at most {largest}"
        raise refused(where, f"{why}; convert the column to float64")
    return values


class _Parquet:
    """A Parquet file, or the files of a folder one after the other, row group by row group."""

    def __init__(self, where: Location):
        from pyarrow import parquet

        # A file that Arrow reads ahead keeps its last row group in memory until it is closed.
        self.where = where
        self.files = [
            parquet.ParquetFile(where.open(file), buffer_size=1 << 20, pre_buffer=False)
            for file in where.files
        ]
        self.schema = self.files[0].schema_arrow
        self.n_rows = sum(file.metadata.num_rows for file in self.files)

    def batches(self, names: Sequence[str], rows: slice) -> Iterator[Any]:
        """Those rows; of row groups without any, nothing is read."""
        first = 0
        for name, file in zip(self.where.files, self.files, strict=True):
            self.require_same(str(name), file.schema_arrow, names)
            for k in range(file.num_row_groups):
                size = file.metadata.row_group(k).num_rows
                if first < rows.stop and first + size > rows.start:
                    some = file.iter_batches(ROWS_AT_A_TIME, row_groups=[k], columns=list(names))
                    yield from within(some, first, rows)
                first += size

    def require_same(self, file: str, schema: Any, names: Sequence[str]) -> None:
        """Refuse a file of a folder where a column is of another type than in the first, or absent."""
        for name in names:
            there = schema.field(name).type if name in schema.names else "absent"
            if there != (type_of := self.schema.field(name).type):
                raise refused(
                    self.where, f"column {name} is {type_of} in the first file, {there} in {file}", name
                )


class _Ipc:
    """An Arrow (Feather 2) file, record batch by record batch."""

    def __init__(self, where: Location):
        from pyarrow import ipc, memory_map

        (file,) = map(where.open, where.files)
        self.file = ipc.open_file(memory_map(str(file)) if isinstance(file, PurePath) else file)
        self.schema = self.file.schema
        self.n_rows = sum(len(self.file.get_batch(k)) for k in range(self.file.num_record_batches))

    def batches(self, names: Sequence[str], rows: slice) -> Iterator[Any]:
        return within((self.file.get_batch(k) for k in range(self.file.num_record_batches)), 0, rows)


def within(batches: Iterable[Any], first: int, rows: slice) -> Iterator[Any]:
    """The part of batches of rows, numbered from `first`, that lies among some rows."""
    for batch in batches:
        start, stop = max(rows.start - first, 0), min(rows.stop - first, len(batch))
        if start < stop:
            yield batch.slice(start, stop - start)
        first += len(batch)
