"""Data classes as `dataclasses` makes them, quickly: no text is compiled before a class has an instance.

`dataclasses.dataclass` compiles up to six methods of each class when it is defined. Here methods that
compare, hash and print read the fields, and `__init__` is compiled when it is first looked up.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import (
    MISSING,
    Field,
    FrozenInstanceError,
    asdict,
    astuple,
    field,
    fields,
    is_dataclass,
    replace,
)
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ("Field", "asdict", "astuple", "dataclass", "field", "fields", "is_dataclass", "replace")


class _Absent:
    def __repr__(self) -> str:
        return "<factory>"


ABSENT = _Absent()
"""Stands in a signature for a value that a factory makes."""

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        frozen: bool = False,
        eq: bool = True,
        repr: bool = True,
        kw_only: bool = False,
    ) -> Any:
        """The class with the methods of a data class; arguments are those of `dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only)
        cls.__doc__ = cls.__doc__ or cls.__name__  # else inspect would look for a signature
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        for name, method in _methods(cls, frozen, eq, repr).items():
            if cls.__dict__.get(name) is None:
                setattr(cls, name, method)
        return cls


def _methods(cls: type, frozen: bool, eq: bool, repr: bool) -> dict[str, Any]:
    methods: dict[str, Any] = {"__init__": _Init(cls, frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        values = _values_of(cls)
        methods["__eq__"] = lambda self, other: (
            values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
        )
        methods["__hash__"] = (lambda self: hash(values(self))) if frozen else None
    if frozen:
        methods["__setattr__"] = methods["__delattr__"] = _refuse
    return methods


def _values_of(cls: type) -> Callable[[Any], tuple[Any, ...]]:
    """Read the fields that are compared."""
    names = [f.name for f in fields(cls) if f.compare]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


@recursive_repr("...")
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: Any, name: str, *value: Any) -> None:
    """Of a frozen class, `__setattr__` and `__delattr__`."""
    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


class _Init:
    """`__init__` of a class until it is first looked up, which compiles it."""

    def __init__(self, cls: type, frozen: bool):
        self.cls, self.frozen = cls, frozen

    def __get__(self, instance: Any, owner: type) -> Any:
        init = _compiled_init(self.cls, self.frozen)
        setattr(self.cls, "__init__", init)  # noqa: B010
        return init.__get__(instance, owner)


def _compiled_init(cls: type, frozen: bool) -> Any:
    """The `__init__` that `dataclasses` would write."""
    given: dict[str, Any] = {"__ABSENT": ABSENT, "__set": object.__setattr__}
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}
    lines = []
    for f in fields(cls):
        value, default = f.name, ""
        if f.default_factory is not MISSING:
            given[f"__{f.name}"], default = f.default_factory, " = __ABSENT"
            value = f"__{f.name}() if {f.name} is __ABSENT else {f.name}" if f.init else f"__{f.name}()"
        elif f.default is not MISSING:
            given[f"__{f.name}"], default = f.default, f" = __{f.name}"
        if f.init:
            parameters[bool(f.kw_only)].append(f.name + default)
        if f.init or f.default_factory is not MISSING:
            lines.append(f"__set(self, {f.name!r}, {value})" if frozen else f"self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    named = ["*", *parameters[True]] if parameters[True] else []
    head = f"def __init__({', '.join([*parameters[False], *named])}):"
    exec("\n ".join([head, *(lines or ["pass"])]), given)
    init = given["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in fields(cls) if f.init} | {"return": None}
    return init
