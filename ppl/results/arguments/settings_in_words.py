"""Settings of a variational run in CmdStan's words, and back."""

from typing import Any

from ppl.inference.run.settings import Settings
from ppl.results.arguments.of_settings import SETTINGS, format_value, parse_value
from ppl.results.arguments.tree import Values

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


def settings_of(arguments: Values) -> dict[str, Any]:
    """What the given arguments say of Settings; like CmdStan, `eta` counts when the search is off."""
    searched = arguments.get("variational.adapt.engaged", True)
    return {
        **{
            name: parse_value(SETTINGS[name], arguments[path])
            for path, name in ONE_TO_ONE.items()
            if path in arguments
        },
        **({} if searched else {"eta": arguments.get("variational.eta", 1.0)}),
    }
