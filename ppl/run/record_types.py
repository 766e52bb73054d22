"""Whether what was read from a file has the types that a record of a run declares."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_type_hints

import numpy as np

from ppl.arguments import form_of

NUMBERS: Mapping[type, Any] = {float: int | float, bool: bool | np.bool_}
"""What stands for a type beside itself."""


def require_types(record: Any) -> None:
    """Raises ValueError where a field of a record, a dataclass or a NamedTuple, has a value of another type.

    All integers of a run are counts: none is negative.
    """
    for name, kind in declared_types(record.__class__).items():
        if not _is(getattr(record, name), kind):
            raise ValueError(f"{type(record).__name__}.{name} = {getattr(record, name)!r:.40}")


declared_types = cache(get_type_hints)


def _is(value: Any, kind: Any) -> bool:
    form, args = form_of(kind), get_args(kind)
    if form is Any:
        return True
    if form in (Union, UnionType):
        return any(_is(value, one) for one in args)
    if form is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    if form in (tuple, Sequence):
        return isinstance(value, tuple | list) and all(_is(item, args[0]) for item in value)
    if issubclass(form, Mapping):
        return isinstance(value, dict) and all(_is(k, args[0]) and _is(v, args[1]) for k, v in value.items())
    if isinstance(value, bool):  # in Python an int too
        return form is bool
    if form is int:
        return isinstance(value, int) and value >= 0
    if getattr(form, "_is_protocol", False):
        return is_dataclass(value)
    return isinstance(value, NUMBERS.get(form, form))
