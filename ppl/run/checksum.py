"""Records of plain JSON with a digest of their content, by which a damaged one is known."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from ppl.arguments import is_a
from ppl.arrays import as_pairs
from ppl.data.levels import Factor
from ppl.errors import DataError, PPLError
from ppl.files import require_file


def require_types(record: Any) -> None:
    """Raises ValueError where a field of a record, a dataclass or a NamedTuple, has a value of another type.

    All integers of a run are counts: none is negative.
    """
    for name, kind in declared_types(record.__class__).items():
        if not is_a(getattr(record, name), kind):
            raise ValueError(f"{type(record).__name__}.{name} = {getattr(record, name)!r:.40}")


declared_types = cache(get_type_hints)


LONGEST_REASON = 200
"""Characters of an error that are shown as the reason why a file is damaged."""
NONSENSE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""What comes of values that no run wrote; a digest can be made anew for them."""


@contextmanager
def damage_reported(
    path: str | Path | None, advice: str = "", kinds: tuple[type[Exception], ...] = NONSENSE
) -> Iterator[None]:
    """Raises what comes of nonsense in a file as a DataError that names it; None where there is no file."""
    try:
        yield
    except kinds as error:
        if path is None:
            raise
        why = str(error) if isinstance(error, PPLError) else repr(error)
        raise DataError(f"{path} is damaged ({why[:LONGEST_REASON]}){advice}.") from error


def with_checksum(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of plain JSON with the digest of its content, by which `read_record` finds damage."""
    return {**record, "sha256": _digest(record)}


def read_record(path: str | Path, kind: str, form: str, text: str | None = None) -> dict[str, Any]:
    """The record in a file that `with_checksum` made; `kind` is what the file should be, `form` its "format".

    `text` is what is in the file, where that was read already.

    Raises:
        DataError: the file is something else, or was damaged.
        MissingFile: it is not there.
    """
    try:
        record = json.loads(require_file(path).read_text(encoding="utf-8") if text is None else text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not a {kind}: {error}") from None
    return checked_record(path, record, kind, form)


def checked_record(path: str | Path, record: Any, kind: str, form: str) -> dict[str, Any]:
    """The same of what was read from the file already."""
    if not isinstance(record, dict) or record.get("format") != form:
        raise DataError(f'{path} is not a {kind}: it lacks "format": "{form}"')
    content = {name: value for name, value in record.items() if name != "sha256"}
    if _digest(content) != record.get("sha256"):
        raise DataError(f"{path} is damaged: its content does not match its digest.")
    return content


def plain(value: Any, no_number: Callable[[float], Any] = repr) -> Any:
    """JSON has no nan and no inf: they become the strings "nan" and "inf", as in CmdStan's files."""
    match value:
        case Mapping():
            return {key: plain(item, no_number) for key, item in value.items()}
        case list() | tuple():
            return [plain(item, no_number) for item in value]
        case np.ndarray() | np.generic():
            pairs = as_pairs(np.asarray(value)) if np.iscomplexobj(value) else value
            return plain(pairs.tolist(), no_number)
        case float() if not math.isfinite(value):
            return no_number(value)
        case Path():
            return str(value)
        case Factor():
            return plain(vars(value), no_number)
        case _:
            return value


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
