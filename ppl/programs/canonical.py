"""Changes of `stanc --canonicalize` beside the layout: parentheses that change nothing are left out."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ppl.kernel.language.printer import BOUND, POSTFIX_LEVEL, PRECEDENCE, TERNARY_LEVEL, UNARY_LEVEL
from ppl.programs.spacing import CLOSING, NEVER_BROKEN, OPENING, Token, is_unary

BEFORE_EXPRESSION = ("return", "in")
"""The words after which a parenthesis opens an expression; after any other it belongs to the word."""
LOOSEST, TIGHTEST = 0, POSTFIX_LEVEL

Pair = tuple[int, int]


def without_parentheses(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a program without the pairs of parentheses that its tree does not need."""
    words = [token for token in tokens if not token.is_comment]
    texts = [word.text for word in words]
    gone: set[int] = set()
    for pair in pairs(texts):  # the inner before the outer
        if is_redundant(words, texts, pair, gone):
            gone |= {*pair}
    left_out = {id(words[k]) for k in gone}
    return [token for token in tokens if id(token) not in left_out]


def pairs(texts: Sequence[str]) -> Iterator[Pair]:
    """The positions of each `(` and its `)`, in the order in which they close."""
    open_: list[int] = []
    for k, text in enumerate(texts):
        if text in OPENING:
            open_.append(k)
        elif text in CLOSING:
            first = open_.pop()
            if text == ")":
                yield first, k


def is_redundant(words: Sequence[Token], texts: Sequence[str], pair: Pair, gone: set[int]) -> bool:
    """Whether the tree stays as it is without a pair, where the pairs in `gone` are left out already."""
    first, last = pair
    before = words[first - 1]
    if before.kind == "name" and before.text not in BEFORE_EXPRESSION:
        return False
    inner = [k for k in range(first + 1, last) if k not in gone]
    level = binding(texts, inner)
    if level is None:
        return False
    left = next(k for k in range(first - 1, -1, -1) if k not in gone)
    right = next(k for k in range(last + 1, len(texts)) if k not in gone)
    if level <= TERNARY_LEVEL and {texts[left], texts[right]} & {"?", ":"}:
        return False
    return level >= max(needed_on_left(texts, left), needed_on_right(texts, right))


def binding(texts: Sequence[str], inner: Sequence[int]) -> int | None:
    """How strongly the loosest operator between two parentheses binds; None for a tuple, or for nothing."""
    depth, level = 0, TIGHTEST
    if not inner:
        return None
    for before, k in pairwise([inner[0] - 1, *inner]):
        text = texts[k]
        depth += (text in OPENING) - (text in CLOSING)
        if depth:
            continue
        if text == ",":
            return None
        if text == "?":
            level = min(level, TERNARY_LEVEL)
        elif is_unary(texts[before], text):
            level = min(level, UNARY_LEVEL)
        elif text in PRECEDENCE:
            level = min(level, PRECEDENCE[text])
    return level


def needed_on_left(texts: Sequence[str], k: int) -> int:
    """How strongly an operand must bind after the token at `k`."""
    text = texts[k]
    if is_unary(texts[k - 1] if k else "", text) or text in NEVER_BROKEN:
        return UNARY_LEVEL
    if text in PRECEDENCE:
        return PRECEDENCE[text] + 1
    return BOUND if text == "=" and texts[k - 2] in ("<", ",") else LOOSEST  # the value of a bound


def needed_on_right(texts: Sequence[str], k: int) -> int:
    """How strongly an operand must bind before the token at `k`."""
    text = texts[k]
    if text in NEVER_BROKEN or text in ("[", "'") or is_item(text):
        return POSTFIX_LEVEL
    if text == "?":
        return TERNARY_LEVEL + 1
    return PRECEDENCE.get(text, LOOSEST)


def is_item(text: str) -> bool:
    """Whether a token takes an item of the tuple before it, as `.1` does."""
    return text[0] == "." and text[1:].isdigit()
