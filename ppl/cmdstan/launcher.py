"""How an executable finds a Python that has ppl: beside it, where it was built, or on the PATH.

On Unix it is one file: sh never comes to the Python in it, and to Python its sh is a string. Windows starts
no such file; there a .cmd file beside it does the same.
"""

import os
import shlex
import stat
import sys
from pathlib import Path

from ppl.files import write_whole
from ppl.records import dataclass

ADVICE = "Set PPL_PYTHON to a Python that has ppl, or install it for the one on the PATH."

UNIX = """\
#!/bin/sh
''':'
# Read by sh, these lines look for a Python that has ppl; read by Python, they are a string.
if command -v tail >/dev/null && [ "$(tail -n 1 "$0")" != {last} ]; then
  echo "Error: $0: the file is incomplete. Build it again." >&2
  exit 1
fi
case "$0" in */*) here="${{0%/*}}" ;; *) here=. ;; esac
if [ -n "$PPL_PYTHON" ]; then
  command -v "$PPL_PYTHON" >/dev/null && exec "$PPL_PYTHON" "$0" "$@"
  echo "Error: $0: PPL_PYTHON is $PPL_PYTHON, which does not exist or cannot be run." >&2
  exit 1
fi
for python in {candidates}; do
  [ -x "$python" ] && exec "$python" "$0" "$@"
done
for python in python3 python; do
  "$python" -c "import ppl.cmdstan" 2>/dev/null && exec "$python" "$0" "$@"
done
echo "Error: $0: there is no Python with ppl: neither where this was built, nor on the PATH." >&2
echo '{advice}' >&2
exit 1
'''

import sys

try:
    import ppl.cmdstan
except ModuleNotFoundError:
    sys.exit(f"Error: {{sys.argv[0]}}: {{sys.executable}} has no package ppl.\\n{advice}")

"""

LAST = "# The end"
"""The last line of a whole file. Of one cut short Python would say that a string or a bracket is open."""

WINDOWS = """\
@echo off
rem Looks for a Python that has ppl, and runs the file {name} beside this one by it.
setlocal
if defined PPL_PYTHON (
  set "python=%PPL_PYTHON%"
  goto run
)
for %%p in ({candidates}) do if exist %%p (
  set "python=%%~p"
  goto run
)
for %%p in (python.exe py.exe) do %%p -c "import ppl.cmdstan" >nul 2>nul && (
  set "python=%%p"
  goto run
)
echo Error: %~n0: there is no Python with ppl: neither where this was built, nor on the PATH. 1>&2
echo {advice} 1>&2
exit /b 1
:run
"%python%" "%~dp0{name}" %*
exit /b %errorlevel%
"""


@dataclass(frozen=True)
class Launched:
    """Python text that becomes an executable, run by `python` unless that is not there any more."""

    body: str
    python: str = sys.executable
    windows: bool = os.name == "nt"
    """Whether a .cmd file is written too, which is the one to call on Windows."""

    def write(self, output: Path) -> None:
        """Write the executable `output`, and on Windows `output.cmd`.

        Raises:
            OSError: it cannot be written.
        """
        near = relative(self.python, output.parent)
        write_whole(output, [on_unix(near, self.python), self.body, f"{LAST}\n"])
        output.chmod(output.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        if self.windows:
            text = on_windows(output.name, near, self.python)
            write_whole(output.with_name(f"{output.name}.cmd"), [text.replace("\n", "\r\n")])


def relative(python: str, folder: Path) -> str:
    """The way to `python` from `folder`, if a folder holds both that may be moved whole; "" if none does."""
    where, start = Path(python).absolute(), folder.resolve()
    there = where.parent.resolve() / where.name  # a virtual environment's Python is a link out of it
    try:
        common = Path(os.path.commonpath([there, start]))
    except ValueError:  # on another drive
        return ""
    return os.path.relpath(there, start) if common != Path(common.anchor) else ""


def on_unix(near: str, python: str) -> str:
    """The lines of sh, and those of Python that come before a program's own."""
    beside = [f'"$here"/{shlex.quote(near)}'] if near and is_plain(near) else []
    candidates = [*beside, *([shlex.quote(python)] if is_plain(python) else [])]
    return UNIX.format(candidates=" ".join(candidates), advice=ADVICE, last=shlex.quote(LAST))


def is_plain(path: str) -> bool:
    """Whether sh and Python both can read it between quotes; any other is not recorded."""
    return "\\" not in path and path.isprintable() and "'''" not in shlex.quote(path)


def on_windows(name: str, near: str, python: str) -> str:
    """The lines of cmd.exe."""
    known = [f'"%~dp0{near.replace("%", "%%")}"'] if near else []
    candidates = " ".join([*known, f'"{python.replace("%", "%%")}"'])
    return WINDOWS.format(name=name.replace("%", "%%"), candidates=candidates, advice=ADVICE)
