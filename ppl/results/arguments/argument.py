"""Kinds of arguments of a run: a value, a group of arguments, a choice between groups."""

import operator
import re
from collections.abc import Callable
from typing import Any

from ppl.records import dataclass


@dataclass(frozen=True)
class Value:
    """`name=value`; `valid` says in words what `holds` tests."""

    name: str
    about: str
    default: Any
    valid: str = "All"
    holds: Callable[[Any], bool] = lambda value: True


@dataclass(frozen=True)
class Group:
    """`name` and then its parts, in any order."""

    name: str
    about: str
    parts: tuple["Argument", ...] = ()


@dataclass(frozen=True)
class Choice:
    """`name=option`, then the parts of the group of that name."""

    name: str
    about: str
    options: tuple[Group, ...]

    @property
    def default(self) -> str:
        return self.options[0].name

    def option(self, name: str) -> Group:
        """The group chosen by `name`."""
        return next(group for group in self.options if group.name == name)


Argument = Value | Choice | Group


def group(name: str, about: str, *parts: Argument) -> Group:
    return Group(name, about, parts)


BOUNDS = re.compile(r"(\S+) (<=?) \w+(?: (<=?) (\S+))?")
COMPARED = {"<": operator.lt, "<=": operator.le}


def bounded(name: str, about: str, default: Any, condition: str) -> Value:
    """A number within bounds: `0 < thin`, `0 <= jitter <= 1`."""
    bound = BOUNDS.fullmatch(condition)
    assert bound is not None, condition
    low, above, below, high = bound.groups()

    def holds(value: float) -> bool:
        least = COMPARED[above](float(low), value)
        return bool(least and (below is None or COMPARED[below](value, float(high))))

    return Value(name, about, default, condition, holds)


def flag(name: str, about: str, default: bool) -> Value:
    return Value(name, about, default, "[0, 1, false, true]")


def either(name: str, about: str) -> Value:
    """True or false; empty for what the run makes of itself."""
    return Value(name, about, "", "true, false", lambda word: word in ("", "true", "false"))


def word(name: str, about: str, *words: str) -> Value:
    """One of `words`, the first by default."""
    return Value(name, about, words[0], ", ".join(words), lambda word: word in words)
