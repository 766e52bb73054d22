"""Files read into memory, never more of one than memory holds: archives and devices have no honest size."""

import gzip
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ppl.errors import DataError
from ppl.memory import available, in_bytes
from ppl.records import dataclass


class BadText(ValueError):
    """The text is not of its format: what is wrong at `line` and, in JSON, `column`, both from 1."""

    def __init__(self, message: str, line: int, column: int = 0):
        self.line, self.column = line, column
        self.place = f"{line}:{column}" if column else f"{line}"
        super().__init__(message)


WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How files of .xlsx and .xls begin, which are CSV by their names now and then."""


def repeated(names: Iterable[str]) -> str | None:
    """The first name that stands among others for a second time."""
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def characters(text: bytes) -> str:
    """Its characters, without a byte order mark, which tells UTF-16 from UTF-8: Excel's Unicode text has one.

    Raises:
        BadText: it is neither, or a workbook.
    """
    if text.startswith(WORKBOOKS):
        raise BadText("this is a workbook or an archive, not text; save the sheet as CSV", 1)
    try:
        return text.decode("utf-16" if text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText("the text is not UTF-8", text.count(b"\n", 0, error.start) + 1) from None


@dataclass(frozen=True)
class ReadLimits:
    """How a file of unknown size is read."""

    block: int = 1 << 20
    """Bytes that are read at a time."""

    share_of_memory: int = 4
    """The largest content of a file, as one part in so many of the free memory: arrays are made of it."""


READING = ReadLimits()


def room() -> int:
    """Bytes that the values of one file may take."""
    return available() // READING.share_of_memory


def read_bytes(path: Path, packed: bool, begins: bytes = b"") -> bytes:
    """The content of a file, unpacked where it is `packed` by gzip; of another beginning only a first part.

    Raises:
        DataError: it holds more than there is room for.
        OSError, EOFError, zlib.error: it cannot be read.
    """
    with gzip.open(path) if packed else path.open("rb") as file:
        first = file.read(READING.block)
        if begins and not first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(begins):
            return first
        return first + rest(path, file)


def read_stream(file: BinaryIO, label: str) -> bytes:
    """All that a stream gives, which errors call `label`.

    Raises:
        DataError: there is more than there is room for.
    """
    return rest(label, file)


def rest(path: Path | str, file: BinaryIO | gzip.GzipFile) -> bytes:
    blocks, size, most = [], READING.block, 0
    while block := file.read(READING.block):
        most = most or room()  # which takes as long as to read a small file
        blocks.append(block)
        size += len(block)
        if size > most:
            raise DataError(f"{path}: {too_much('holds more than', most)}", code="PPL905")
    return b"".join(blocks)


def too_much(what: str, most: int) -> str:
    """The sentence for what has no room."""
    return (
        f"{what} {in_bytes(most)}, a quarter of the memory that is free. Long arrays can stay on disk: save "
        "them as .npy, and give these files as data"
    )


def require_room_for(path: Path, name: str | None, size: int) -> None:
    """Refuse a variable, or a whole table, of so many bytes where there is no room for it."""
    most = room()
    if size > most:
        why = too_much(f"it takes {in_bytes(size)}, more than", most)
        raise DataError(": ".join(filter(None, (str(path), name, why))), name, "PPL905")
