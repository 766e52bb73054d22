"""Whole files only: a reader sees the old file or the new one, never half of either."""

import os
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: str | Path, lines: Iterable[str]) -> None:
    """Writes `lines`, each with its newline, under a temporary name beside `path`, then renames.

    A device or pipe (`/dev/stdout`) cannot be renamed onto and is written directly.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full; `path` is then as it was.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8") as out:
            out.writelines(lines)
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines)
            out.flush()
            os.fsync(out.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
