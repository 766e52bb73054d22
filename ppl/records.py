"""Data classes as `dataclasses` makes them, quickly: no text is compiled before a class has some instances.

`dataclasses.dataclass` compiles up to six methods of each class when it is defined. Here methods that
compare, hash and print read the fields, and so does `__init__` until it has been called some times.
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
from functools import partial
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
            self is other
            or (values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented)
        )
        methods["__hash__"] = (lambda self: hash(values(self))) if frozen else None
    if frozen:
        methods["__setattr__"] = methods["__delattr__"] = _refuse
    return methods


def _values_of(cls: type) -> Callable[[Any], tuple[Any, ...]]:
    """Read the fields that are compared."""
    names = [f.name for f in fields(cls) if f.compare]
    return attrgetter(*names) if names else lambda self: ()


@recursive_repr("...")
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: Any, name: str, *value: Any) -> None:
    """Of a frozen class, `__setattr__` and `__delattr__`."""
    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


INSTANCES_BEFORE = 16
"""Instances of a class before its `__init__` is compiled, which takes as long as some twenty without."""


class _Init:
    """`__init__` of a class: read off its fields at first, for many have few instances, then compiled."""

    def __init__(self, cls: type, frozen: bool):
        self.cls, self.frozen, self.calls = cls, frozen, 0

    def __get__(self, instance: Any, owner: type) -> Any:
        self.calls += 1
        if instance is not None and self.calls <= INSTANCES_BEFORE:
            return partial(self.by_fields, instance)
        return self.compiled().__get__(instance, owner)

    def compiled(self) -> Any:
        init = _compiled_init(self.cls, self.frozen)
        setattr(self.cls, "__init__", init)  # noqa: B010
        return init

    def by_fields(self, instance: Any, /, *args: Any, **named: Any) -> None:
        every = fields(self.cls)
        own = [f for f in every if f.init]
        places = [f.name for f in own if not f.kw_only]
        given = {**dict(zip(places, args, strict=False)), **named}
        needed = {f.name for f in own if f.default is MISSING and f.default_factory is MISSING}
        fits = len(args) <= len(places) and len(given) == len(args) + len(named)
        if not (fits and needed <= given.keys() <= {f.name for f in own}):
            self.compiled()(instance, *args, **named)  # which says what is wrong
            return
        put = object.__setattr__ if self.frozen else setattr
        for f in every:
            if f.name in given:
                put(instance, f.name, given[f.name])
            elif f.default_factory is not MISSING:
                put(instance, f.name, f.default_factory())
            elif f.init:
                put(instance, f.name, f.default)
        if hasattr(self.cls, "__post_init__"):
            instance.__post_init__()


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
