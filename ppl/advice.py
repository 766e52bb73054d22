"""Sentences that name settings: options for a reader in a shell, keywords for one in Python."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Advice(NamedTuple):
    """A setting to look at, or the value to give it.

    Example:
        >>> [(a.in_shell, a.in_python) for a in (Advice("runs", 4), Advice("correct", True), Advice("draws"))]
        [('--runs 4', 'runs=4'), ('--correct', 'correct=True'), ('--draws', 'draws')]
    """

    setting: str
    value: Any = None

    @property
    def in_shell(self) -> str:
        option = f"--{self.setting.replace('_', '-')}"
        return option if self.value is None or self.value is True else f"{option} {self.value}"

    @property
    def in_python(self) -> str:
        value = f'"{self.value}"' if isinstance(self.value, str) else self.value
        return self.setting if value is None else f"{self.setting}={value}"


class Call(NamedTuple):
    """A command of a shell, and the method of Python that does the same."""

    in_shell: str
    in_python: str


Sentence = str | tuple[str | Advice | Call, ...]
"""Text, or its parts in their order."""
Words = Callable[[Sentence], str]
"""`in_shell` or `in_python`."""


def in_shell(sentence: Sentence) -> str:
    """The sentence by options of the command line."""
    return "".join(part if isinstance(part, str) else part.in_shell for part in parts_of(sentence))


def in_python(sentence: Sentence) -> str:
    """The sentence by settings of Python."""
    return "".join(part if isinstance(part, str) else part.in_python for part in parts_of(sentence))


def parts_of(sentence: Sentence) -> tuple[str | Advice | Call, ...]:
    """The parts of a sentence, to be joined with others."""
    return (sentence,) if isinstance(sentence, str) else sentence


def values_of(sentence: Sentence) -> dict[str, Any]:
    """The values that it advises for settings."""
    advised = (part for part in parts_of(sentence) if isinstance(part, Advice))
    return {each.setting: each.value for each in advised if each.value is not None}
