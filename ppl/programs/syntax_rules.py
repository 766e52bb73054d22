"""How a syntax error is recognised: a rule, and the words and predicates it is made of."""

import re
from collections.abc import Callable
from typing import Literal

from ppl.kernel.language.lalr import grammar_text
from ppl.kernel.language.scope import BlockName
from ppl.programs.syntax_stop import CLOSING, Stop
from ppl.records import dataclass
from ppl.spelling import ROUGHLY_LIKE, nearest

BLOCKS = tuple(block.value for block in BlockName)


def words_of(terminal: str) -> list[str]:
    """The words of a terminal of the grammar."""
    rule = re.search(rf"^{terminal}: /\(?([\w|]+)\)?\\b/$", grammar_text(), re.MULTILINE)
    assert rule is not None
    return rule[1].split("|")


OF_ONE_SIZE = words_of("ONE_SIZE_CONSTRAINED")
OF_TWO_SIZES = words_of("TWO_SIZES_CONSTRAINED")
OF_ANY = [*OF_ONE_SIZE, *OF_TWO_SIZES, *words_of("CHOLESKY_FACTOR_COV")]
TYPES = ("int", "real", "complex", "vector", "row_vector", "matrix", *OF_ANY, "array")
HEADS = ("for", "while", "if", "print", "reject", "profile", "return")
NO_STRINGS = "Strings are allowed only in `print` and `reject`."
STRINGS = ("string", "str", "char")
ELSEWHERE = {
    "bool": "int<lower=0, upper=1>", "boolean": "int<lower=0, upper=1>",
    "integer": "int", "double": "real", "float": "real",
    "and": "&&", "or": "||", "true": "1", "false": "0",
}  # fmt: skip

SIGNS = {
    "≥": ">=", "≤": "<=", "≠": "!=", "×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "∼": "~",
    "←": "=", "’": "'",
}  # fmt: skip
"""Signs of text processors, and those of the language."""
DENSITIES = "normal|student_t|cauchy|lognormal|exponential|poisson|binomial|bernoulli"
"""Distributions that mixtures are written of."""

NAME = r"\b[A-Za-z]\w*"
SCALAR = r"\b(?:int|real|complex)\b"
ONE_SIZE = rf"\b(?:(?:complex_)?(?:row_)?vector|{'|'.join(OF_ONE_SIZE)})\b"
TWO_SIZES = rf"\b(?:(?:complex_)?matrix|{'|'.join(OF_TWO_SIZES)})\b"
CONSTRAINED = rf"\b(?:{'|'.join(OF_ANY)})\b"
TYPE = rf"(?:{SCALAR}|{ONE_SIZE}|{TWO_SIZES}|{CONSTRAINED})"
SIZES = r"(?:\s*\[[^\]\n]*\])?"
BLOCK = r"(?P<name>functions|(?:transformed\s+)?(?:data|parameters)|model|generated\s+quantities)\b"
BOUNDS = r"(?:\s*<[^<>;]*>)?"
DECLARATION = rf"(?:array\s*\[[^\]\n]*\]\s*)?{TYPE}{BOUNDS}{SIZES}\s+(?P<name>{NAME})"
OPEN_BOUND = r"<\s*(?:lower|upper|offset|multiplier)\s*=[^;{}>]*"
STATEMENT = (
    rf"(?:for|if|while|return|target|print|reject|{TYPE})\b|{NAME}(?:\[[^\]\n]*\])*\s*(?:~|[-+*/]?=(?!=))"
)


@dataclass(frozen=True)
class Rule:
    """`message` and `hint` are said where `found` follows, `before` ends there and `when` holds.

    `found` and `before` are regular expressions; their named groups and the words of `Rule.words`
    fill the sentence.  `repair` is the sign that is missing, where putting it in mends the text.  `fix` is
    what the hint proposes as program text, to stand in place of what `found` matches, or what `over` says:
    what `before` matches, both, a group of one of them by its name, or nothing, in the gap between them.
    """

    code: str
    message: str
    hint: str = ""
    found: str = ""
    before: str = ""
    when: Callable[[Stop], object] = lambda stop: True
    at: Literal["found", "word", "name", "gap", "end"] = "found"
    repair: str = ""
    fix: str | None = None
    over: str = "found"

    def recognise(self, stop: Stop) -> dict[str, str] | None:
        """The words for the sentence, or None where the rule does not apply."""
        ahead = re.match(self.found, stop.rest)
        behind = re.search(rf"(?:{self.before})\Z", stop.before[-400:])
        if not (ahead and behind and self.when(stop)):
            return None
        groups = {**behind.groupdict(""), **ahead.groupdict("")}
        matched = {"matched before": behind.group(), "matched": ahead.group()}
        extra = {"advice": advice(stop, groups), "meant": meant(stop, groups)}
        return {**self.words(stop), **groups, **extra, **matched}

    def words(self, stop: Stop) -> dict[str, str]:
        return {
            "found": f"`{stop.found}`" if stop.found else "the end of the program",
            "previous": stop.previous,
            "block": stop.block,
            "line": str(stop.program.span(stop.offset, stop.offset).line),
            "opened": stop.opened,
            "close": CLOSING.get(stop.innermost, ""),
            "end": ";" if stop.innermost == "{" else CLOSING.get(stop.innermost, ""),
            "expected": stop.expected,
        }


def advice(stop: Stop, groups: dict[str, str]) -> str:
    """A sentence with the block, the statement or the type that a word was meant for."""
    word = groups.get("word", "")
    if stop.open and word in STRINGS:
        return NO_STRINGS
    if not (instead := meant(stop, groups)):
        return f"Expected one of {', '.join(TYPES if stop.open else BLOCKS)}."
    return f"Write `{instead}`." if stop.open and word in ELSEWHERE else f"Did you mean `{instead}`?"


def meant(stop: Stop, groups: dict[str, str]) -> str:
    """The word that was meant: a block, a statement, a type, an operator; empty if nothing is like it."""
    if not stop.open:
        return nearest(groups.get("name", ""), BLOCKS, ROUGHLY_LIKE) or ""
    word = groups.get("word", "")
    return (
        ELSEWHERE.get(word)
        or SIGNS.get(word)
        or misspelt_statement(stop)
        or nearest(word, TYPES, ROUGHLY_LIKE)
        or ""
    )


def misspelt_statement(stop: Stop) -> str:
    """The word that a statement of the form `word (...` was probably to begin with."""
    call = re.search(rf"[;{{}})]\s*({NAME})\s*\([^;{{}}]*\Z", stop.before[-400:])
    near = nearest(call.group(1), HEADS, ROUGHLY_LIKE) if call else None
    return near if near and call and near != call.group(1) else ""


def written(stop: Stop) -> bool:
    """Whether the block that begins here has been written before."""
    block = re.match(BLOCK, stop.rest)
    return bool(block and re.search(rf"(?:\A|\}})\s*{block['name']}\s*\{{", stop.before))


def argument(stop: Stop) -> bool:
    """Whether the place is directly inside the parentheses of a call or of a distribution."""
    called = re.search(rf"({NAME})\s*\Z", stop.before[: stop.open[-1][1]]) if stop.innermost == "(" else None
    return called is not None and called.group(1) not in HEADS


def only(*terminals: str) -> Callable[[Stop], bool]:
    return lambda stop: stop.accepts <= set(terminals)
