"""The canonical layout of a program, its comments kept: two spaces a level, one statement a line.

Only the space between tokens changes, and of parentheses and braces what CANONICAL says, if asked for. The
order of tokens and `#include` stay as they are, and so do single empty lines, and columns of comments behind
statements.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ppl.errors import ModelError
from ppl.kernel.language.walk import too_deep
from ppl.programs.canonical import without_parentheses
from ppl.programs.explained import parse
from ppl.programs.spacing import CLOSING, COLUMNS_OF_A_LINE, OPENING, Token, tokens, wrapped_lines
from ppl.records import dataclass, field, replace
from ppl.source import SourceText

INDENT_OF_A_LEVEL = 2
"""Columns that each level of nesting stands further in."""
END = Token("end", "")
OPEN_BRACE, CLOSE_BRACE = Token("sign", "{"), Token("sign", "}")
CANONICAL = ("parentheses", "braces")
"""Permitted changes beside the layout: parentheses that are not needed go, one statement gets braces."""


def format_program(
    source: SourceText,
    include_paths: Sequence[str | Path] = (),
    width: int = COLUMNS_OF_A_LINE,
    canonical: Collection[str] = (),
) -> str:
    """The text of a program in its canonical layout; formatting that again changes nothing.

    `width` is how many columns a line may have, `canonical` which of CANONICAL are changed too.

    Raises:
        ModelError: the text is not of the language.

    Example:
        >>> print(format_program(SourceText("parameters{real mu;} // the mean")))
        parameters {
          real mu;
        } // the mean
    """
    source = replace(source, text=source.text.replace("\r\n", "\n"))
    refuse_wrong(source, include_paths)
    words = list(tokens(source.text))
    words = without_parentheses(words) if "parentheses" in canonical else words
    layout = Layout(words, width, "braces" in canonical)
    try:
        layout.program()
    except RecursionError:
        raise too_deep(parse(source, include_paths)) from None
    return "".join(f"{line}\n" for line in layout.text())


def refuse_wrong(source: SourceText, include_paths: Sequence[str | Path]) -> None:
    """A program that only its included files complete is parsed with them, any other without."""
    alone = re.sub(r"(?m)^([ \t]*)#include\b.*$", r"\1", source.text)
    try:
        parse(replace(source, text=alone))
    except ModelError:
        parse(source, include_paths)


@dataclass
class LayoutLine:
    """A statement, the head of a block, a closing brace or a comment, `depth` blocks deep."""

    depth: int
    tokens: list[Token]


TextRow = tuple[str, Token | None]
"""A row of the text, and the comment behind it, which stands in its column of the text that was read."""


def in_a_column(rows: Sequence[TextRow]) -> Iterator[str]:
    """Rows as text; comments that stood in one column, each behind the row after the other, stay in one."""
    width = max(len(text) for text, _ in rows)
    for text, comment in rows:
        yield f"{text:<{width}} {comment.text}" if comment else text


@dataclass
class Layout:
    """Reads tokens from the front, in the order of the grammar, and lays them out in lines."""

    rest: list[Token]
    width: int
    braces: bool
    """Whether each statement that another governs gets braces."""

    at: int = 0
    lines: list[LayoutLine] = field(default_factory=list)

    # --- Reading ---

    @property
    def next(self) -> Token:
        return self.rest[self.at] if self.at < len(self.rest) else END

    def take(self) -> Token:
        token = self.next
        self.at += 1
        return token

    def comments(self, behind: bool = False) -> list[Token]:
        """Those that come next, or only those on the same line, `behind` what was read."""
        comments = []
        while self.next.is_comment and not (behind and self.next.first):
            comments.append(self.take())
        return comments

    def through_brackets(self) -> list[Token]:
        """Up to the bracket that closes the next one."""
        taken, depth = [], 0
        while self.next is not END:
            token = self.take()
            taken.append(token)
            depth += (token.text in OPENING) - (token.text in CLOSING)
            if token.text in CLOSING and depth == 0:
                break
        return taken

    # --- Writing ---

    def write(self, depth: int, line: list[Token]) -> None:
        """A line, with the comments that follow it on its own line of the text."""
        self.lines.append(LayoutLine(depth, [*line, *self.comments(behind=True)]))

    def own_comments(self, depth: int) -> None:
        while self.next.is_comment:
            self.write(depth, [self.take()])

    def text(self) -> Iterator[str]:
        """The lines as text; an empty line stays, but not at the start or end of a block."""
        for _, group in groupby(self.rows(), key=lambda row: row[1] and row[1].column):
            yield from in_a_column(list(group))

    def rows(self) -> Iterator[TextRow]:
        """The lines as rows of text, each with the comment behind it."""
        before = ""
        for line in self.lines:
            first, last = line.tokens[0], line.tokens[-1]
            if first.blank and before not in ("", "{") and first.text != "}":
                yield "", None
            behind = last if last.kind == "line" and not last.first and len(line.tokens) > 1 else None
            *whole, end = wrapped_lines(
                line.tokens[:-1] if behind else line.tokens, INDENT_OF_A_LEVEL * line.depth, self.width
            )
            yield from ((text, None) for text in whole)
            yield end, behind
            before = last_text(line.tokens) or "//"

    # --- The grammar ---

    def program(self) -> None:
        self.own_comments(0)
        while self.next is not END:
            head = []
            while self.next.text != "{":
                head.append(self.take())
            self.block(0, head)
            self.own_comments(0)

    def block(self, depth: int, head: list[Token]) -> None:
        """`head { ... }`."""
        self.open(depth, head, self.take())
        self.items(depth + 1)
        self.write(depth, [self.take()])

    def open(self, depth: int, head: list[Token], brace: Token) -> None:
        """`head {`; comments between the two go behind the brace, or under it."""
        comments = trailing(head)
        self.lines.append(LayoutLine(depth, [*head[: len(head) - len(comments)], brace]))
        for comment in (*comments, *self.comments(behind=True)):
            if comment.first or self.lines[-1].tokens[-1].ends_line:
                self.lines.append(LayoutLine(depth + 1, [comment]))
            else:
                self.lines[-1].tokens.append(comment)

    def items(self, depth: int) -> None:
        self.own_comments(depth)
        while self.next is not END and self.next.text != "}":
            self.statement(depth)
            self.own_comments(depth)

    def statement(self, depth: int) -> None:
        match self.next.text:
            case "if" | "for" | "while" | "profile":
                self.governed(depth, [])
            case "{":
                self.block(depth, [])
            case _:
                self.simple(depth)

    def governed(self, depth: int, head: list[Token]) -> None:
        """A keyword with its parentheses, the statement it governs, and the `else` of an `if`.

        `head` is the `else` that stands before it on its line.
        """
        keyword = self.take()
        self.body(depth, [*head, keyword, *self.through_brackets()])
        next_word = next((token for token in self.rest[self.at :] if not token.is_comment), END)
        if keyword.text == "if" and next_word.text == "else":
            self.otherwise(depth)

    def body(self, depth: int, head: list[Token]) -> None:
        """The statement after a head, in braces or one level in."""
        head = [*head, *self.comments()]
        if self.next.text == "{":
            self.block(depth, head)
        elif self.braces:
            self.open(depth, head, OPEN_BRACE)
            self.statement(depth + 1)
            self.lines.append(LayoutLine(depth, [CLOSE_BRACE]))
        else:
            self.write(depth, head)
            self.statement(depth + 1)

    def otherwise(self, depth: int) -> None:
        """`else` goes behind the brace before it, unless a comment stands between."""
        last = self.lines[-1]
        joins = last.depth == depth and len(last.tokens) == 1 and last.tokens[0].text == "}"
        head = self.lines.pop().tokens if joins and self.next.text == "else" else []
        self.own_comments(depth)
        head = [*head, self.take()]
        if self.next.text == "if":
            self.governed(depth, head)
        else:
            self.body(depth, head)

    def simple(self, depth: int) -> None:
        """Up to its semicolon, or a function up to the end of its body."""
        line, open_brackets = list[Token](), 0
        while self.next is not END:
            if self.next.text == "{" and not open_brackets and last_text(line) == ")":
                return self.block(depth, line)
            token = self.take()
            line.append(token)
            open_brackets += (token.text in OPENING) - (token.text in CLOSING)
            if token.text == ";" and not open_brackets:
                break
        self.write(depth, line)
        return None


def trailing(head: Sequence[Token]) -> list[Token]:
    """The comments at the end of a head."""
    count = next((k for k, token in enumerate(reversed(head)) if not token.is_comment), len(head))
    return list(head[len(head) - count :])


def last_text(line: Sequence[Token]) -> str:
    """The last token that is no comment."""
    return next((token.text for token in reversed(line) if not token.is_comment), "")
