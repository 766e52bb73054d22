"""How much memory there is, and the refusal of arrays that would not fit in it before they are made.

Asked for too much, Linux says yes and later ends the process without a word (malloc(3), "overcommit").
"""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ppl.records import dataclass


@dataclass(frozen=True)
class ArraySizes:
    """The bytes of arrays."""

    unchecked: int = 1 << 24
    """Numbers below which an array is made without a look at what memory there is."""

    number: int = 8
    """Bytes of a number."""


ARRAY_SIZES = ArraySizes()

MOST_TABLE_ENTRIES = 10_000_000
"""Numbers in the largest table of one entry of a discrete parameter, by default."""

CONTROL_GROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    (
        Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
    ),
)  # fmt: skip
"""Where control groups state their limit, what they use of it, and what of that are files that were read and
can be dropped (an entry of memory.stat): versions 2 and 1 of cgroups(7).
"""


class NoRoom(MemoryError):
    """An array would need more memory than there is."""


def require_room(sizes: Sequence[int], what: str) -> None:
    """Refuse an array of these sizes where there is no memory for it.

    Raises:
        NoRoom: there is not; the sentence says what it needs and what there is.

    Example:
        >>> require_room((3, 4), "a matrix")
        >>> require_room((10**10, 10**10), "x")  # doctest: +NORMALIZE_WHITESPACE
        Traceback (most recent call last):
        ...
        ppl.memory.NoRoom: x of 10000000000 x 10000000000 numbers needs 693.9 EiB of memory,
        and ... are free
    """
    count = math.prod(sizes)
    if count > ARRAY_SIZES.unchecked and (there := available()) < ARRAY_SIZES.number * count:
        shape = " x ".join(map(str, sizes))
        needs = in_bytes(ARRAY_SIZES.number * count)
        raise NoRoom(f"{what} of {shape} numbers needs {needs} of memory, and {in_bytes(there)} are free")


def out_of_memory(error: MemoryError) -> str:
    """The message on an array that could not be had."""
    detail = f" {error}." if str(error) else ""
    return f"There is too little memory: {in_bytes(available())} are free.{detail}\nUse fewer draws."


def available() -> int:
    """Bytes that can still be had: of the machine, of the container, and by this process."""
    return max(0, min(limits(), default=1 << 62))


def limits() -> Iterator[int]:
    with suppress(OSError, StopIteration, ValueError, IndexError):
        yield of_machine(Path("/proc/meminfo").read_text().splitlines())
    for top, *names in CONTROL_GROUPS:
        for folder in group_folders(top, Path("/proc/self/cgroup")):
            with suppress(OSError, StopIteration, ValueError):  # "max" where there is no limit
                yield of_group(folder, *names)
    with suppress(OSError, StopIteration, ValueError):  # "unlimited"
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        yield of_process(Path("/proc/self/limits").read_text().splitlines()) - mapped


def group_folders(top: Path, list_of_groups: Path) -> Iterator[Path]:
    """The folders of this process's control group and of those around it.

    A container sees its own at the top; a service or a login has one inside.
    """
    groups = [""]
    with suppress(OSError):
        groups = [line.split(":", 2)[-1] for line in list_of_groups.read_text().splitlines()]
    inside = {top / group.lstrip("/") for group in groups}
    yield from {each for one in inside for each in (one, *one.parents) if each.is_relative_to(top)} | {top}


def of_group(folder: Path, most: str, used: str, dropped: str) -> int:
    """The bytes that the limit of a control group leaves."""
    lines = (folder / "memory.stat").read_text().splitlines()
    cached = next(int(line.split()[1]) for line in lines if line.startswith(f"{dropped} "))
    return int((folder / most).read_text()) - int((folder / used).read_text()) + cached


def of_machine(lines: Iterable[str]) -> int:
    """The bytes that can be had without swapping, by proc_meminfo(5)."""
    line = next(line for line in lines if line.startswith("MemAvailable:"))
    return int(line.split()[1]) << 10


def of_process(lines: Iterable[str]) -> int:
    """The address space that setrlimit(2) leaves to a process, as `ulimit -v` sets it."""
    line = next(line for line in lines if line.startswith("Max address space"))
    return int(line.split()[3])


def in_bytes(count: int) -> str:
    """ "7.5 GiB"."""
    size, units = float(count), iter(("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"))
    for unit in units:
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} EiB"
