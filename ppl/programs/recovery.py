"""Going on after a syntax error, so that one run reports every independent mistake.

The sign that is missing is put into the white space where it belongs; otherwise the broken statement,
declaration or block is blanked out.  Then the text is parsed again.  Its length stays, so that every place in
it is still a place in the program; names in what was blanked are remembered, since nothing that could be said
about them afterwards would be an independent error.
"""

import re
from collections.abc import Callable

from ppl.programs.syntax_rules import BLOCK, Rule
from ppl.programs.syntax_stop import CLOSING, Stop, blanked
from ppl.records import dataclass

SIGN = re.compile(r"[()\[\]{};]")
OPENS_BLOCK = re.compile(r"([;{})]|\b(else|do|repeat|functions|data|parameters|model|quantities))\s*\Z")
HEADER = re.compile(r"\s*(?:else\s+)?(?P<word>for|while|if|do|repeat)\b\s*(?P<open>\()?")
WORD = re.compile(r"[A-Za-z]\w*")
ELSE = re.compile(r"\s*else\b")


@dataclass(frozen=True)
class Mended:
    """The text to parse next, and the words that were taken out of it."""

    text: str
    lost: frozenset[str] = frozenset()


def mend(stop: Stop, rule: Rule) -> Mended | None:
    """The text without the mistake, or None where no repair is safe."""
    if rule.code == "PPL101":  # what follows is all comment
        return None
    if rule.repair:
        return inserted(stop, rule)
    if rule.code == "PPL103":
        return without(stop, stop.offset, stop.offset + len(stop.rest.split("\n", 1)[0]))
    code = blanked(stop.program.text)
    if not stop.open:
        return without(stop, *outside(code, stop))
    block = enclosing_block(code, stop)
    if rule.code == "PPL145" or (stop.block == "functions" and block == stop.open[0][1]):
        return without(stop, *function(code, block, stop))
    return statement(code, block, stop, rule)


def inserted(stop: Stop, rule: Rule) -> Mended | None:
    """The missing sign in the gap; for `}` all signs that close what is open."""
    gap, text = len(stop.before), stop.program.text
    closers = "".join(CLOSING[opened] for opened, _ in reversed(stop.open))
    signs = closers if rule.repair == "}" else rule.repair
    room = text[gap : gap + len(signs)]
    return None if room.strip() else Mended(text[:gap] + signs + text[gap + len(room) :])


def without(stop: Stop, start: int, end: int, instead: str = "") -> Mended:
    """The text with a stretch of it blank, or `instead` where there is room for that."""
    text = stop.program.text
    taken = text[start:end]
    blank = "".join(c if c == "\n" else " " for c in taken)
    if len(instead) <= len(taken):
        blank = instead + blank[len(instead) :]
    return Mended(text[:start] + blank + text[end:], frozenset(WORD.findall(taken)))


def without_earlier(text: str, stop: Stop) -> str:
    """The text with blanks for the statements before that with the mistake, in each block around it.

    The parser passes over blanks at once: the time to the next mistake does not grow with what lies before.
    """
    code, pieces, done = blanked(text), list[str](), 0
    block = None
    for sign, offset in [*stop.open, ("", stop.offset)]:
        if block is not None:
            start = statement_start(code, block, offset)
            if not ELSE.match(code, start):
                pieces += text[done : block + 1], " " * (start - block - 1)
                done = start
        if sign != "{" or not opens_block(code, offset):
            break
        block = offset
    return "".join((*pieces, text[done:]))


# --- What to take out ----------------------------------------------------------------------------


def outside(code: str, stop: Stop) -> tuple[int, int]:
    """Between blocks: a stray brace, a block that cannot stand here, or what lies before the next block."""
    if stop.found == "}":
        return stop.offset, stop.offset + 1
    start = code.rfind("}", 0, stop.offset) + 1
    brace = re.compile(rf"{BLOCK}\s*\{{|\{{").search(code, stop.offset)
    if brace is None:
        return start, len(code)
    if brace["name"] and brace.start() > stop.offset:
        return start, brace.start()
    return start, closing(code, brace.end() - 1)


def function(code: str, block: int, stop: Stop) -> tuple[int, int]:
    """A function whose signature is broken, with its body."""
    start = statement_start(code, block, stop.offset)
    body = re.compile(r"[{;]").search(code, stop.offset)
    if body is None:
        return start, len(code)
    return start, closing(code, body.start()) if body.group() == "{" else body.end()


def statement(code: str, block: int, stop: Stop, rule: Rule) -> Mended:
    """The statement or declaration, or only the head of a loop or condition when that is broken."""
    start = statement_start(code, block, stop.offset)
    if rule.at == "gap":
        return without(stop, start, len(stop.before))
    header = HEADER.match(code, start)
    end = statement_end(code, start, opens_body if header else opens_block)
    if header and header["open"]:
        head = closing(code, header.start("open"))
        if stop.offset < head and not code.startswith("{", end):
            end = head
    if header and (code.startswith("{", end) or (header["open"] and stop.offset < end <= head)):
        return without(stop, header.start("word"), end, "if(1)" if header["word"] == "if" else "while(1)")
    orphan = ELSE.match(code, end) if re.match(r"\s*(if|else)\b", code[start:]) else None
    return without(stop, start, orphan.end() if orphan else end)


# --- Finding one's way in text that does not parse -------------------------------------------------


def opens_block(code: str, brace: int) -> bool:
    """Whether the brace at this offset begins a block, and no array."""
    return bool(OPENS_BLOCK.search(code, max(0, brace - 40), brace))


def opens_body(code: str, brace: int) -> bool:
    """The same after the head of a loop or condition, which may lack its parentheses."""
    return not re.compile(r"([=,({]|\bin)\s*\Z").search(code, max(0, brace - 40), brace)


def enclosing_block(code: str, stop: Stop) -> int:
    """The offset of the innermost open brace that begins a block and no array."""
    block = 0
    for sign, offset in stop.open:
        if sign != "{" or not opens_block(code, offset):
            break
        block = offset
    return block


def statement_start(code: str, block: int, offset: int) -> int:
    """Where the statement begins that `offset` is in; `block` is the brace around it."""
    start, stack = block + 1, []
    for sign in SIGN.finditer(code, block + 1, offset):
        if sign.group() in CLOSING:
            stack.append((sign.group(), opens_block(code, sign.start())))
        elif sign.group() == ";":
            start = start if stack and stack[-1][0] == "(" else sign.end()
        elif stack and CLOSING[stack[-1][0]] == sign.group():
            opened, began_block = stack.pop()
            start = sign.end() if opened == "{" and began_block and not stack else start
    return start


def statement_end(code: str, start: int, opens: Callable[[str, int], bool]) -> int:
    """After its semicolon, or before the brace that begins its body or ends the block around it."""
    stack: list[str] = []
    for sign in SIGN.finditer(code, start):
        match sign.group():
            case ";":
                return sign.end()
            case "{" if opens(code, sign.start()):
                return sign.start()
            case "(" | "[" | "{" as opened:
                stack.append(opened)
            case "}" if "{" not in stack:
                return sign.start()
            case closed if stack and CLOSING[stack[-1]] == closed:
                stack.pop()
    return len(code)


def closing(code: str, opening: int) -> int:
    """The offset after the bracket that closes the one at `opening`, or the end of the text."""
    depth, opened = 0, code[opening]
    for sign in re.compile(f"[{re.escape(opened + CLOSING[opened])}]").finditer(code, opening):
        depth += 1 if sign.group() == opened else -1
        if depth == 0:
            return sign.end()
    return len(code)
