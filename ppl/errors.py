"""Everything ppl raises on purpose.

PPLError
├── ModelError       the program is refused; carries a Span, so file, line and column
├── DataError        the data do not fit the program's data block; names the variable
│   └── MissingFile (FileNotFoundError)    a file, or the folder to write it in, is not there
├── InferenceError   no fit could be made; names the statement to blame where it is known
│   ├── Rejection    the program itself refused a point, by reject(), a declared constraint or an rng
│   ├── Stopped      the program called fatal_error(): no other point or draw is tried
│   ├── OutOfRange (ValueError)            a setting of a fit has a value that it cannot have
│   └── UnknownSetting (TypeError)         a fit was given a keyword that is no setting
├── ArgumentError (ValueError)             an argument has a value or a shape that it cannot have
├── UnknownName (KeyError)                 there is no such variable, column, stage or form
└── MissingPackage (ImportError)           an extra is not installed; says what to install

PPLWarning (UserWarning)
├── ModelWarning     a program that compiles is likely to be wrong
├── DataWarning      data that go unused
└── PoorFitWarning   poor draws

Where Python has an error of its own for a mistake, ours is that one too, as the name in brackets says.
A user's mistake always ends in one of these; any other exception is a bug in ppl.
"""

import errno
import sys
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ppl.advice import Sentence, in_python, in_shell
from ppl.printable import printable
from ppl.records import dataclass
from ppl.source import Span
from ppl.spelling import nearest

MOST_ERRORS = 20
"""As many errors are reported in one run; the rest would only bury them."""


class PPLError(Exception):
    """Base of every error a user can cause; its text names settings as Python does, `in_shell` as options.

    Example:
        >>> try:
        ...     ppl.compile_model("parameters { real x; }").condition({}).variational()
        ... except ppl.PPLError as error:
        ...     print(type(error).__name__)
        InferenceError
    """

    def __init__(self, message: Sentence):
        self.in_shell = printable(in_shell(message))
        super().__init__(printable(in_python(message)))

    def __reduce__(self) -> Any:
        """Errors go from process to process, whatever their constructors take."""
        return _restored, (type(self), self.args), vars(self)


def _restored(kind: type[PPLError], args: tuple[Any, ...]) -> PPLError:
    error = kind.__new__(kind)
    error.args = args
    return error


@dataclass(frozen=True)
class Fix:
    """A change of the program that mends a mistake: `text` takes the place of what stands at `span`."""

    span: Span
    text: str

    @property
    def title(self) -> str:
        """The effect of the fix, in a line."""
        before, text = in_a_line(self.span.text), in_a_line(self.text)
        if not text:
            return f"Remove `{before}`"
        return f"Change `{before}` to `{text}`" if before else f"Insert `{text}`"


LONGEST_IN_TITLE = 40
"""Characters of program text that the title of a fix shows."""


def first_few(names: Sequence[str], most: int = 3) -> str:
    """The first of a list, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def in_a_line(text: str) -> str:
    """Program text without its line breaks, of a long one the beginning."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST_IN_TITLE else f"{line[:LONGEST_IN_TITLE]}..."


class ModelError(PPLError):
    """The program is wrong: `message` says what was found and expected, `span` where.

    `others` are further independent errors of the same program, in the order of their lines; `code` is what
    `ppl explain` knows the message by; `fix` is the change of the text that `hint` proposes, where it is one.

    Example:
        >>> try:
        ...     ppl.compile_model("parameters { real x }")
        ... except ppl.ModelError as error:
        ...     print(error.line, error.column)
        1 20
    """

    def __init__(self, message: str, span: Span, hint: str | None, code: str, fix: Fix | None = None):
        self.message, self.hint = printable(message), hint and printable(hint)
        self.span, self.code, self.fix = span, code, fix
        self.others: tuple[ModelError, ...] = ()
        super().__init__(message)

    @property
    def line(self) -> int:
        """The line of the program, from 1."""
        return self.span.line

    @property
    def column(self) -> int:
        """The column in that line, from 1."""
        return self.span.column

    def __str__(self) -> str:
        """This error and every other found in the same run."""
        return "\n\n".join([self.describe(), *(other.describe() for other in self.others)])

    def describe(self) -> str:
        """Place and code, the line with carets, what is wrong, what to do."""
        return describe(self.span, "error", self.code, self.message, self.hint)


def describe(span: Span, severity: str, code: str, message: str, hint: str | None) -> str:
    """One diagnostic as text."""
    tail = f"\n{hint}" if hint else ""
    return f"{span.place}: {severity} {code}\n{span.excerpt()}\n{message}{tail}"


def reported(errors: Iterable[ModelError]) -> list[ModelError]:
    """The errors to report, by line."""
    return sorted(errors, key=lambda error: (error.line, error.column))[:MOST_ERRORS]


def raise_errors(errors: Iterable[ModelError]) -> None:
    """Raise the first of several errors by line, with the others in it; nothing where there is none."""
    ordered = reported(errors)
    if ordered:
        ordered[0].others = tuple(ordered[1:])
        raise ordered[0]


class DataError(PPLError):
    """The data are wrong: `variable` is the name of the variable, if known, `code` the kind of mistake.

    Example:
        >>> try:
        ...     model.condition({"J": 8})
        ... except ppl.DataError as error:
        ...     print(error.variable)
        y
    """

    def __init__(self, message: Sentence, variable: str | None = None, code: str = "PPL900"):
        self.variable, self.code = variable, code
        super().__init__(message)

    @property
    def message(self) -> str:
        """The text of the error."""
        return str(self.args[0])


