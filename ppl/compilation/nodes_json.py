"""A lowered program and its emitted forms as JSON, and back.

Nodes are records of the classes in `KINDS`, in which a function of the library is an address such as
"ppl.stdlib.distributions.normal:NORMAL.log_density". Reading one back imports the modules that the
program calls, and no other.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from importlib import import_module
from types import FunctionType
from typing import Any, get_args

from ppl import types
from ppl.compilation.traits import Traits
from ppl.kernel.emit.load import Emitted
from ppl.kernel.emit.text import Binding
from ppl.kernel.ir import nodes as ir
from ppl.records import dataclass, field
from ppl.source import SourceText, Span

KINDS: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (
        *get_args(ir.Expr),
        *get_args(ir.Stmt),
        *(ir.At, ir.Between, ir.Callee, ir.Text, ir.TupleShape),
        *(ir.Declared, ir.Function, ir.AtPoints, ir.Program),
        *get_args(types.Type),
        *(Binding, Emitted, Span, Traits),
    )
}
FIELDS = {kind: tuple(f.name for f in fields(kind)) for kind in KINDS.values()}
Sources = Sequence[SourceText]
ADDRESSED = ("ppl.stdlib.", "ppl.kernel.ir.", "ppl.optimise.passes.")
"""The packages in which a program's functions are."""
DEEPEST_PART = 4
"""Records within records that an address goes into."""


class NotStored(Exception):
    """The program calls a function that has no address: one that is made for it."""


def encoded(value: Any, sources: Sources) -> Any:
    """A node, or what stands in one, as JSON has it; `sources` are the texts that places are in.

    Raises:
        NotStored: a function has no address, or a place is in another text.
    """
    return Encoder(sources).encoded(value)


@dataclass(frozen=True)
class Encoder:
    """Encodes one value, which holds all that `addresses` has by identity."""

    sources: Sources
    addresses: dict[int, str] = field(default_factory=dict)

    def encoded(self, value: Any) -> Any:
        kind = type(value)
        if (names := FIELDS.get(kind)) is not None:
            return {kind.__name__: [self.encoded(getattr(value, name)) for name in names]}
        match value:
            case None | bool() | int() | float() | str():
                return value
            case complex():
                return {"complex": [value.real, value.imag]}
            case tuple():
                return [self.encoded(item) for item in value]
            case frozenset():
                return {"set": sorted(value)}
            case dict():
                return {"dict": {key: self.encoded(item) for key, item in value.items()}}
            case SourceText() if value in self.sources:
                return {"source": self.sources.index(value)}
            case _:
                if id(value) not in self.addresses:
                    self.addresses[id(value)] = address(value)
                return {"at": self.addresses[id(value)]}


def decoded(value: Any, sources: Sources) -> Any:
    """The inverse of `encoded`."""
    match value:
        case list():
            return tuple([decoded(item, sources) for item in value])
        case dict():
            ((kind, inside),) = value.items()
            return _decoded(kind, inside, sources)
        case _:
            return value


def _decoded(kind: str, inside: Any, sources: Sources) -> Any:
    match kind:
        case "complex":
            return complex(*inside)
        case "set":
            return frozenset(inside)
        case "dict":
            return {key: decoded(item, sources) for key, item in inside.items()}
        case "source":
            return sources[inside]
        case "at":
            return at(inside)
        case _:
            return KINDS[kind](*[decoded(item, sources) for item in inside])


# --- Addresses -----------------------------------------------------------------------------------


def address(value: Any) -> str:
    """Where a function or record of the library is found.

    Raises:
        NotStored: nowhere.
    """
    module, name = getattr(value, "__module__", ""), getattr(value, "__name__", "")
    if str(module).startswith(ADDRESSED) and getattr(sys.modules.get(module), name, None) is value:
        return f"{module}:{name}"
    near = (addresses_in(name).get(id(value)) for name in modules_near(value))
    address = next(filter(None, near), None) or addresses(len(sys.modules)).get(id(value))
    if address is None:
        raise NotStored(repr(value))
    return address


def modules_near(value: Any) -> Iterator[str]:
    """The modules of a function, or of those that a record holds, one of which mostly holds the record.

    To look through all modules takes as long as to compile a small program.
    """
    inside = [getattr(value, f.name) for f in fields(value)] if is_dataclass(value) else [value]
    names = dict.fromkeys(str(getattr(each, "__module__", "")) for each in inside)
    return (name for name in names if name.startswith(ADDRESSED) and name in sys.modules)


@lru_cache(1)
def addresses(imported: int) -> dict[int, str]:
    """The address of everything that modules of the library hold, by identity, when so many are imported.

    A table is the last to name what it lists: it imports the modules of all others.
    """
    by_id: dict[int, str] = {}
    names = (name for name in sys.modules if name.startswith(ADDRESSED))
    for name in sorted(names, key=lambda name: (name.endswith(".table"), name), reverse=True):
        by_id |= addresses_in(name)
    return by_id


@cache
def addresses_in(module: str) -> dict[int, str]:
    """Those in one module."""
    by_id: dict[int, str] = {}
    for attribute, value in vars(sys.modules[module]).items():
        for path, part in _parts(value, attribute, DEEPEST_PART):
            if not isinstance(part, FunctionType) or part.__module__ == module:
                by_id.setdefault(id(part), f"{module}:{path}")
    return by_id


def _parts(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """A value, and what tuples and records in it hold."""
    inside: Mapping[str, Any] = {}
    if isinstance(value, tuple):
        inside = {str(k): item for k, item in enumerate(value)}
    elif is_dataclass(value) and not isinstance(value, type):
        inside = {f.name: getattr(value, f.name) for f in fields(value)}
    if inside or callable(value):
        yield path, value
    for name, item in inside.items() if depth else ():
        yield from _parts(item, f"{path}.{name}", depth - 1)


@cache
def at(place: str) -> Any:
    """The object at an address."""
    module, _, path = place.partition(":")
    if not module.startswith(ADDRESSED):
        raise ValueError(f"{place} is not in the library")
    value: Any = import_module(module)
    for name in path.split("."):
        value = value[int(name)] if name.isdigit() else getattr(value, name)
    return value
