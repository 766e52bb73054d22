"""Advice in the words of who reads it: options of the command line, or settings from Python."""

import re

from ppl.methods.run.setting import Switch, settings_of
from ppl.methods.run.settings import Settings

OPTION = re.compile(r"--([a-z][a-z-]*)(?: (\d+))?")
KNOWN = settings_of(Settings).values()
SWITCHES = ("resume", *(known.name for known in KNOWN if isinstance(known.kind, Switch)))
COMMANDS = {"`ppl sample`": "`posterior.sample()`"}


def in_python(advice: str) -> str:
    """Advice for the command line in the words of Python.

    Example:
        >>> in_python("Compare independent runs: --runs 4, or add --correct; else `ppl sample`.")
        'Compare independent runs: runs=4, or add correct=True; else `posterior.sample()`.'
    """

    def setting(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        value = option[2] or ("True" if name in SWITCHES else "")
        return f"{name}={value}" if value else name

    for command, call in COMMANDS.items():
        advice = advice.replace(command, call)
    return OPTION.sub(setting, advice)
