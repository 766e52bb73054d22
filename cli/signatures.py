"""Commands of functions: each parameter is an option or an argument, as its annotation says."""

import inspect
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import click

from ppl.spelling import PICTURES, SAMPLERS, fold

KINDS = {int: "an integer", float: "a number"}
"""The values that a type does not read."""
PLACES = ("exists", "file_okay", "dir_okay", "readable")
"""The arguments of Click's type of paths."""


class Option:
    """An option in an annotation: its names, `--name` of the parameter for none, and what Click takes."""

    def __init__(self, *names: str, **more: Any):
        self.names, self.more = names, more


class Argument(Option):
    """An argument in an annotation."""


class Positional(click.Argument):
    """An argument with a line of help."""

    def __init__(self, names: list[str], help: str, **more: Any):
        super().__init__(names, **more)
        self.about = f"{help}  [required]" if self.required else help

    def make_metavar(self, *ctx: Any) -> str:
        name = str(self.metavar)
        return name if self.required or name.startswith("[") else f"[{name}]"

    def get_error_hint(self, *ctx: Any) -> str:
        return f"'{self.metavar}'"


class Number(click.ParamType):
    """An integer or a number."""

    def __init__(self, kind: type):
        self.kind, self.name = kind, kind.__name__

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is not {KINDS[self.kind]}.", param, ctx)


class Word(click.Choice[str]):
    """A member of an enumeration, by its value."""

    def __init__(self, kind: type[Enum]):
        super().__init__([word.value for word in kind])
        self.kind = kind

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value not in self.choices:
            if value.lower() in SAMPLERS:
                self.fail(f"{value!r} is none of these; `ppl sample` runs NUTS.", param, ctx)
            if (meant := PICTURES.get(fold(value.replace("-", "_")))) in self.choices:
                self.fail(f"there is no {value!r}; did you mean {meant!r}?", param, ctx)
        return self.kind(super().convert(value, param, ctx))


def as_command(function: Callable[..., None], kind: type[click.Command], **more: Any) -> Any:
    """The function as a command; the docstring is its help."""
    parameters = inspect.signature(function).parameters.values()
    return kind(
        name=function.__name__,
        callback=function,
        params=list(map(parameter_of, parameters)),
        help=inspect.getdoc(function),
        **more,
    )


def parameter_of(parameter: inspect.Parameter) -> click.Parameter:
    """A parameter annotated with `Annotated[type, Option(...)]`; without a default it is required."""
    kind, mark = parameter.annotation.__origin__, parameter.annotation.__metadata__[0]
    if NoneType in get_args(kind):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    several = get_origin(kind) is list
    kind, more = get_args(kind)[0] if several else kind, dict(mark.more)
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    more |= {"type": type_of(kind, more), "callback": checked(more.get("callback"), several, default)}
    more |= (
        {"required": True}
        if default is parameter.empty
        else {"default": default or None if several else default}
    )
    if isinstance(mark, Argument):
        return Positional([parameter.name], nargs=-1 if several else 1, **more)
    names = mark.names or (f"--{parameter.name.replace('_', '-')}",)
    flag = {"is_flag": True} if kind is bool else {"multiple": several}
    if isinstance(more["type"], Word) and "metavar" not in more:
        more["metavar"] = f"<{'|'.join(more['type'].choices)}>"
    return click.Option([parameter.name, *names], **{"show_default": default != ""} | more | flag)


def type_of(kind: Any, more: dict[str, Any]) -> Any:
    """The reader of a value; the options of types leave `more`."""
    places = {name: more.pop(name) for name in PLACES if name in more}
    if parser := more.pop("parser", None):
        return parser
    if kind in KINDS:
        return Number(kind)
    if issubclass(kind, Enum):
        return Word(kind)
    return click.Path(path_type=Path, **places) if issubclass(kind, Path) else kind


def checked(callback: Callable[..., Any] | None, several: bool, default: Any) -> Callable[..., Any]:
    """Click's callback, from one that may take the value alone; several values are a list."""

    def check(context: click.Context, param: click.Parameter, value: Any) -> Any:
        value = (list(value or ()) or default) if several else value
        if callback is None:
            return value
        return callback(*(context, param, value)[-callback.__code__.co_argcount :])

    return check
