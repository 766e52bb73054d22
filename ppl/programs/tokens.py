"""Program text -> tokens, comments among them: what the formatter moves about."""

import re
from collections.abc import Iterator

from ppl.records import dataclass

WORD = re.compile(
    r"""
    (?P<include>\#include\b[^\n]*)
  | (?P<line>//[^\n]*)
  | (?P<comment>/\*[\s\S]*?\*/)
  | (?P<string>"[^"\n]*")
  | (?P<number>(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)([eE][+-]?\d+)?i?)
  | (?P<annotation>@[^\s()]+(\(([^()]|\(([^()]|\([^()]*\))*\))*\))?)
  | (?P<name>[A-Za-z]\w*)
  | (?P<sign>%/%|\.\*=|\./=|<-|[-+*/<>=!]=|\|\||&&|\.\*|\./|\.\^|\S)
    """,
    re.VERBOSE,
)
COMMENTS = ("include", "line", "comment")


@dataclass(frozen=True)
class Token:
    """A token of a program: `kind` is a group of WORD.

    `first` tells whether it begins its line, at `column` counted from 0; `blank` whether an empty line stands
    before it.
    """

    kind: str
    text: str
    column: int = 0
    first: bool = False
    blank: bool = False

    @property
    def is_comment(self) -> bool:
        return self.kind in COMMENTS

    @property
    def ends_line(self) -> bool:
        """Whether nothing may follow it on its line."""
        return self.kind in ("include", "line")


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a program that parses, in order."""
    end = 0
    for found in WORD.finditer(text):
        before = text[end : found.start()]
        column = found.start() - text.rfind("\n", 0, found.start()) - 1
        first = "\n" in before or end == 0
        yield Token(found.lastgroup or "", found[0].rstrip(), column, first, before.count("\n") > 1)
        end = found.end()
