"""Where reports and progress are printed: rich's console on a terminal, plain lines elsewhere.

Importing rich takes 36 ms of CPU, a tenth of a small fit.
"""

import os
from contextlib import suppress
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

USUAL_WIDTH = 80
"""Columns where there is no terminal."""
AS_ON_A_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables of the environment that make rich take a file for a terminal."""


class PlainConsole:
    """What is used here of rich's console, for a file."""

    is_terminal = is_dumb_terminal = is_jupyter = False

    def __init__(self, file: TextIO, quiet: bool = False):
        self.file, self.quiet = file, quiet

    @property
    def width(self) -> int:
        """Columns of the terminal that the command was typed in, if any."""
        for stream in range(3):
            with suppress(OSError):
                return get_terminal_size((os.get_terminal_size(stream).columns, 24)).columns
        return get_terminal_size((USUAL_WIDTH, 24)).columns

    def print(
        self,
        text: str = "",
        *,
        style: str | None = None,
        highlight: bool = False,
        markup: bool = False,
        soft_wrap: bool = True,
    ) -> None:
        """Write a line; arguments are those of rich, which change nothing in a file."""
        if not self.quiet:
            self.file.write(f"{text}\n")
            self.file.flush()


Console: TypeAlias = "PlainConsole | RichConsole"


def console_of(file: TextIO, quiet: bool = False) -> Console:
    """The console of a stream."""
    if not file.isatty() and not any(map(os.environ.get, AS_ON_A_TERMINAL)):
        return PlainConsole(file, quiet)
    from rich.console import Console as RichConsole

    return RichConsole(file=file, quiet=quiet)