class InferenceError(PPLError):
    """Inference failed: the message says why and what to try; `code` is the kind of failure.

    Example:
        >>> try:
        ...     posterior.variational(iter=0)
        ... except ppl.InferenceError as error:
        ...     print(error)
        iter = 0 is out of range; expected an integer of at least 1.
    """

    def __init__(self, message: Sentence, code: str = "PPL970"):
        self.code = code
        super().__init__(message)


class Rejection(InferenceError):
    """reject() was called, a transformed quantity broke its constraint, or an rng refused an argument.

    Example:
        >>> rejects = ppl.compile_model('transformed data { reject("no"); } parameters { real x; } model {}')
        >>> try:
        ...     rejects.condition({})
        ... except ppl.Rejection as error:
        ...     print(str(error).splitlines()[-1])
        no
    """

    def __init__(self, message: str, code: str = "PPL972"):
        super().__init__(message, code)


class Stopped(InferenceError):
    """fatal_error() was called.

    Example:
        >>> stops = ppl.compile_model('transformed data { fatal_error("no"); } model {}')
        >>> try:
        ...     stops.condition({})
        ... except ppl.InferenceError as error:
        ...     print(type(error).__name__, str(error).splitlines()[-1])
        Stopped The program stopped: no
    """


class OutOfRange(InferenceError, ValueError):
    """A setting of a fit is out of range; the message gives the range.

    Example:
        >>> try:
        ...     posterior.laplace(draws=-1)
        ... except ValueError as error:
        ...     print(error)
        draws = -1 is out of range; expected an integer of at least 0.
    """


class UnknownSetting(InferenceError, TypeError):
    """Keywords are not settings of the algorithm: `setting` is the first, `near` what it is called here, or
    the most similar one; `advice` says of each what to write.

    Example:
        >>> try:
        ...     posterior.variational(algoritm="fullrank")
        ... except TypeError as error:
        ...     print(error)
        variational() has no setting `algoritm`; did you mean algorithm?
    """

    def __init__(self, function: str, advice: Mapping[str, str], near: str | None):
        self.setting, self.near = next(iter(advice)), near
        lines = [f"{function}() has no setting `{name}`; {each}" for name, each in advice.items()]
        super().__init__("\n".join(lines), "PPL978")


class ArgumentError(PPLError, ValueError):
    """An argument has an invalid value or shape.

    Example:
        >>> try:
        ...     posterior.log_density(np.zeros(3))
        ... except ValueError as error:
        ...     print(error)
        u has shape (3,), but must have shape (10,)
    """


MOST_NAMES = 20
"""As many names are listed where one is unknown."""


class UnknownName(PPLError, KeyError):
    """There is no such name: `name` is the name given, `near` the most similar one, if any.

    Example:
        >>> try:
        ...     fit.stan_variable("thta")
        ... except KeyError as error:
        ...     print(error)
        no variable 'thta'; did you mean theta? There are mu, tau, theta_raw, theta, y_rep, log_lik
    """

    def __init__(self, what: str, name: str, known: Collection[str], meant: str | None = None):
        self.name, self.near = name, meant or nearest(name, known)
        names = first_few([*known], MOST_NAMES) or "none"
        advice = f"did you mean {self.near}? There" if self.near else "there"
        super().__init__(f"{what} {name!r}; {advice} are {names}")

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError's own is the repr


class MissingFile(DataError, FileNotFoundError):
    """A file, or the folder to write it in, is not there; `filename` is its path.

    Example:
        >>> try:
        ...     model.condition("eight_school.json")
        ... except FileNotFoundError as error:
        ...     print(error)
        there is no file eight_school.json
    """

    def __init__(self, message: str, path: str | Path):
        super().__init__(message, code="PPL905")
        self.errno, self.filename = errno.ENOENT, str(path)

    def __str__(self) -> str:
        return self.message


class MissingPackage(PPLError, ImportError):
    """An optional package is not installed; the message has the command that installs it.

    Example:
        >>> print(ppl.MissingPackage("A picture", "matplotlib", "matplotlib>=3.8"))
        A picture needs matplotlib, which is not installed: pip install "matplotlib>=3.8".
    """

    def __init__(self, what: str, package: str, *install: str):
        named = " ".join(word if word.startswith("-") else f'"{word}"' for word in install)
        super().__init__(f"{what} needs {package}, which is not installed: pip install {named}.")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line that called the package."""
    frame, stacklevel = sys._getframe(1), 2
    while frame.f_back and f"{frame.f_globals.get('__name__')}.".startswith(f"{__package__}."):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)


class PPLWarning(UserWarning):
    """Base of every warning of the package.

    Example:
        >>> issubclass(ppl.PoorFitWarning, ppl.PPLWarning) and issubclass(ppl.ModelWarning, ppl.PPLWarning)
        True
    """


class ModelWarning(PPLWarning):
    """A program compiles but contains a likely mistake; the message says where, and what to do.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", ppl.ModelWarning)
        ...     try:
        ...         ppl.compile_model("parameters { real s; } model { 1 ~ normal(0, s); }")
        ...     except ppl.ModelWarning as found:
        ...         print("PPL010" in str(found))
        True
    """


class DataWarning(PPLWarning):
    """A variable of the data goes unused, because the program declares it in parameters.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", ppl.DataWarning)
        ...     try:
        ...         model.condition("eight_schools.data.json", mu=8.0)
        ...     except ppl.DataWarning as found:
        ...         print(str(found).partition(".")[0])
        the keywords: `mu` is not used; the program declares it in parameters
    """


class PoorFitWarning(PPLWarning):
    """The verdict on the returned draws is poor; the message is the verdict, with what to try.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", ppl.PoorFitWarning)
        ...     fit = posterior.variational(seed=1)
    """
