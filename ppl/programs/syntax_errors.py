"""A sentence for the place where the parser stopped: the first rule of the table that recognises it."""

from ppl.errors import Fix, ModelError
from ppl.programs.syntax_rules import Rule
from ppl.programs.syntax_stop import CLOSING, Stop
from ppl.programs.syntax_table import RULES


def explain(stop: Stop) -> tuple[ModelError, Rule]:
    """The sentence of the first rule that recognises the place, with its span."""
    rule, words = next((rule, words) for rule in RULES if (words := rule.recognise(stop)))
    message, hint = sentence(rule.message.format_map(words)), rule.hint.format_map(words)
    span = stop.program.span(*stretch(rule, stop, words))
    return ModelError(message, span, hint or None, rule.code, fix(rule, stop, words)), rule


def fix(rule: Rule, stop: Stop, words: dict[str, str]) -> Fix | None:
    """The change that the rule proposes, where it can be made in one file."""
    if rule.repair:
        gap = len(stop.before)
        return Fix(stop.program.span(gap, gap), closers(stop) if rule.repair == "}" else rule.repair)
    if rule.fix is None or ("{meant}" in rule.fix and not words["meant"]):
        return None
    start, end = replaced(rule, stop, words)
    span = stop.program.span(start, end)
    return Fix(span, rule.fix.format_map(words)) if span.text == stop.program.text[start:end] else None


def closers(stop: Stop) -> str:
    """The brackets that close all that is open, braces on lines of their own."""
    signs = [CLOSING[opened] for opened, _ in reversed(stop.open)]
    return "".join(f"\n{sign}" if sign == "}" else sign for sign in signs)


def replaced(rule: Rule, stop: Stop, words: dict[str, str]) -> tuple[int, int]:
    """The offsets that the fix takes the place of."""
    gap, begin = len(stop.before), len(stop.before) - len(words["matched before"])
    end = stop.offset + len(words["matched"])
    match rule.over:
        case "gap":
            return gap, gap
        case "found":
            return stop.offset, end
        case "before":
            return begin, gap
        case "both":
            return begin, end
        case group:
            start = stop.offset if f"?P<{group}>" in rule.found else stop.before.rindex(words[group])
            return start, start + len(words[group])


def sentence(text: str) -> str:
    """With a capital and a full stop, unless it begins or ends otherwise."""
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")


def stretch(rule: Rule, stop: Stop, words: dict[str, str]) -> tuple[int, int]:
    """The offsets to underline: what was found, the word before, the gap after that, or the program's end."""
    gap = len(stop.before)
    match rule.at:
        case "end":
            end = len(stop.program.text.rstrip())
            return end, end + 1
        case "word" | "name" as group:
            start = stop.before.rindex(words[group])
            return start, start + len(words[group])
        case "found" if stop.found:
            return stop.offset, stop.offset + len(stop.found)
        case _:
            return gap, gap + 1
