"""The user's cache: texts that took time to make, each under a keyed digest that no other user can compute.

The key is made once and lies beside the entries, in a folder that the user alone can read and write. Whatever
does not verify, belongs to another user or cannot be read is no entry; what it held is made again.
"""

import hmac
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from secrets import randbelow, token_bytes

from ppl.files import own_cache
from ppl.records import dataclass

KEY_BYTES = 32
"""Of the key, as many as its digests have."""
MOST_CACHED_BYTES = 1 << 26
"""Of all entries: the least recently read go first, down to three quarters."""
LARGEST_ENTRY = 1 << 23
"""Bytes of an entry; a larger one is not stored."""
WRITES_A_TRIM = 64
"""Entries that are written between two looks at the size of them all, on average."""
NAME_LETTERS = 32
"""Letters of the digest that names an entry."""
KEY_NAME = "key"


@dataclass(frozen=True)
class Entry:
    """A file of the cache as `ppl cache` lists it: what it was made of, when it was last read, its bytes."""

    path: Path
    title: str
    time: float
    size: int


@dataclass(frozen=True)
class StoredParts:
    """The stored parts of one thing, by name; `digest` is of all that decides what is stored.

    `title` tells people what that is.
    """

    digest: str
    title: str

    @cached_property
    def folder(self) -> Path | None:
        return folder()

    @cached_property
    def secret(self) -> bytes | None:
        return None if self.folder is None else secret(self.folder)

    def read(self, part: str) -> str | None:
        """The text that was written, on this machine and by this user; None where there is none."""
        path = self._path(part)
        if path is None or self.secret is None or (held := regular(path)) is None:
            return None
        written, _, rest = held.partition(b"\n")
        if not hmac.compare_digest(written, self._mac(path, rest)):
            return None
        with suppress(OSError):  # of a disk that is only read
            os.utime(path)
        return rest.partition(b"\n")[2].decode()

    def write(self, part: str, text: str) -> None:
        """Store a text; where that cannot be, nothing is stored."""
        path = self._path(part)
        title = " ".join(self.title.split()).encode("utf-8", "replace")
        held = title + b"\n" + text.encode()
        if path is None or self.secret is None or len(held) > LARGEST_ENTRY:
            return
        with suppress(OSError):
            put(path, self._mac(path, held) + b"\n" + held)
            if not randbelow(WRITES_A_TRIM):  # looking at thousands takes as long as compiling a program
                trim(path.parent, MOST_CACHED_BYTES)

    def _path(self, part: str) -> Path | None:
        name = sha256(f"{self.digest} {part}".encode()).hexdigest()[:NAME_LETTERS]
        return self.folder and self.folder / name

    def _mac(self, path: Path, rest: bytes) -> bytes:
        """Of an entry in its place: one that was moved onto another does not verify."""
        assert self.secret is not None
        return hmac.digest(self.secret, path.name.encode() + b"\n" + rest, "sha256").hex().encode()


def folder() -> Path | None:
    """The folder of the entries; None where the user has none of their own, or turned it off."""
    root = own_cache()
    if root is None:
        return None
    path = root / "compiled"
    with suppress(OSError):
        root.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    with suppress(OSError):
        return path if is_private(os.lstat(path), stat.S_ISDIR(os.lstat(path).st_mode)) else None
    return None


def is_private(status: os.stat_result, right_kind: bool) -> bool:
    """Whether a file is of its kind, and its owner alone, the user of this process, has any rights."""
    if os.name == "nt":  # where a home is its user's by lists of access
        return right_kind
    return right_kind and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def secret(folder: Path) -> bytes | None:
    """The key of the folder, made where there is none that serves; None where that cannot be."""
    path = folder / KEY_NAME
    if held := regular(path, private=True, size=KEY_BYTES):
        return held
    with suppress(OSError):
        put(path, token_bytes(KEY_BYTES))
    return regular(path, private=True, size=KEY_BYTES)


def put(path: Path, held: bytes) -> None:
    """Write a whole file that the user alone can read, in place of whatever has its name.

    It is not forced onto the disk: half of an entry does not verify.
    """
    part = path.with_name(f"{path.name}-{token_bytes(8).hex()}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(part, flags, 0o600), "wb") as file:
            file.write(held)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def regular(path: Path, private: bool = False, size: int | None = None) -> bytes | None:
    """The content of a regular file; None for a link, a pipe, another's file, or one of another size."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > 2 * LARGEST_ENTRY:
                return None
            if (private and not is_private(status, True)) or (size is not None and status.st_size != size):
                return None
            return file.read()
    except OSError:
        return None


def entries() -> Iterator[Entry]:
    """All entries of the cache, whether or not they verify."""
    if (path := folder()) is None:
        return
    for size, time, name in _files(path):
        file = Path(name)
        _, title, *_ = *(regular(file) or b"").split(b"\n", 2), b""
        yield Entry(file, title.decode("utf-8", "replace"), time, size)


def clear() -> None:
    """Remove all entries; the key stays."""
    for entry in entries():
        entry.path.unlink(missing_ok=True)


def trim(path: Path, most: int) -> None:
    """Remove the entries of a folder that were read least recently, if they have more than `most` bytes."""
    files = sorted((time, size, file) for size, time, file in _files(path))
    total = sum(size for _, size, _ in files)
    if total <= most:
        return
    for _, size, file in files:
        Path(file).unlink(missing_ok=True)
        total -= size
        if total <= most * 3 // 4:
            return


def _files(folder: Path) -> Iterator[tuple[int, float, str]]:
    """Size, time and path of the entries in a folder; those that are removed meanwhile are left out."""
    with os.scandir(folder) as listed:
        for item in listed:
            with suppress(FileNotFoundError):
                status = item.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and item.name != KEY_NAME:
                    yield status.st_size, status.st_mtime, item.path
