"""Settings of a variational run in CmdStan's words, and back."""

from typing import Any

from ppl.inference.run.settings import Settings
from ppl.results.arguments.of_settings import SETTINGS, format_value

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
