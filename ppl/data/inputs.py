"""Where data come from: a mapping, JSON (also gzipped) or an .npz archive."""

import zipfile
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from ppl.data.archive import read_npz
from ppl.data.bounded_read import read_bytes
from ppl.data.json_text import Malformed, parse_json
from ppl.errors import DataError
from ppl.files import require_file

READERS = (".json", ".json.gz", ".npz")


@dataclass(frozen=True)
class Inputs:
    """Values by name as they were given, unchecked; `label` says where from: the file, or "data".

    `files` are the variables that have a file of their own, by name.
    """

    values: Mapping[str, Any]
    label: str
    files: Mapping[str, str] = field(default_factory=dict)

    def label_of(self, name: str) -> str:
        """Where a variable is from."""
        return self.files.get(name, self.label)


class Frame(Protocol):
    """A DataFrame, of pandas or polars."""

    @property
    def columns(self) -> Any: ...
    def __getitem__(self, name: Any) -> Any: ...
    def __len__(self) -> int: ...
    def to_numpy(self) -> Any: ...


def load_data(data: Inputs | Mapping[str, Any] | Frame | str | Path) -> Inputs:
    """The given mapping, a DataFrame by column, the contents of a .json, .json.gz or .npz file; or inputs.

    JSON is Stan's: one object, name to number or nested lists, a matrix as the list of its rows, a tuple as
    {"1": ..., "2": ...}.  Long arrays are turned into ndarrays piece by piece, so that memory stays within a
    few times the size of the file.

    Raises:
        MissingFile: the file is not there.
        DataError: it cannot be read; malformed JSON is placed by file:line:column.

    Source: CmdStan User's Guide, "JSON Format for CmdStan".
    """
    match data:
        case Inputs():
            return data
        case Mapping():
            return Inputs(_named(data), "data")
        case _ if is_frame(data):
            return of_frame(data)
        case str() | Path():
            return Inputs(_read(Path(data)), str(data))
        case _:
            raise DataError(
                "data are a mapping from name to value, a DataFrame, or the path of a file "
                f"({', '.join(READERS)}), "
                f"not a {type(data).__name__}",
                code="PPL905",
            )


def is_frame(data: Any) -> TypeGuard[Frame]:
    """Whether it is a DataFrame, for which neither package is loaded."""
    return hasattr(data, "columns") and hasattr(data, "to_numpy")


def of_frame(frame: Frame, sizes: Collection[str] = ()) -> Inputs:
    """A DataFrame, a variable a column; `sizes` are variables that count its rows."""
    columns = {str(name): frame[name].to_numpy() for name in frame.columns}
    counts = {name: len(frame) for name in sizes if name not in columns}
    return Inputs(_named(counts | columns), "data")


def unknown_names(inputs: Inputs, known: Collection[str]) -> list[str]:
    """Names in the data that the program does not declare; they are allowed, and ignored."""
    return [name for name in inputs.values if name not in known]


def _named(data: Mapping[Any, Any]) -> dict[str, Any]:
    for name in data:
        if not isinstance(name, str):
            raise DataError(
                f"data: a variable's name is a string, not {name!r}, a {type(name).__name__}", code="PPL905"
            )
    return dict(data)


def _read(path: Path) -> dict[str, Any]:
    name = path.name.lower()
    if name.endswith(READERS) or path.suffix in ("", ".gz"):
        require_file(path)
    try:
        if name.endswith(".npz"):
            return read_npz(path)
        if path.suffix in ("", ".json") or name.endswith((".json", ".gz")):
            return _read_json(path, read_bytes(path, packed=name.endswith(".gz"), begins=b"{"))
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read: {why}", code="PPL905") from None
    raise DataError(
        f"{path}: data are read from {', '.join(READERS)}; {path.suffix} is not known", code="PPL905"
    )


def _read_json(path: Path, text: bytes) -> dict[str, Any]:
    try:
        return parse_json(text)
    except Malformed as error:
        raise DataError(f"{path}:{error.line}:{error.column}: {error}", code="PPL906") from None
