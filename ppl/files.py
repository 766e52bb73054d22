"""Whole files only: a reader sees the old file or the new one, never half of either."""

import errno
import os
import platform
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO
from zlib import crc32

from ppl.errors import ArgumentError, DataError, MissingFile, PPLError

STDOUT = Path("/dev/stdout")
MOST_LETTERS = 50
"""Characters of a file's name, and of its suffix, that its temporary name keeps; no name may be too long."""
RANDOM_BYTES = 8
"""Of a temporary name, which nobody can foresee."""


def user_cache() -> Path | None:
    """The user's folder of caches, $XDG_CACHE_HOME or ~/.cache; None for a user who has no home."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return None if home.startswith("~") else Path(home)


def own_cache() -> Path | None:
    """The folder of our own caches: $PPL_CACHE, where it is set; none if it is set to nothing."""
    if (given := os.environ.get("PPL_CACHE")) is not None:
        return Path(given) if given else None
    folder = user_cache()
    return folder and folder / "ppl"


def writable(folder: Path | None) -> Path | None:
    """The folder, made where it is not there; None where no files can be written in it."""
    if folder is not None:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
    return folder if folder is not None and os.access(folder, os.W_OK) else None


def exists(path: Path) -> bool:
    """Whether there is a file of that name. Path.exists hides errors from Python 3.14 on.

    Raises:
        OSError: no file can have that name, or its folder cannot be read.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP):
            return False
        raise
    except ValueError:  # a null byte
        return False
    return True


def is_file(path: Path) -> bool:
    """Whether there is a regular file, or a link to one, of that name; raises as `exists`."""
    return exists(path) and path.is_file()


def require_file(path: str | Path) -> Path:
    """The path of a file that is there.

    Raises:
        MissingFile: it is not.
        DataError: no file can have that name.
    """
    path = Path(path)
    try:
        there = exists(path)
    except OSError as error:  # such as a name that is too long
        raise DataError(f"{path}: cannot be read: {error.strerror}", code="PPL905") from None
    if not there:
        raise MissingFile(f"there is no file {path}", path)
    return path


def refuse_overwriting(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse outputs that are an input or each other, under whatever names, before anything is written.

    Raises:
        ArgumentError: two of them are one file; the message names it.
    """
    read = {identity: path for path in inputs if path.exists() and (identity := _identity(path))}
    written = dict[tuple[Any, ...], Path]()
    for path in outputs:
        if (identity := _identity(path)) is None:
            continue
        if identity in read:
            named = "" if path == read[identity] else f" as {read[identity]}"
            raise ArgumentError(
                f"{path} is read{named}, and the output would overwrite it. Give the output another name."
            )
        if identity in written:
            raise ArgumentError(f"{path} is the name of two outputs. Give each output a name of its own.")
        written[identity] = path


def _identity(path: Path) -> tuple[Any, ...] | None:
    """The identity of a file under all its names; None for a device, where nothing is overwritten."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return (os.path.realpath(path),)
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def numbered(file: str | Path, number: int) -> Path:
    """`output.csv` as `output_1.csv`."""
    path = Path(file)
    return path.with_name(f"{path.stem}_{number}{path.suffix}")


def beside(file: str | Path, what: str) -> Path:
    """`output.csv` as `output_config.json`."""
    path = Path(file)
    return path.with_name(f"{path.stem}_{what}.json")


def numbered_files(file: str | Path, numbers: range) -> Iterator[Path]:
    """Those of `output_1.csv` and so on that are there: of any number of names only these can be lost."""
    path = Path(file)
    for name in os.listdir(path.parent):
        number = name.removeprefix(f"{path.stem}_").removesuffix(path.suffix)
        if name == f"{path.stem}_{number}{path.suffix}" and number.isdecimal() and int(number) in numbers:
            yield path.with_name(name)


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """An open file beside `path`, renamed onto it when the block ends well. Every file is written by this.

    Entries of the cache are not (`cache.put`): other users must not read them, and nobody misses one.

    Its name is random and it is created by this call alone: threads and processes that write files of alike
    names, or one file, each write their own, and no link is followed. What a process that was killed left of
    the same file is removed. The permissions of the file that is replaced remain. A device or pipe cannot be
    renamed onto and is written directly.

    Raises:
        MissingFile: there is no such folder.
        OSError: the folder is not writable, or the disk is full; `path` is then as it was.
    """
    target = Path(os.path.realpath(path))
    if exists(target) and not target.is_file():
        with _named(path), target.open("wb") as device:
            yield device
        return
    if not target.parent.is_dir():
        raise MissingFile(f"there is no folder {target.parent} to write {target.name} in", path)
    remove_stale(target)
    head, tail = _around(target)
    part = target.with_name(f"{head}{os.getpid()}-{token_hex(RANDOM_BYTES)}{tail}")
    try:
        with _named(path, str(part)), part.open("xb") as written:
            if target.exists():
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            yield written
            written.flush()
            os.fsync(written.fileno())
        with _named(path, str(part)):
            part.replace(target)
    except BaseException:
        with suppress(OSError):  # of a disk that is only read, whose error is the one that is raised
            part.unlink()
        raise


def write_whole(path: str | Path, lines: Iterable[str]) -> None:
    """Writes `lines`, each with its newline, as `replacing` does.

    `/dev/stdout`, where it may be a file that holds more than these lines, is written directly.

    Raises:
        PPLError: the reader of standard output has gone.
    """
    if Path(path) == STDOUT:
        try:
            with _named(path):
                sys.stdout.writelines(lines)
                sys.stdout.flush()
        except BrokenPipeError:
            with suppress(OSError, ValueError):  # what is left in the buffer goes nowhere
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise PPLError("standard output: its reader ended before all was written.") from None
    else:
        with replacing(path) as part:
            part.writelines(line.encode() for line in lines)


def remove(path: Path) -> None:
    """Remove a file, where it is there, and what killed processes left of it."""
    path.unlink(missing_ok=True)
    remove_stale(path)


def remove_stale(target: Path) -> None:
    """Remove the temporary files of `target` whose process, on this machine, is no more."""
    head, tail = _around(target)
    with suppress(OSError):
        for name in os.listdir(target.parent):
            middle = name.removeprefix(head).removesuffix(tail)
            pid = middle.partition("-")[0]
            if name == f"{head}{middle}{tail}" and pid.isdecimal() and not _alive(int(pid)):
                target.with_name(name).unlink(missing_ok=True)


def _around(target: Path) -> tuple[str, str]:
    """The parts before and after the process in a temporary name: file and machine, and the suffix."""
    machine = crc32(platform.node().encode())
    return f"{target.stem[:MOST_LETTERS]}.{machine:08x}-", f".tmp{target.suffix[-MOST_LETTERS:]}"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True


@contextmanager
def _named(path: str | Path, *others: str) -> Iterator[None]:
    """Errors of a disk that is full name no file, or one that is gone by then: they name `path`."""
    try:
        yield
    except OSError as error:
        if str(error.filename) in ("None", *others):
            error.filename = str(path)
        raise
