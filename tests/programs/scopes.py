"""A program's text in stretches with scopes, by the grammar of editors (grammar/ppl.tmLanguage.json)."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ppl.records import dataclass


@dataclass(frozen=True)
class Rule:
    """What a pattern matches, and the scopes of the whole or, by number, of its groups."""

    pattern: re.Pattern[str]
    scope: str
    groups: tuple[tuple[int, str], ...] = ()


def highlighted(text: str) -> Iterator[tuple[str, str]]:
    """The text in stretches with the scope of each, "" where it has none; together they are the text.

    Any text will do, whether it is a program or not. Scopes are TextMate's: "keyword.control.ppl".

    Example:
        >>> list(highlighted("real x;"))
        [('real', 'storage.type.ppl'), (' ', ''), ('x', 'variable.other.ppl'), (';', '')]
    """
    at = plain = 0
    while at < len(text):
        found, rule = _first(text, at)
        if found is None:
            at += 1
            continue
        if plain < at:
            yield text[plain:at], ""
        yield from _parts(found, rule)
        at = plain = found.end()
    if plain < at:
        yield text[plain:at], ""


def _first(text: str, at: int) -> tuple[re.Match[str] | None, Rule]:
    """The first rule that matches at a place."""
    for rule in rules():
        found = rule.pattern.match(text, at)
        if found and found.end() > at:
            return found, rule
    return None, rules()[-1]


def _parts(found: re.Match[str], rule: Rule) -> Iterator[tuple[str, str]]:
    """The groups of a match that have scopes of their own, and what stands between them."""
    text, at = found.string, found.start()
    for number, scope in rule.groups:
        if found[number] is None:
            continue
        if at < found.start(number):
            yield text[at : found.start(number)], rule.scope
        yield found[number], scope
        at = found.end(number)
    if at < found.end():
        yield text[at : found.end()], rule.scope


@cache
def rules() -> tuple[Rule, ...]:
    """The rules of the grammar, in the order in which they are tried."""
    grammar = json.loads((files("ppl.grammar") / "ppl.tmLanguage.json").read_text("utf-8"))
    parts = [grammar["repository"][part["include"].removeprefix("#")] for part in grammar["patterns"]]
    return tuple(_rule(one) for part in parts for one in part["patterns"])


def _rule(one: Mapping[str, Any]) -> Rule:
    """A `begin` without its `end`, as of a comment that is never closed, goes on to the end of the text."""
    pattern = one["match"] if "match" in one else rf"{one['begin']}[\s\S]*?(?:{one['end']}|\Z)"
    groups = tuple((int(number), of["name"]) for number, of in one.get("captures", {}).items())
    return Rule(re.compile(pattern, re.MULTILINE), one.get("name", ""), groups)
