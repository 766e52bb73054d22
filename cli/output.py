"""Standard output whose failure ends no fit: its reader goes away, or the disk behind it is full."""

import os
import sys
from contextlib import suppress
from functools import partial
from io import StringIO, UnsupportedOperation
from typing import Any, TextIO

from ppl.late import shutil, textwrap
from ppl.printable import printable

LINE_LENGTH = 80
"""Columns of a page of text, however wide the terminal."""
NAMES = {"stdout": "standard output", "stderr": "standard error"}


def screen_width() -> int:
    """Columns of the terminal; without one, a line may be as long as it needs to be."""
    return int(shutil.get_terminal_size((sys.maxsize, 24)).columns)


def wrapped(text: str) -> str:
    """Sentences broken into lines, cleaned; what is indented is program text and stays."""
    width = min(LINE_LENGTH, shutil.get_terminal_size((LINE_LENGTH, 24)).columns)
    fill = partial(textwrap.fill, width=width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(line if line.startswith(" ") else fill(line) for line in printable(text).split("\n"))


def print_text(text: str) -> None:
    """Print text out of a file: as it is into a file or a pipe, cleaned on a terminal that would obey it."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


class TolerantStream:
    """`stdout` or `stderr`, which take nothing more once a write has failed; `check` says why."""

    def __init__(self, name: str):
        self._name = NAMES[name]
        self._stream: TextIO = getattr(sys, name) or StringIO()  # None where the shell has closed it
        self._error: OSError | None = None

    def write(self, text: str) -> int:
        self._try(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def check(self) -> None:
        """Raises OSError if something could not be written, unless nobody was there to read it."""
        self.flush()
        if self._error and not isinstance(self._error, BrokenPipeError):
            raise self._error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _try(self, act: Any, *args: str) -> None:
        if self._error:
            return
        try:
            act(*args)
        except OSError as error:
            error.filename = self._name
            self._error = error
            _discard_rest(self._stream)


def _discard_rest(stream: TextIO) -> None:
    """Discard the stream's buffer, or Python would fail on it at the very end."""
    with suppress(OSError, UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
