"""One statement on as many lines as it needs: spaces between its tokens, and breaks past 80 columns."""

import re
from collections.abc import Iterator, Sequence

from ppl.kernel.language.printer import PRECEDENCE, TERNARY_LEVEL
from ppl.records import dataclass, field

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
    for word in WORD.finditer(text):
        before = text[end : word.start()]
        column = word.start() - text.rfind("\n", 0, word.start()) - 1
        first = "\n" in before or end == 0
        yield Token(word.lastgroup or "", word[0].rstrip(), column, first, before.count("\n") > 1)
        end = word.end()


COLUMNS_OF_A_LINE = 80
"""The longest line that is not broken."""
CONTINUED_INDENT = 4
"""How far a statement's further lines stand in when no bracket is open."""
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
SIGNS_BEFORE_UNARY = (*OPENING, ",", "=", "~", "?", ":", "|", "<", "!", *PRECEDENCE)
KEYWORDS = ("if", "else", "for", "in", "while", "return")
BOUNDED = ("int", "real", "complex", "vector", "row_vector", "matrix")
NEVER_BROKEN = ("^", ".^")


@dataclass(frozen=True)
class Piece:
    """A token in its place: is there a space before it, may a line end there, and how deep is it?

    `level` (brackets open, looseness of the operator) orders the breaks: the smaller the better; None for no
    break.  `opens` and `closes` count brackets.
    """

    token: Token
    space: bool
    level: tuple[int, int] | None = None
    opens: bool = False
    closes: bool = False

    @property
    def width(self) -> int:
        """Comments count for nothing: they are never the reason to break."""
        return 0 if self.token.is_comment else self.space + len(self.token.text)


@dataclass
class OpenBrackets:
    """Brackets open at a token, each with the token before it, and in each the `?` without `:`."""

    brackets: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[int] = field(default_factory=lambda: [0])

    @property
    def depth(self) -> int:
        return len(self.brackets)

    @property
    def in_bounds(self) -> bool:
        return self.depth > 0 and self.brackets[-1][0] == "<"

    @property
    def in_array_type(self) -> bool:
        return self.brackets[-1:] == [("[", "array")]

    @property
    def in_ternary(self) -> bool:
        return self.waiting[-1] > 0

    def opens(self, before: str, text: str) -> bool:
        return text in OPENING or (text == "<" and before in BOUNDED)

    def closes(self, text: str) -> bool:
        return (text in CLOSING and self.depth > 0) or (text == ">" and self.in_bounds)

    def pass_over(self, before: str, text: str) -> None:
        if self.opens(before, text):
            self.brackets.append((text, before))
            self.waiting.append(0)
        elif self.closes(text):
            self.brackets.pop()
            self.waiting.pop()
        elif text == "?" or (text == ":" and self.in_ternary):
            self.waiting[-1] += 1 if text == "?" else -1


def pieces(statement: Sequence[Token]) -> Iterator[Piece]:
    """The tokens of one statement with the spaces that belong between them."""
    context, before, glued = OpenBrackets(), "", True
    for token in statement:
        if token.is_comment:
            yield Piece(token, True, (context.depth, 0) if token.first else None)
            continue
        text = token.text
        space = not glued and spaced(before, token, context)
        level = break_level(before, text, context)
        yield Piece(token, space, level, context.opens(before, text), context.closes(text))
        glued = glues(before, text, context)
        context.pass_over(before, text)
        before = text


def break_level(before: str, text: str, context: OpenBrackets) -> tuple[int, int] | None:
    """A line may end after a comma in brackets, and before an operator of two operands."""
    if before == "," and context.depth and not context.in_array_type and not context.closes(text):
        return (context.depth, 0)
    if is_unary(before, text) or context.opens(before, text) or context.closes(text):
        return None
    if text == "?" or (text == ":" and context.in_ternary):
        return (context.depth, TERNARY_LEVEL)
    if text in PRECEDENCE and text not in NEVER_BROKEN:
        return (context.depth, PRECEDENCE[text])
    return None


def glues(before: str, text: str, context: OpenBrackets) -> bool:
    """Whether no space may follow a token."""
    return (
        context.opens(before, text)
        or is_unary(before, text)
        or (text == ":" and not context.in_ternary)
        or (text == "=" and context.in_bounds)
    )


def is_unary(before: str, text: str) -> bool:
    """Whether a sign stands before its only operand."""
    if text == "!":
        return True
    return text in ("+", "-") and (not before or before in SIGNS_BEFORE_UNARY or before in KEYWORDS)


def spaced(before: str, token: Token, context: OpenBrackets) -> bool:
    """Whether a space stands between a token and the one before it, which does not itself forbid it."""
    text = token.text
    ends_operand = before[:1].isalnum() or before[:1] in ("_", ".") or before in CLOSING
    match text:
        case "," | ";" | ")" | "}" | "'":
            return False
        case "]":
            return before == "," and not context.in_array_type
        case "(":
            return before in KEYWORDS or not ends_operand
        case "[":
            return before in KEYWORDS or not (ends_operand or before in ("'", ">"))
        case "<" if before in BOUNDED:
            return False
        case ">" | "=" if context.in_bounds:
            return False
        case ":" if not context.in_ternary:
            return before == ","
        case _:
            return not (token.kind == "number" and text[0] == "." and ends_operand)  # the item of a tuple


def wrapped_lines(statement: Sequence[Token], indent: int, width: int) -> list[str]:
    """The lines of one statement of up to `width` columns, the first of them `indent` columns in."""
    all_pieces = list(pieces(statement))
    lines = [" " * indent]
    columns = [indent + CONTINUED_INDENT]
    forced = False
    for k, piece in enumerate(all_pieces):
        token = piece.token
        too_long = piece.level is not None and column(lines) + chunk_width(all_pieces, k) > width
        begins = k == 0 or not lines[-1].strip()
        if not begins and (forced or too_long or (token.is_comment and token.first)):
            lines.append(" " * columns[-1])
            begins = True
        lines[-1] += (" " if piece.space and not begins else "") + shifted(
            token, column(lines) + (piece.space and not begins)
        )
        forced = token.ends_line
        if piece.opens:
            columns.append(column(lines))
        elif piece.closes:
            columns.pop()
    return lines


def column(lines: Sequence[str]) -> int:
    """Where the next token would stand."""
    return len(lines[-1].rpartition("\n")[2])


def chunk_width(all_pieces: Sequence[Piece], k: int) -> int:
    """The width from a place to break up to the next one that is as good."""
    level = all_pieces[k].level
    assert level is not None
    width = all_pieces[k].width
    for piece in all_pieces[k + 1 :]:
        if piece.level is not None and piece.level <= level:
            break
        width += piece.width
    return width


def shifted(token: Token, column: int) -> str:
    """A comment of several lines keeps its shape where it moves to another column."""
    head, *rest = token.text.split("\n")
    if not rest:
        return head
    reindented = (line[min(token.column, len(line) - len(line.lstrip())) :] for line in rest)
    return "\n".join([head, *(f"{' ' * column}{line}".rstrip() for line in reindented)])
