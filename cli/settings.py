"""The settings of a run as options of a command, from their records."""

import inspect
from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from typing import Annotated, Any

from ppl.cli.options import flag, one_of, positive, probability, radius_or_file, switch, whole
from ppl.methods.run import setting
from ppl.results.arguments.of_settings import SETTINGS, format_value, parse_value


def with_settings(record: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose `**settings` are those of `record`, an option each, after its positional parameters."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
        at = next((k for k, p in enumerate(own) if p.kind is p.KEYWORD_ONLY), len(own))
        options = [option_of(known) for known in setting.settings_of(record).values()]
        signature = inspect.Signature([*own[:at], *options, *own[at:]])
        command.__signature__ = signature  # type: ignore[attr-defined]  # what Typer makes the options from
        return command

    return decorate


def option_name(known: setting.Setting) -> str:
    """`--tol-rel-obj` of tol_rel_obj."""
    return f"--{known.name.replace('_', '-')}"


def option_of(known: setting.Setting) -> inspect.Parameter:
    """A setting as a parameter that Typer makes an option of."""
    kind, option = _option(known)
    default = (
        format_value(known, known.command) if isinstance(known.kind, setting.InitialValues) else known.command
    )
    annotation = Annotated[kind | None if known.optional else kind, option]
    return inspect.Parameter(
        known.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _option(known: setting.Setting) -> tuple[Any, Any]:
    """The type of its value, and the option."""
    name, about = option_name(known), known.about
    default: dict[str, Any] = {"show_default": known.unset or True}
    match known.kind:
        case setting.Whole(least):
            return int, whole(least, about, name, **default)
        case setting.Positive():
            return float, positive(about, name, **default)
        case setting.Probability():
            return float, probability(about, name, **default)
        case setting.OneOf(words):
            return choice(known.name, *words), one_of(f"{about}: {', '.join(words)}.", name, **default)
        case setting.Switch():
            return bool, (switch if known.command is not False else flag)(name, about, **default)
        case setting.VariableName():
            return str, one_of(about, name, **default)
        case setting.InitialValues():
            return str, radius_or_file(about, name)


def choice(name: str, *values: str) -> type[StrEnum]:
    """An enumeration whose members are spelt like their values."""
    return StrEnum(name, {value.replace("-", "_"): value for value in values})


def given_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the values of the options say; `init` among them."""
    values = plain(options)
    return values | {"init": parse_value(SETTINGS["init"], values["init"])}


def plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the options, of words as text."""
    return {name: value.value if isinstance(value, Enum) else value for name, value in options.items()}
