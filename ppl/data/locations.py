"""Where the files of an array lie: on a disk of this machine, or behind a URL such as s3://bucket/rows."""

import re
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ppl.errors import DataError, MissingPackage
from ppl.files import exists
from ppl.records import dataclass
from ppl.system.distribution import requirements

SCHEME = re.compile(r"\w[\w+.-]+://")
"""How a URL begins; a letter alone is a drive of Windows."""


@dataclass(frozen=True)
class OnDisk:
    """A path on a disk of this machine."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def suffix(self) -> str:
        return self.path.suffix

    @property
    def exists(self) -> bool:
        return exists(self.path)

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @property
    def files(self) -> list[Any]:
        """The sources that `open` and `size` take: the file, or the .parquet files of a folder, one table."""
        return sorted(self.path.glob("*.parquet")) if self.is_folder else [self.path]

    def open(self, file: Any) -> Any:
        """The source that Arrow reads."""
        return file

    def size(self, file: Any) -> int:
        """In bytes."""
        return int(file.stat().st_size)


@dataclass(frozen=True)
class InStore:
    """A URL, of a store that Arrow knows (s3, gs, abfs, hdfs, file) or else that fsspec does.

    Arrow takes options of the store behind a question mark; a colon in them is written %3A.
    """

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def suffix(self) -> str:
        return PurePosixPath(urlsplit(self.url).path).suffix

    @property
    def exists(self) -> bool:
        return self._kind != "NotFound"

    @property
    def is_folder(self) -> bool:
        return self._kind == "Directory"

    @cached_property
    def files(self) -> list[Any]:
        from pyarrow.fs import FileSelector

        system, path = self._store
        if not self.is_folder:
            return [path]
        names = (info.path for info in system.get_file_info(FileSelector(path)))
        return sorted(name for name in names if name.endswith(".parquet"))

    def open(self, file: Any) -> Any:
        return self._store[0].open_input_file(file)

    def size(self, file: Any) -> int:
        return int(self._store[0].get_file_info(file).size)

    @cached_property
    def _kind(self) -> str:
        system, path = self._store
        try:
            return str(system.get_file_info(path).type.name)
        except OSError as error:  # no such host, or no right to look
            raise DataError(f"{self.url}: cannot be read: {error}", code="PPL905") from None

    @cached_property
    def _store(self) -> tuple[Any, str]:
        """Arrow's file system, and the path in it."""
        try:
            from pyarrow import ArrowInvalid, fs
        except ImportError:
            raise MissingPackage(self.url, "pyarrow", *requirements("parquet")) from None
        try:
            system, path = fs.FileSystem.from_uri(self.url)
            return system, path
        except ArrowInvalid:  # a scheme that Arrow does not know
            pass
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingPackage(self.url, "fsspec", *requirements("parquet")) from None
        try:
            opened, path = url_to_fs(self.url)
        except (ImportError, ValueError) as error:  # no package for the scheme, or no such scheme
            raise DataError(f"{self.url}: {error}", code="PPL905") from None
        return fs.PyFileSystem(fs.FSSpecHandler(opened)), path


Location = OnDisk | InStore
"""A file, or a folder whose .parquet files are one table, in the order of their names."""


def location_of(text: str) -> tuple[Location, list[str]]:
    """The location in "rows.parquet:age,weight", and the columns named behind the colon.

    Example:
        >>> location_of("s3://bucket/rows.parquet:age,weight")
        (InStore(url='s3://bucket/rows.parquet'), ['age', 'weight'])
        >>> location_of("rows.parquet")
        (OnDisk(path=PosixPath('rows.parquet')), [])
    """
    if not SCHEME.match(text):
        name, _, columns = text.partition(":")
        return OnDisk(Path(name)), _column_names(columns)
    url, _, columns = text.rpartition(":")
    if "/" in columns:  # that colon is the scheme's, or a port's
        return InStore(text), []
    return InStore(url), _column_names(columns)


def _column_names(columns: str) -> list[str]:
    return columns.split(",") if columns else []
