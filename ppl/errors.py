"""Everything ppl raises on purpose.

PPLError
├── ModelError       the program is refused; carries a Span, so file, line and column
├── DataError        the data do not fit the program's data block; names the variable
└── InferenceError   no fit could be made; names the statement to blame where it is known
    └── Rejection    the program itself refused a point, by reject() or a declared constraint

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

    `others` are further independent errors of the same program, in the order of their lines.

    Example:
        >>> try:
        ...     ppl.compile_model("parameters { real x }")
        ... except ppl.ModelError as error:
        ...     print(error.line, error.column)
    """

    def __init__(self, message: str, span: Located, hint: str | None = None, code: str = "PPL100"):
        self.message, self.span, self.hint, self.code = message, span, hint, code
        self.others: tuple[ModelError, ...] = ()
        super().__init__(message)

    @property
    def line(self) -> int:
        return self.span.line

    @property
    def column(self) -> int:
        return self.span.column

    def __str__(self) -> str:
        """This error and every other found in the same run."""
        return "\n\n".join([self.describe(), *(other.describe() for other in self.others)])

    def describe(self) -> str:
        tail = f"\n{self.hint}" if self.hint else ""
        return f"{self.span.describe()}\n{self.message}{tail}"


class DataError(PPLError):
    """The data are wrong: `variable` names the culprit where there is one."""

    def __init__(self, message: str, variable: str | None = None):
        self.message, self.variable = message, variable
        super().__init__(message)


class InferenceError(PPLError):
    """The algorithm could not go on: the message says why and what to try."""


class Rejection(InferenceError):
    """reject() was called, or a transformed quantity broke its declared constraint."""
