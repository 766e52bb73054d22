"""Arrays out of NumPy's files, their headers held against what follows them.

Formats: numpy.lib.format. Nothing is unpickled.
"""

import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

from numpy.lib import format as npy

from ppl.data.bounded_read import READING, repeated, require_room_for
from ppl.data.read_only import aligned, read_only
from ppl.errors import DataError

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
BROKEN = (
    *(ValueError, TypeError, SyntaxError, tokenize.TokenError, struct.error, zlib.error, zipfile.BadZipFile),
    *(EOFError, NotImplementedError, RuntimeError, MemoryError, OverflowError, KeyError, AttributeError),
)
"""Exceptions of the readers of Python and NumPy for bytes that are not what they seem to be."""


def read_npz(path: Path) -> dict[str, Any]:
    """Every array of an archive, by name.

    Raises:
        DataError: it is no archive, or a member no array, broken, or larger than there is room for.
        OSError: the file cannot be read.
    """
    path.stat()
    try:
        with zipfile.ZipFile(path) as archive:
            members, unchecked = archive.infolist(), 0
            if (name := repeated(map(name_of, members))) is not None:
                raise DataError(f"{path}: `{name}` names two arrays; give each variable once", name, "PPL905")
            arrays = {}
            for info in members:
                unchecked += info.file_size
                if unchecked >= READING.block:  # to ask for the memory that is free takes a millisecond
                    require_room_for(path, name_of(info), unchecked)
                    unchecked = 0
                arrays[name_of(info)] = _member(path, archive, info)
            return arrays
    except BROKEN as error:
        raise DataError(
            f"{path}: not an .npz archive ({cause(error)}); numpy.savez(path, name=value, ...) writes one",
            code="PPL905",
        ) from None


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    name = name_of(info)
    try:
        with archive.open(info) as file:
            if wrong := overstated(file, info.file_size):
                raise ValueError(wrong)
        with archive.open(info) as file:
            array = npy.read_array(file, allow_pickle=False)
        return read_only(aligned(array, array.dtype) if array.dtype.kind in "biuf" else array)
    except BROKEN as error:
        wrong = f"{path}: {name} is not an array of numbers: {cause(error)}"
        raise DataError(wrong, name, "PPL905") from None


def name_of(info: zipfile.ZipInfo) -> str:
    return info.filename.removesuffix(".npy")


def overstated(file: Any, size: int) -> str:
    """The fault of a header before so many bytes in all; "" for an honest one."""
    version = npy.read_magic(file)
    if version not in HEADERS:
        return f"its format is version {version[0]}.{version[1]}; expected 1.0 or 2.0"
    shape, _, kind = HEADERS[version](file)
    if kind.hasobject:
        return "it contains Python objects, which are not loaded"
    if any(n < 0 for n in shape):
        return f"its header gives the shape {shape}"
    if math.prod(shape) * max(kind.itemsize, 1) > size:  # strings may have no length, and any number of them
        return f"its header declares {math.prod(shape)} numbers, but the file has only {size} bytes"
    return ""


def cause(error: BaseException) -> str:
    """The first line of an error, or its kind where it says nothing."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__
