"""Files of text: their characters, and how what is wrong in one is placed."""

from collections.abc import Iterable


class BadText(ValueError):
    """The text is not of its format: what is wrong at `line` and, in JSON, `column`, both from 1."""

    def __init__(self, message: str, line: int, column: int = 0):
        self.line, self.column = line, column
        self.place = f"{line}:{column}" if column else f"{line}"
        super().__init__(message)


def repeated(names: Iterable[str]) -> str | None:
    """The first name that stands among others for a second time."""
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def utf8(text: bytes) -> str:
    """Its characters, without a byte order mark.

    Raises:
        BadText: it is not UTF-8.
    """
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText("the text is not UTF-8", text.count(b"\n", 0, error.start) + 1) from None
