"""Where data come from: a mapping, a DataFrame, or a file of JSON, CSV, R's dump, NumPy's or Parquet."""

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from ppl.data.bounded_read import BadText, read_bytes, repeated, require_room_for
from ppl.data.inputs import Inputs, RowCount
from ppl.data.json_text import parse_json
from ppl.data.levels import column_of
from ppl.errors import DataError, MissingPackage
from ppl.files import require_file
from ppl.late import LateModule, zipfile
from ppl.system.distribution import requirements

archive, csv_text = LateModule("ppl.data.archive"), LateModule("ppl.data.csv_text")
r_dump = LateModule("ppl.data.r_dump")
BYTES_A_NUMBER = 8
"""Of a table's number in memory; a compressed file of equal ones has next to none."""


class Frame(Protocol):
    """A DataFrame of pandas or polars, or a table of Arrow."""

    @property
    def columns(self) -> Any: ...
    def __getitem__(self, name: Any) -> Any: ...
    def __len__(self) -> int: ...


INSTEAD = {
    "LazyFrame": "; write frame.collect()",
    "DataFrameGroupBy": "; fit each group, or write agg(...) of them",
    "list": "; write pandas.DataFrame(rows) for a list of rows",
    "recarray": "; write pandas.DataFrame(rows)",
    "Series": "; write series.to_frame(), or a dict",
    "ndarray": '; name the array, {"y": array}',
}
"""The conversions of other things that hold data."""
AnyData = Inputs | Mapping[str, Any] | Frame | str | Path
"""The types in which data may be given."""


def load_data(data: Inputs | Mapping[str, Any] | Frame | str | Path) -> Inputs:
    """The given mapping, a DataFrame by column, the contents of a .json, .csv, .R, .npz or .parquet
    file; or inputs.

    JSON is Stan's: one object, name to number or nested lists, a matrix as the list of its rows, a tuple as
    {"1": ..., "2": ...}.  Long arrays are turned into ndarrays piece by piece, so that memory stays within a
    few times the size of the file.  CSV has a header, which names a variable a column, as Parquet's
    columns do.  Columns of CSV may also be separated by semicolons or tabs. JSON and CSV
    may be gzipped.

    Raises:
        MissingFile: the file is not there.
        MissingPackage: Parquet needs pyarrow.
        DataError: it cannot be read; malformed JSON is placed by file:line:column, CSV and R's
            dump by file:line.

    Source: CmdStan User's Guide, "JSON Format for CmdStan".
    """
    match data:
        case Inputs():
            return data
        case Mapping():
            return Inputs(_named(data), "data")
        case _ if is_frame(data):
            frame = with_index(data)
            names = getattr(frame, "column_names", frame.columns)  # Arrow's columns are no names
            if (twice := repeated(map(str, names))) is not None:
                raise DataError(
                    f"data: `{twice}` names two columns; give each variable once", twice, "PPL905"
                )
            values = {str(name): column_of(frame[name]) for name in names}
            return table(values, "data", RowCount(len(frame)))
        case str() | Path():
            return _read(Path(data))
        case _:
            kind = type(data).__name__
            what = f"data must be a mapping from name to value, a DataFrame, or the path of a file ({KNOWN})"
            raise DataError(f"{what}, not a {kind}{INSTEAD.get(kind, '')}", code="PPL905")


def with_index(frame: Any) -> Any:
    """A frame of pandas with the levels of its index that have a name as columns, as groupby leaves them."""
    names = [name for name in getattr(getattr(frame, "index", None), "names", ()) if name is not None]
    absent = [name for name in names if name not in frame.columns]
    return frame.reset_index(absent) if absent else frame


def is_frame(data: Any) -> TypeGuard[Frame]:
    """Whether it is a DataFrame or a table of Arrow, for which no package is loaded."""
    is_table = hasattr(data, "to_numpy") or hasattr(data, "column_names")
    return is_table and hasattr(data, "columns")  # of a LazyFrame of polars these are costly


def table(values: dict[str, Any], label: str, rows: RowCount) -> Inputs:
    """The columns of a table."""
    return Inputs(values, label, columns=dict.fromkeys(values, rows))


def _named(data: Mapping[Any, Any]) -> dict[str, Any]:
    for name in data:
        if not isinstance(name, str):
            what = f"{name!r}, a {type(name).__name__}"
            raise DataError(f"data: a variable's name is a string, not {what}", code="PPL905")
    return dict(data)


def _read(path: Path) -> Inputs:
    packed = path.suffix.lower() == ".gz"
    suffix = (Path(path.stem) if packed else path).suffix.lower()
    reader = READERS.get(suffix or ".json")
    if reader is None:
        how = "; save the sheet as CSV" if suffix.startswith(".xls") else ""
        raise DataError(f"{path}: data are read from {KNOWN}; {suffix} is unsupported{how}", code="PPL905")
    require_file(path)
    try:
        return reader(path, packed)
    except BadText as error:
        raise DataError(f"{path}:{error.place}: {error}", code="PPL906") from None
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read: {why}", code="PPL905") from None


def of_json(text: bytes, label: str) -> Inputs:
    """Data in JSON, which are from `label`.

    Raises:
        DataError: the text is not JSON; places it by line and column.
    """
    try:
        return Inputs(parse_json(text), label)
    except BadText as error:
        raise DataError(f"{label}:{error.place}: {error}", code="PPL906") from None


def _csv(path: Path, packed: bool) -> Inputs:
    values, lines = csv_text.parse_csv(read_bytes(path, packed))
    return table(values, str(path), RowCount(len(lines), lines))


def _parquet(path: Path, packed: bool) -> Inputs:
    """A variable a column; missing values are nan."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingPackage(str(path), "pyarrow", *requirements("parquet")) from None
    try:
        with ParquetFile(path) as file:
            name = repeated(file.schema_arrow.names)
            numbers = file.metadata.num_rows * file.metadata.num_columns
            require_room_for(path, None, BYTES_A_NUMBER * numbers)
            arrow = file.read() if name is None else None
    except ValueError as error:  # pyarrow's errors are ValueErrors
        raise DataError(f"{path}: cannot be read: {error}", code="PPL905") from None
    if arrow is None:
        raise DataError(f"{path}: `{name}` names two columns; give each variable once", name, "PPL905")
    values = {name: column_of(arrow.column(name)) for name in arrow.column_names}
    return table(values, str(path), RowCount(len(arrow)))


READERS: Mapping[str, Callable[[Path, bool], Inputs]] = {
    ".json": lambda path, packed: of_json(read_bytes(path, packed, begins=b"{"), str(path)),
    **dict.fromkeys((".csv", ".tsv", ".txt"), _csv),
    ".npz": lambda path, packed: Inputs(archive.read_npz(path), str(path)),
    ".parquet": _parquet,
    ".r": lambda path, packed: Inputs(r_dump.parse_r_dump(read_bytes(path, packed)), str(path)),
}
"""By suffix, without the .gz of a file that is packed."""
KNOWN = ".json, .json.gz, .csv, .csv.gz, .tsv, .txt, .npz, .parquet, .R"
