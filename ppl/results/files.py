"""Whole files only: a reader sees the old file or the new one, never half of either."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path` to write to, renamed onto it when the block ends well.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full; `path` is then as it was.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f"{target.stem}.{os.getpid()}.tmp{target.suffix}")
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: str | Path, lines: Iterable[str]) -> None:
    """Writes `lines`, each with its newline, as `replacing` does.

    A device or pipe (`/dev/stdout`) cannot be renamed onto and is written directly.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8") as out:
            out.writelines(lines)
        return
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(lines)
