"""Tables of comma-separated values: a header that names the columns, then a row a line.

Format: RFC 4180, in UTF-8 or UTF-16; semicolons or tabs may separate columns.
"""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import StringIO
from itertools import islice
from typing import Any

import numpy as np

from ppl.data.bounded_read import BadText, characters, repeated
from ppl.data.values import NOT_FINITE

SEPARATORS = (",", ";", "\t")
"""The first of these in the header separates columns."""
TEXT_ROWS_AT_A_TIME = 1 << 14
"""Rows whose fields exist as text at a time."""


def parse_csv(text: bytes) -> tuple[dict[str, Any], list[int]]:
    """The columns of a table by name, and the line that each row begins at; a column is an ndarray where all
    of it are numbers, else a list with strings.

    Columns without a name, such as R's and pandas' row names, are left out.

    Raises:
        BadText: the header names no columns, or one twice, or a line has more or fewer fields than it.
    """
    rows = _records(characters(text))
    names = _header(*next(rows, (1, [])))
    blocks, lines = list[list[Any]](), list[int]()
    while block := list(islice(rows, TEXT_ROWS_AT_A_TIME)):
        for line, fields in block:
            if not fields:
                raise BadText("a blank line among the rows", line)
            if (n := len(fields)) != len(names):
                raise BadText(f"{n} field{'s'[: n != 1]}, but the header names {len(names)} columns", line)
        lines += [line for line, _ in block]
        blocks.append([_numbers(column) for column in zip(*(fields for _, fields in block), strict=True)])
    return {name: _joined(pieces) for name, *pieces in zip(names, *blocks, strict=True) if name}, lines


def _records(text: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each record, and the line that it begins at; blank lines only before another record."""
    header = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])
    separator = next((sign for sign in SEPARATORS if sign in header), ",")
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    blank: list[tuple[int, list[str]]] = []
    line = 1
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise BadText(
                f'not CSV: {error}; separate columns by commas, semicolons or tabs; quote text by "',
                line,
            ) from None
        if fields is None:
            return
        if fields:
            yield from blank
            blank = []
            yield line, fields
        else:
            blank.append((line, fields))
        line = reader.line_num + 1


def _header(line: int, fields: Sequence[str]) -> list[str]:
    names = [field.strip() for field in fields]
    named = [name for name in names if name]
    twice = repeated(named)
    if not named:
        raise BadText("the first line must name the columns; the file is empty", line)
    if named[0].startswith("#"):
        raise BadText("the first line must name the columns; found a comment", line)
    if all(isinstance(_value(name), float) for name in named):
        raise BadText(f"the first line must name the columns; found the number {named[0]}", line)
    if twice:
        raise BadText(f"`{twice}` names two columns; give each variable once", line)
    return names


def _numbers(fields: Sequence[str]) -> Any:
    """The fields as doubles, or those that are no numbers as they stand."""
    text = "".join(fields)
    if text.isascii() and "_" not in text:
        with suppress(ValueError):
            values = np.array([float(field) for field in fields])
            if not np.isinf(values).any():
                return values
    of_fields = [_value(field) for field in fields]
    return of_fields if str in map(type, of_fields) else np.array(of_fields)


def _value(field: str) -> float | str:
    """A field as a number, where it is one.

    Python alone takes 1_000 and digits of other scripts, and makes infinite what is beyond double precision.
    """
    field = field.strip()
    with suppress(ValueError):
        if field.isascii() and "_" not in field:
            value = float(field)
            return value if not math.isinf(value) or NOT_FINITE.fullmatch(field) else field
    return field


def _joined(pieces: Sequence[Any]) -> Any:
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(pieces) if pieces else np.zeros(0)
    return [value for piece in pieces for value in piece]
