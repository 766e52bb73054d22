"""The pages of `ppl explain`: one for each code, with a wrong and a right example.

The pages of a hundred codes are one Markdown file; an example is fenced as `wrong` or `right`, data as JSON.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ppl.records import dataclass

HEAD = re.compile(r"^# (PPL\d{3}): (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """`examples` by their label: "wrong" and "right", and "program" where those are data for it."""

    code: str
    title: str
    text: str
    examples: Mapping[str, str]


@cache
def pages() -> Mapping[str, Page]:
    """All pages by their code."""
    folder = files(__name__)
    texts = [f.read_text("utf-8") for f in sorted(folder.iterdir(), key=str) if f.name.endswith(".md")]
    return {page.code: page for text in texts for page in split(text)}


def split(text: str) -> list[Page]:
    """The pages of one file."""
    parts = HEAD.split(text)[1:]
    return [read(*parts[k : k + 3]) for k in range(0, len(parts), 3)]


def read(code: str, title: str, body: str) -> Page:
    examples = dict(FENCE.findall(body))
    return Page(code, title, FENCE.sub("", body).strip(), examples)
