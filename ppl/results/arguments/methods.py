"""The arguments of each of CmdStan's methods, read from the tree in methods.txt."""

import json
import re
from collections import deque
from collections.abc import Iterator
from importlib.resources import files
from typing import cast

from ppl.methods.run.settings import ALGORITHMS
from ppl.results.arguments.argument import Argument, Choice, Group, Value, bounded, flag
from ppl.results.arguments.of_settings import SETTINGS, argument_of

OF_CMDSTAN = ("meanfield", "fullrank")
FAMILIES = tuple(
    Group(name, about if name in OF_CMDSTAN else f"{about} (ppl only)") for name, about in ALGORITHMS.items()
)
OF_SETTINGS: dict[str, Argument] = {
    **{known.path: argument_of(known) for known in SETTINGS.values()},
    "variational.algorithm": Choice("algorithm", "Family of the approximation", FAMILIES),
}

ENTRY = re.compile(r"(\w+)( =)?(?: (\S+))?(?: where (.*?))?: (.*)")


def parsed(lines: deque[str], indent: int = 0) -> Iterator[Argument]:
    """The arguments of the lines that are indented so far, each with those below it."""
    while lines and len(lines[0]) - len(lines[0].lstrip()) == indent:
        line = lines.popleft().lstrip()
        if line.startswith("@"):
            yield OF_SETTINGS[line[1:]]
            continue
        entry = ENTRY.fullmatch(line)
        assert entry is not None, line
        name, equals, default, condition, about = entry.groups()
        below = tuple(parsed(lines, indent + 2))
        if default:
            yield value_of(name, about, json.loads(default), condition)
        else:
            yield Choice(name, about, cast(tuple[Group, ...], below)) if equals else Group(name, about, below)


def value_of(name: str, about: str, default: bool | float | str, condition: str | None) -> Value:
    """The value of an entry."""
    if isinstance(default, bool):
        return flag(name, about, default)
    return Value(name, about, default) if condition is None else bounded(name, about, default, condition)


TEXT = files(__package__).joinpath("methods.txt").read_text(encoding="utf-8")
(ROOT,) = parsed(deque(line for line in TEXT.splitlines() if line[0] != "#"))
METHOD = cast(Choice, ROOT)
