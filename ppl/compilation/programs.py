"""The stored parts of a compilation, so that the next one of the same program runs no phase.

A part is the lowered program, the text of a form, or a fact. The user's cache has it under a digest of the
program with its includes, the settings and the package; an executable of `ppl build` holds its own.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import Any, Protocol, TypeVar, cast

from ppl.cache import StoredParts
from ppl.compilation.nodes_json import NotStored, decoded, encoded
from ppl.errors import ModelError
from ppl.records import dataclass, field
from ppl.source import SourceText
from ppl.system.distribution import VERSION

T = TypeVar("T")
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ImportError, RecursionError)
"""Errors of decoding a text that `encoded` did not write: the part is made again."""


class Store(Protocol):
    """Texts by the name of a part."""

    def read(self, part: str) -> str | None: ...
    def write(self, part: str, text: str) -> None: ...


@dataclass(frozen=True)
class Record:
    """The parts that an executable holds."""

    parts: dict[str, str] = field(default_factory=dict)

    def read(self, part: str) -> str | None:
        return self.parts.get(part)

    def write(self, part: str, text: str) -> None:
        self.parts[part] = text


@dataclass(frozen=True)
class StoredProgram:
    """The parts of a program; `sources` are its text and the files that it includes."""

    store: Store
    sources: tuple[SourceText, ...]

    def part(self, name: str, kind: type | UnionType, make: Callable[[], T]) -> T:
        """A part as stored; or made, and then stored unless it calls functions that are made for it."""
        with suppress(*UNREADABLE):
            if (text := self.store.read(name)) is not None:
                value = decoded(json.loads(text), self.sources)
                if isinstance(value, kind):
                    return cast(T, value)
        value = make()
        with suppress(NotStored, RecursionError):
            text = json.dumps(encoded(value, self.sources), separators=(",", ":"))
            if len(self.sources) == 1 or self.sources == sources_of(self.sources[0]):
                self.store.write(name, text)
        return value


def in_cache(source: SourceText, settings: Mapping[str, Any]) -> StoredProgram | None:
    """The parts of a program in the user's cache; None for a program whose includes cannot be read."""
    try:
        sources = sources_of(source)
    except ModelError:  # the parser raises it again
        return None
    texts = [each.text for each in sources]
    digest = sha256(json.dumps([package(), texts, settings], sort_keys=True).encode()).hexdigest()
    return StoredProgram(StoredParts(digest, source.name), sources)


def sources_of(source: SourceText) -> tuple[SourceText, ...]:
    """The program, and what it includes in the order of its lines.

    Raises:
        ModelError: an included file cannot be read.
    """
    if "#include" not in source.text:
        return (source,)
    from ppl.kernel.language.include import expand

    return tuple(dict.fromkeys((source, *(line.source for line in expand(source).lines))))


@cache
def package() -> str:
    """A digest of the versions, and of the size and time of each of the package's files."""
    files = "\n".join(_files(Path(__file__).parents[1]))
    return sha256(f"{VERSION}\n{sys.version}\n{files}".encode()).hexdigest()


def _files(root: Path) -> Iterator[str]:
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                yield f"{name} {status.st_size} {status.st_mtime_ns}"
