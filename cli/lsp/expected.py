"""Expected words, names and distributions at a place of a program that is being written."""

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache
from pathlib import Path

from lark.exceptions import UnexpectedInput

from ppl.errors import MOST_ERRORS, ModelError
from ppl.kernel.language.declarations import CONSTRAINED
from ppl.kernel.language.include import Expanded, IncludedLine, expand, lines_between
from ppl.kernel.language.lalr import parser
from ppl.kernel.language.scope import BlockName
from ppl.programs.recovery import mend
from ppl.programs.syntax_errors import explain
from ppl.programs.syntax_rules import BLOCKS, NAME
from ppl.programs.syntax_stop import COMMENT_OR_STRING, Stop
from ppl.records import dataclass, replace
from ppl.source import SourceText
from ppl.types import NAMED

KEYWORDS = """
    void tuple lower upper offset multiplier target jacobian for in while if else return break continue print
    reject fatal_error profile T
""".split()
WORDS = tuple(dict.fromkeys([*BLOCKS, *NAMED, *CONSTRAINED, "array", *KEYWORDS]))
"""Every word of the grammar that a program may need."""


class NamePlace(Enum):
    """The kind of name that would stand there."""

    NOTHING = "no name"
    VALUE = "a variable or a function"
    DISTRIBUTION = "a distribution"


@dataclass(frozen=True)
class ExpectedSyntax:
    """The expected continuation: `words` of the grammar, `place`, and the block, None between blocks."""

    words: tuple[str, ...]
    place: NamePlace
    block: BlockName | None


def expected(
    source: SourceText, offset: int, include_paths: Sequence[str | Path] = ()
) -> ExpectedSyntax | None:
    """The expectation at an offset, whatever stands there or after it; None in a comment or a string.

    Syntax errors before the place are mended as the parser mends them.
    """
    if in_comment(source.text, offset):
        return None
    head = source.text[:offset]
    stop = Stop(plain(source, head), offset, accepted(replace(source, text=head), include_paths))
    block = next((block for block in BlockName if block.value == stop.block), None)
    words = tuple(word for word in WORDS if any(stands_for(t, word) for t in stop.accepts))
    if stop.takes_name():
        place = NamePlace.DISTRIBUTION if stop.before.endswith("~") else NamePlace.NOTHING
    else:
        place = NamePlace.VALUE if stop.takes_value() else NamePlace.NOTHING
    return ExpectedSyntax(words, place, block)


def call_at(source: SourceText, offset: int) -> tuple[str, bool, int] | None:
    """The innermost call around an offset: its name, whether it follows `~`, and which argument is there."""
    stop = Stop(plain(source, source.text[:offset]), offset, frozenset())
    for sign, opening in reversed(stop.open):
        name = re.search(rf"(~?)\s*({NAME})\s*\Z", stop.before[:opening]) if sign == "(" else None
        if name:
            return name[2], bool(name[1]), separators(stop.before[opening + 1 :])
        if sign == "{":
            return None
    return None


def separators(text: str) -> int:
    """Commas and bars that stand outside all brackets."""
    depth = count = 0
    for sign in re.findall(r"[()\[\]{},|]", text):
        depth += (sign in "([{") - (sign in ")]}")
        count += depth == 0 and sign in ",|"
    return count


def plain(source: SourceText, text: str) -> Expanded:
    """The text alone, its includes left out."""
    own = replace(source, text=text)
    return Expanded(list(lines_between(own, 0, len(text))) or [IncludedLine("", own, 1)], text)


def in_comment(text: str, offset: int) -> bool:
    """Whether a place is inside a comment or a string; at the end of a line comment too."""
    for piece in COMMENT_OR_STRING.finditer(text):
        if piece.start() >= offset:
            return False
        if offset < piece.end() or (offset == piece.end() and piece[0].startswith("//")):
            return True
    return False


def accepted(source: SourceText, include_paths: Sequence[str | Path]) -> frozenset[str]:
    """The terminals that may follow a text."""
    try:
        program = expand(source, include_paths)
    except ModelError:
        program = plain(source, source.text)
    for _ in range(MOST_ERRORS):
        reading = parser().parse_interactive(program.text)
        where = None
        try:
            reading.exhaust_lexer()
        except UnexpectedInput as error:
            where = error.pos_in_stream
        accepts = frozenset(reading.accepts())  # type: ignore[no-untyped-call]
        if where is None:
            return accepts
        stop = Stop(program, where, accepts)
        mended = mend(stop, explain(stop)[1])
        if mended is None or mended.text == program.text:
            break
        program = program.with_text(mended.text)
    return frozenset()


def stands_for(terminal: str, word: str) -> bool:
    """Whether a terminal of the grammar matches a word, and all of it."""
    words = terminals().get(terminal)
    matched = words.match(word) if words else None
    return matched is not None and matched.end() == len(word)


@cache
def terminals() -> dict[str, re.Pattern[str]]:
    """Those that are words, by their names."""
    terminals = ((t.name, t.pattern.to_regexp()) for t in parser().terminals)
    return {name: re.compile(text) for name, text in terminals if name != "IDENTIFIER"}
