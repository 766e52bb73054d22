"""Text out of files as it is printed: the one function that cleans it."""

from collections.abc import Callable


def escaped(character: str) -> str:
    """The escape of Python and JSON, such as `\\x1b`."""
    return ascii(character)[1:-1]


def printable(text: str, kept: str = "\n\t", replace: Callable[[str], str] = escaped) -> str:
    """The text with every character that is not printable replaced, but those that are `kept`.

    Terminals obey what follows an escape character, end a text at NUL, and show text behind U+202E in
    another order.

    Example:
        >>> printable("a\\x1b[31m\\u202e")
        'a\\\\x1b[31m\\\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else replace(c) for c in text)
