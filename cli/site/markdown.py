"""Markdown of texts that are written for the terminal."""

import re
from collections.abc import Iterable, Sequence

CODE = re.compile(r"(`[^`]*`)")
SIGNS = re.compile(r"([\\*_>\[\]#|])")


def prose(text: str) -> str:
    """Text whose signs mean themselves, code in backticks aside; Markdown has no escape of `<`."""
    parts = (part if part.startswith("`") else SIGNS.sub(r"\\\1", part) for part in CODE.split(text))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.strip(chr(10)).rstrip()}\n```"


def entry(name: str, page: str, level: int = 2) -> str:
    """A page that begins with `name: meaning`, as a section: the meaning as prose, the rest as it stands."""
    first, _, rest = page.partition("\n\n")
    meaning = " ".join(first.removeprefix(f"{name}:").split())
    return f"{heading(name, level)}\n\n{prose(meaning)}" + (f"\n\n{fenced(rest)}" if rest.strip() else "")


def heading(name: str, level: int = 2) -> str:
    return f"{'#' * level} {prose(name)}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
