"""Whether a run prints what README, a page or a notebook shows; numbers may differ between machines."""

import re

SLACK = 0.05
"""Numbers may differ by this much, or by this share."""
TOKEN = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?|[^\W\d]+|\S")


def same(shown: str, found: str) -> bool:
    """Whether two tokens are the same, or nearly the same number."""
    try:
        a, b = float(shown), float(found)
    except ValueError:
        return shown == found
    return shown == found or abs(a - b) <= SLACK * max(1.0, abs(a))


def agrees(shown: str, found: str) -> bool:
    """Whether two texts have the same words and numbers; `...` stands for any text, as in doctest.

    Line breaks and spaces do not count.
    """
    first, *others = (TOKEN.findall(part) for part in shown.split("..."))
    words = TOKEN.findall(found)
    if not others:
        return _starts_with(words, first) and len(words) == len(first)
    *between, last = others
    end = len(words) - len(last)
    return (
        len(first) <= end
        and _starts_with(words, first)
        and _in_order(words[len(first) : end], between)
        and _starts_with(words[end:], last)
    )


def _in_order(words: list[str], parts: list[list[str]]) -> bool:
    """Whether the parts follow one another in the words."""
    at = 0
    for part in parts:
        starts = (start for start in range(at, len(words)) if _starts_with(words[start:], part))
        start = next(starts, None)
        if start is None:
            return False
        at = start + len(part)
    return True


def _starts_with(words: list[str], shown: list[str]) -> bool:
    return len(words) >= len(shown) and all(map(same, shown, words))
