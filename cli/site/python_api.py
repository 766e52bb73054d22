"""The pages of the Python API: what `ppl` exports, from signatures and docstrings."""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import ppl
from ppl.api import MEMBERS
from ppl.cli.site.markdown import fenced, heading, prose, table
from ppl.stdlib.reference import PAGE_WIDTH

MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+(?=\w)")
ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype(\[\w+\])\]")
NEXT = re.compile(r", (?=\*|\w+: )")
QUOTED = re.compile(r"'([A-Z]\w*)'")
SECTION = re.compile(r"^(Raises|Args|Example):$", re.MULTILINE)


def overview() -> Iterator[str]:
    """Links to the classes, functions, and exceptions."""
    yield (
        "# Python API\n\nThe public names of `ppl`. `dir` of an object lists the members documented here. "
        "Settings of fits are described under [Algorithms and settings](../algorithms.md#settings)."
    )
    rows = ((f"[`{name}`]({name.lower()}.md)", prose(first_line(getattr(ppl, name)))) for name in MEMBERS)
    yield table(("class", "what it is"), rows)
    exported = {name: getattr(ppl, name) for name in ppl.__all__}
    yield heading("Functions")
    for name, member in exported.items():
        if inspect.isfunction(member):
            yield from described(f"ppl.{name}", member)
    yield heading("Exceptions and warnings")
    kinds = [pair for pair in exported.items() if BaseException in getattr(pair[1], "__mro__", ())]
    rows = ((f"`ppl.{name}`", f"`{kind.__base__.__name__}`", prose(first_line(kind))) for name, kind in kinds)
    yield table(("name", "is a", "when"), rows)


def of_class(name: str) -> Iterator[str]:
    """Its documentation, then its members by topic."""
    kind = getattr(ppl, name)
    yield heading(name, 1)
    yield from documentation(kind)
    for topic, members in MEMBERS[name].items():
        yield heading(topic)
        for member in members:
            yield from member_of(kind, member)


def member_of(kind: type, name: str) -> Iterator[str]:
    """A method with its arguments, a property, or a field of a record with its type."""
    member = inspect.getattr_static(kind, name, None)
    title = f"{kind.__name__.lower()}.{name}"
    if inspect.isfunction(member):
        yield from described(title, member)
        return
    yield heading(title, 3)
    if isinstance(member, property | cached_property):
        yield from documentation(member)
    else:
        yield f"`{type_text(inspect.formatannotation(inspect.get_annotations(kind)[name]))}`"


def described(name: str, function: Any) -> Iterator[str]:
    yield heading(name, 3)
    yield fenced(signature(name, function), "python")
    yield from documentation(function)


def signature(name: str, function: Any) -> str:
    """Arguments with their types and defaults; an argument a line where they do not fit in one."""
    whole = inspect.signature(function)
    own = whole.replace(parameters=[p for p in whole.parameters.values() if p.name != "self"])
    line = name + type_text(str(own))
    if len(line) <= PAGE_WIDTH:
        return line
    args, result = line.removeprefix(f"{name}(").rsplit(") -> ", 1)
    return f"{name}(\n    {NEXT.sub(f',{chr(10)}    ', args)},\n) -> {result}"


def type_text(text: str) -> str:
    """Types without the modules of their parts, and without quotes."""
    return ARRAY.sub(r"NDArray\1", QUOTED.sub(r"\1", MODULE.sub("", text)))


def documentation(thing: Any) -> Iterator[str]:
    """A docstring: its paragraphs as prose, arguments and exceptions as lists, the example as code."""
    first, *sections = SECTION.split(inspect.getdoc(thing) or "")
    yield from (prose(" ".join(paragraph.split())) for paragraph in first.strip().split("\n\n") if paragraph)
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        body = inspect.cleandoc(f"\n{text}")
        yield fenced(body, "pycon") if title == "Example" else f"**{title}**\n\n{items(body)}"


def items(text: str) -> str:
    """`name: meaning` lines, each of which may go on indented, as a list."""
    entries = re.split(r"\n(?=\S)", text.strip())
    parts = (entry.partition(":") for entry in entries)
    return "\n".join(f"- `{name}`: {prose(' '.join(meaning.split()))}" for name, _, meaning in parts)


def first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")
