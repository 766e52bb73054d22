"""The page of the Python API: what `ppl` exports, from signatures and docstrings."""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ppl.cli.site.markdown import fenced, heading, prose, table

SECTION = re.compile(r"^(Raises|Args|Example):$", re.MULTILINE)


def python_api() -> Iterator[str]:
    """Functions, then classes by topic, then exceptions."""
    import ppl
    from ppl.api import MEMBERS

    yield (
        "# Python\n\nThe public names of `ppl`. `dir` of an object lists the members documented here. "
        "Settings of fits are described under [Algorithms and settings](algorithms.md#settings)."
    )
    exported = {name: getattr(ppl, name) for name in ppl.__all__}
    yield heading("Functions")
    for name, found in exported.items():
        if inspect.isfunction(found):
            yield from described(f"ppl.{name}", found, 3)
    for name, topics in MEMBERS.items():
        yield heading(name)
        yield from documentation(exported[name])
        for topic, members in topics.items():
            yield heading(f"{name}: {topic}", 3)
            for member in members:
                yield from member_of(exported[name], member)
    yield heading("Exceptions and warnings")
    kinds = [(name, kind) for name, kind in exported.items() if is_exception(kind)]
    rows = ((f"`ppl.{name}`", f"`{kind.__base__.__name__}`", prose(first_line(kind))) for name, kind in kinds)
    yield table(("name", "is a", "when"), rows)


def is_exception(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def member_of(kind: type, name: str) -> Iterator[str]:
    """A method with its arguments, a property, or a field of a record with its type."""
    found = inspect.getattr_static(kind, name, None)
    if isinstance(found, property | cached_property):
        found = found.fget if isinstance(found, property) else found.func
        yield heading(f"{kind.__name__.lower()}.{name}", 4)
        yield from documentation(found)
    elif inspect.isfunction(found):
        yield from described(f"{kind.__name__.lower()}.{name}", found, 4)
    else:
        yield heading(f"{kind.__name__.lower()}.{name}", 4)
        yield f"`{inspect.formatannotation(inspect.get_annotations(kind)[name])}`"


def described(name: str, function: Any, level: int) -> Iterator[str]:
    yield heading(name, level)
    yield fenced(f"{name}({', '.join(arguments(function))})", "python")
    yield from documentation(function)


def arguments(function: Any) -> Iterator[str]:
    """Names with defaults; after `*` those that are given by name."""
    named = False
    for p in inspect.signature(function).parameters.values():
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not named:
            named = True
            yield "*"
        default = "" if p.default is p.empty else f"={p.default!r}"
        yield f"{'**' if p.kind is p.VAR_KEYWORD else ''}{p.name}{default}"


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
