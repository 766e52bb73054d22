"""The record of a setting beside its type and default: one record a field of `Settings`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from ppl.errors import OutOfRange
from ppl.records import dataclass, field, fields

T = TypeVar("T")


@dataclass(frozen=True)
class Whole:
    """An integer of at least `least`."""

    least: int

    @property
    def expected(self) -> str:
        return f"an integer of at least {self.least}"

    def holds(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least


@dataclass(frozen=True)
class Positive:
    """A finite number above 0."""

    expected = "a number above 0"

    def holds(self, value: Any) -> bool:
        return isinstance(value, int | float) and 0 < value < float("inf")


@dataclass(frozen=True)
class Probability:
    """A number between 0 and 1, neither of them."""

    expected = "a number above 0 and below 1"

    def holds(self, value: Any) -> bool:
        return isinstance(value, int | float) and 0 < value < 1


@dataclass(frozen=True)
class OneOf:
    """One of `words`."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.words)}"

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True)
class Switch:
    """True or false."""

    expected = "True or False"

    def holds(self, value: Any) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True)
class VariableName:
    """A name that the program declares."""

    expected = "the name of a variable of the program"

    def holds(self, value: Any) -> bool:
        return isinstance(value, str)


@dataclass(frozen=True)
class InitialValues:
    """Where a run starts: a radius, a file, or values by name."""

    expected = "a radius of at least 0, the path of a file, or values by the names of parameters"

    def holds(self, value: Any) -> bool:
        if isinstance(value, int | float):
            return 0 <= value < float("inf")
        return isinstance(value, str | Path | Mapping)


@dataclass(frozen=True)
class Starts(InitialValues):
    """Where chains start: all alike, or each by an entry of a list."""

    expected = f"{InitialValues.expected}; or a list of such files or values, one for each chain"

    def holds(self, value: Any) -> bool:
        if isinstance(value, list | tuple):
            return all(isinstance(one, str | Path | Mapping) for one in value)
        return super().holds(value)


Kind = Whole | Positive | Probability | OneOf | Switch | VariableName | InitialValues
OF_TYPE: Mapping[Any, Kind] = {bool: Switch(), int: Whole(1), float: Positive(), str: VariableName()}
"""The kind of values of a setting of a type if its field says no other."""


def kind_of(hint: Any) -> Kind:
    """The values of a type, None aside: those of `OF_TYPE`, or the words of a Literal."""
    own = next(one for one in (hint, *get_args(hint)) if one in OF_TYPE or get_origin(one) is Literal)
    return OF_TYPE.get(own) or OneOf(get_args(own))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting, from which its check, its option, its argument in CmdStan's words and its help are made.

    Attributes:
        kind: the values that it takes, by its type unless the field says another; None too where that is the
            default.
        about: one short sentence, which is its help everywhere.
        path: its argument in CmdStan's tree; one of the group `ppl` where CmdStan has no word for it.
        unset: what None means, in words.
        usual: whether `ppl variational --help` has room for it; `ppl docs variational` lists all.
        command: the default of commands, where that is another.
    """

    name: str
    default: Any
    kind: Kind
    about: str
    path: str
    unset: str
    usual: bool
    command: Any

    @property
    def optional(self) -> bool:
        return self.default is None

    def check(self, value: Any) -> None:
        """Raises OutOfRange, with the allowed range, for a value outside of it."""
        if not (self.kind.holds(value) or (self.optional and value is None)):
            expected = self.kind.expected + (", or none" if self.optional else "")
            raise OutOfRange(f"{self.name} = {value!r} is out of range; expected {expected}.")


def setting(
    about: str,
    *,
    default: T,
    kind: Kind | None = None,
    path: str = "",
    unset: str = "",
    usual: bool = False,
    command: Any = None,
) -> T:
    """The field of a record of settings; see `Setting`."""
    known = {"kind": kind, "about": about, "path": path, "unset": unset, "usual": usual}
    return field(default=default, metadata={**known, "command": default if command is None else command})


def same(record: type, name: str, *, default: T) -> T:
    """A field as that of another record of settings."""
    (known,) = (f for f in fields(record) if f.name == name)
    return field(default=default, metadata=known.metadata)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(setting, same))
def settings(record: type[T]) -> type[T]:
    """Make a record of settings. Type checkers read its defaults from `default=` of the fields."""
    return dataclass(frozen=True, kw_only=True)(record)


@cache
def settings_of(record: type) -> Mapping[str, Setting]:
    """The settings of a record by name, in the order of its fields."""
    known, hints = {}, get_type_hints(record)
    for f in (f for f in fields(record) if "kind" in f.metadata):
        named = {"name": f.name, "default": f.default, "path": f.metadata["path"] or f"ppl.{f.name}"}
        kind = f.metadata["kind"] or kind_of(hints[f.name])
        known[f.name] = Setting(**{**f.metadata, **named, "kind": kind})
    return known
