"""Everything ppl raises on purpose.

PPLError
├── ModelError       the program is refused; carries a Span, so file, line and column
├── DataError        the data do not fit the program's data block; names the variable
└── InferenceError   no fit could be made; names the statement to blame where it is known

A user's mistake always ends in one of these; any other exception is a bug in ppl.
"""

from typing import Protocol


class Located(Protocol):
    """What an error needs to know of a place in the program (source.Span gives it)."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    def describe(self) -> str: ...


class PPLError(Exception):
    """Base of every error a user can cause."""


class ModelError(PPLError):
    """The program is wrong: `message` says what was found and expected, `span` where.

    Example:
        >>> try:
        ...     ppl.compile_model("parameters { real x }")
        ... except ppl.ModelError as error:
        ...     print(error.line, error.column)
    """

    def __init__(self, message: str, span: Located, hint: str | None = None):
        self.message, self.span, self.hint = message, span, hint
        super().__init__(message)

    @property
    def line(self) -> int:
        return self.span.line

    @property
    def column(self) -> int:
        return self.span.column

    def __str__(self) -> str:
        tail = f"\n{self.hint}" if self.hint else ""
        return f"{self.span.describe()}\n{self.message}{tail}"


class DataError(PPLError):
    """The data are wrong: `variable` names the culprit where there is one."""

    def __init__(self, message: str, variable: str | None = None):
        self.message, self.variable = message, variable
        super().__init__(message)


class InferenceError(PPLError):
    """The algorithm could not go on: the message says why and what to try."""
