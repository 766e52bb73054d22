"""The place where the parser stopped, and what can be known of it."""

import re
from functools import cached_property

from ppl.kernel.language.include import Expanded
from ppl.records import dataclass

COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"[^"\n]*"')
FOUND = re.compile(r'[^\W\d]\w*|\d[\w.]*|\.\d+|"[^"\n]*"?|/\*|:=|[-+*/=<>!]=|&&|\|\||\S')
PREVIOUS = re.compile(r'([^\W\d]\w*|[\d.]+\w*|"[^"\n]*"|[-+*/=<>!:.]=|&&|\|\||\S)\Z')
CLOSING = {"(": ")", "[": "]", "{": "}"}

# What the terminals of the grammar are called in a sentence; a group is named when its key is there.
KEYS = {"an expression": "INT_LITERAL", "a statement": "_FOR", "a type": "INT", "an operator": "TIMES"}
GROUPS = {
    "an expression": {
        "INT_LITERAL", "REAL_LITERAL", "IMAGINARY_LITERAL", "LBRACE", "LPAR", "LSQB", "NOT", "MINUS", "PLUS",
        "IDENTIFIER", "TARGET",
    },
    "a statement": {
        "_FOR", "_IF", "_WHILE", "_RETURN", "_BREAK", "_CONTINUE", "_PRINT", "REJECT", "FATAL_ERROR",
        "_PROFILE", "_JACOBIAN",
    },
    "a type": {
        "INT", "REAL", "COMPLEX", "VECTOR", "COMPLEX_VECTOR", "MATRIX", "COMPLEX_MATRIX", "TUPLE", "_ARRAY",
        "ONE_SIZE_CONSTRAINED", "TWO_SIZES_CONSTRAINED", "CHOLESKY_FACTOR_COV", "VOID", "ANNOTATION",
    },
    "an operator": {
        "TIMES", "OR", "AND", "EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "PLUS",
        "MINUS", "DIVIDE", "MODULO", "ELT_TIMES", "ELT_DIVIDE", "INT_DIVIDE", "LEFT_DIVIDE", "POW", "ELT_POW",
        "QMARK", "QUOTE", "ITEM", "LSQB",
    },
}  # fmt: skip
SIGNS = {
    "LBRACE": "`{`", "RBRACE": "`}`", "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`",
    "COMMA": "`,`", "SEMICOLON": "`;`", "COLON": "`:`", "BAR": "`|`", "TILDE": "`~`", "ASSIGN": "`=`",
    "PLUS_ASSIGN": "`+=`", "COMPOUND_ASSIGN": "`*=`", "GREATER": "`>`", "LESS": "`<`", "IDENTIFIER": "a name",
    "STRING": "a string", "_TRUNCATE": "`T[`", "$END": "the end of the program",
}  # fmt: skip


@dataclass(frozen=True)
class Stop:
    """The program, the offset where the parser stopped and the terminals it could have gone on with."""

    program: Expanded
    offset: int
    accepts: frozenset[str]

    @cached_property
    def before(self) -> str:
        """The code before, comments blanked, without the white space at its end."""
        return blanked(self.program.text[: self.offset]).rstrip()

    @cached_property
    def rest(self) -> str:
        return self.program.text[self.offset :]

    @cached_property
    def found(self) -> str:
        """The word or sign that stands there; empty at the end of the program."""
        word = FOUND.match(self.rest)
        return word.group() if word else ""

    @cached_property
    def previous(self) -> str:
        """The word or sign before."""
        word = PREVIOUS.search(self.before[-200:])
        return word.group() if word else ""

    @cached_property
    def open(self) -> list[tuple[str, int]]:
        """The brackets that are still open, outermost first, with their offsets."""
        stack: list[tuple[str, int]] = []
        for sign in re.finditer(r"[()\[\]{}]", self.before):
            if sign.group() in CLOSING:
                stack.append((sign.group(), sign.start()))
            elif stack and CLOSING[stack[-1][0]] == sign.group():
                stack.pop()
        return stack

    @property
    def innermost(self) -> str:
        return self.open[-1][0] if self.open else ""

    @property
    def opened(self) -> str:
        """`(` of line 7: the innermost open bracket in words."""
        if not self.open:
            return ""
        sign, offset = self.open[-1]
        return f"`{sign}` of line {self.program.span(offset, offset + 1).line}"

    @cached_property
    def block(self) -> str:
        """The program block that the place is in, or an empty string."""
        if not self.open:
            return ""
        name = re.search(r"((?:transformed\s+|generated\s+)?\w+)\s*\Z", self.before[: self.open[0][1]])
        return " ".join(name.group(1).split()) if name else ""

    def in_signature(self) -> bool:
        """Whether a function's signature is being read."""
        return self.block == "functions" and [sign for sign, _ in self.open] in (["{"], ["{", "("])

    def newline(self) -> bool:
        """Whether a line ends between the word before and what was found."""
        return not self.found or "\n" in self.program.text[len(self.before) : self.offset]

    def adjacent(self) -> bool:
        return len(self.before) == self.offset

    def takes_name(self) -> bool:
        """Whether a name is expected, and no expression."""
        return "IDENTIFIER" in self.accepts and not self.takes_value()

    def takes_value(self) -> bool:
        """Whether an expression is expected."""
        return "INT_LITERAL" in self.accepts

    def takes_statement(self) -> bool:
        return "_FOR" in self.accepts

    def between_blocks(self) -> bool:
        return not self.open

    def declares_only(self) -> bool:
        return self.block in ("data", "parameters") and "INT" in self.accepts

    def unclosed(self) -> bool:
        return self.innermost in ("(", "[") and not self.takes_value()

    def finished(self) -> bool:
        """Whether an expression is complete and could be the last of its list or statement."""
        ends = {"SEMICOLON", "COMMA", "RPAR", "RSQB"} & self.accepts
        return bool(ends) and not self.takes_value() and not self.takes_name()

    def ended(self) -> bool:
        """Whether only a semicolon is missing before the next line or the end of the block."""
        ends = "SEMICOLON" in self.accepts and not self.takes_value()
        return ends and (self.newline() or self.found == "}")

    @cached_property
    def expected(self) -> str:
        """The words that could have stood there."""
        words, left = [], set(self.accepts)
        for word, members in GROUPS.items():
            if KEYS[word] in left:
                words.append(word)
                left -= members
        words += sorted(SIGNS.get(name, f"`{name.strip('_').lower().replace('_', ' ')}`") for name in left)
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def blanked(text: str, strings: bool = True) -> str:
    """The text with comments as blanks and, if asked for, `strings` as rows of quotes, of the same length."""

    def blank(match: re.Match[str]) -> str:
        piece, is_string = match.group(), match.group()[0] == '"'
        return re.sub(r"[^\n]", '"' if is_string else " ", piece) if strings or not is_string else piece

    return COMMENT_OR_STRING.sub(blank, text)
