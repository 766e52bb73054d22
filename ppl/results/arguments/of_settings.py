"""The settings of a run as arguments: what each is called, and its values as words."""

from collections.abc import Mapping
from typing import Any

from ppl.methods.run.setting import (
    InitialValues,
    OneOf,
    Positive,
    Probability,
    Setting,
    Switch,
    Whole,
    settings_of,
)
from ppl.methods.run.settings import Settings
from ppl.results.arguments.argument import Value, bounded, either, flag, word

SETTINGS = settings_of(Settings)


def argument_of(known: Setting) -> Value:
    """The argument of a setting: one that may be None has 0 for it, or the empty word."""
    name = known.path.rpartition(".")[2]
    about = f"{known.about}; {_none(known) or 'empty'}: {known.unset}" if known.unset else known.about
    match known.kind:
        case Switch():
            return either(name, about) if known.optional else flag(name, about, known.command)
        case OneOf(words):
            return word(name, about, *([""] if known.optional else []), *words)
        case Probability():
            return bounded(name, about, known.command, f"0 < {name} < 1")
        case Whole() | Positive() as kind:
            default = _none(known) if known.optional else known.command
            from_zero = known.optional or kind == Whole(0)
            return bounded(name, about, default, f"0 {'<=' if from_zero else '<'} {name}")
        case _:
            return Value(name, about, format_value(known, known.command))


def format_value(known: Setting, value: Any) -> Any:
    """The value of a setting as the value of its argument."""
    if value is None:
        return _none(known)
    match known.kind:
        case Switch() if known.optional:
            return str(value).lower()
        case InitialValues() if isinstance(value, int | float):
            return f"{value:g}"
        case InitialValues():
            return "given" if isinstance(value, Mapping | list | tuple) else str(value)
        case _:
            return value


def parse_value(known: Setting, value: Any) -> Any:
    """The value of an argument as that of its setting."""
    if known.optional and value == _none(known):
        return None
    match known.kind:
        case Switch():
            return value in (True, "true")
        case InitialValues():
            return radius_or_path(value)
        case _:
            return value


def radius_or_path(text: str) -> float | str:
    """A number where `text` is one, else the path that it is."""
    try:
        return float(text)
    except ValueError:
        return text


def _none(known: Setting) -> Any:
    """The values that stand for None."""
    return {Whole: 0, Positive: 0.0}.get(type(known.kind), "")


# --- A run in CmdStan's words ---

ONE_TO_ONE = {known.path: name for name, known in SETTINGS.items() if name != "eta"}
"""The settings that one argument says; `eta` needs two, since its search has a switch of its own."""


def given_of(settings: Settings, eta: float) -> dict[str, Any]:
    """The arguments of a run; `eta` stands where it was given, its default 1 where it was searched for."""
    return {
        "method": "variational",
        **{path: format_value(SETTINGS[name], getattr(settings, name)) for path, name in ONE_TO_ONE.items()},
        "variational.eta": 1.0 if settings.eta is None else float(eta),
        "variational.adapt.engaged": settings.eta is None,
    }


def in_cmdstans_words(settings: Settings, family: str) -> dict[str, str]:
    """The family that `auto` came to, where CmdStan's clients look for an algorithm: they know no `auto`."""
    return {"variational.algorithm": family} if settings.algorithm == "auto" else {}
