"""Emitted modules: their text, and as callable functions, one set for each namespace."""

import re
from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from threading import local
from types import CodeType, SimpleNamespace
from typing import Any, Self

from ppl.arrays import Namespace
from ppl.kernel.emit.library import Wrap, library
from ppl.kernel.emit.text import Binding
from ppl.kernel.ir.nodes import AtPoints
from ppl.late import traceback
from ppl.records import dataclass
from ppl.source import Span


@dataclass(frozen=True)
class Emitted:
    """The module's text; `spans[k]` is the program's place behind line k + 1.

    `reads` names what `log_joint` takes out of `d`, `loads` what `prepare` and `log_joint` take out of it
    that `prepare` does not put there.
    """

    text: str
    spans: tuple[Span | None, ...]
    bindings: dict[str, Binding]
    reads: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()
    at_points: tuple[AtPoints, ...] = ()
    """The functions that solvers work on."""
    packs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Parameters that `log_joint` reads as one block of `u`, and its name."""

    @cached_property
    def prepare(self) -> tuple[str, dict[str, Binding]]:
        """The text of the module's `prepare`, and the library functions that it calls."""
        text = self.text.partition("def prepare(d):\n")[2].partition("\ndef ")[0]
        called = set(re.findall(r"\blib\.(\w+)", text))
        return text, {name: binding for name, binding in self.bindings.items() if name in called}


MOST_PRINTS = 1_000
"""Prints of one evaluation: of the density, of the transformed data, of what a draw generates."""
OMITTED = f"... only the first {MOST_PRINTS:,} prints of an evaluation are shown"


class Printing(local):
    """`print` of a module, counted since one of its functions was called; every thread counts its own."""

    def __init__(self, write: Callable[..., None]) -> None:
        self.write, self.count = write, 0

    def print(self, *args: Any) -> None:
        self.count += 1
        if self.count <= MOST_PRINTS:
            self.write(*args)
        elif self.count == MOST_PRINTS + 1:
            self.write(OMITTED)

    def evaluation(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with a count that starts when it is called."""

        @wraps(f)
        def evaluated(*args: Any, **keywords: Any) -> Any:
            self.count = 0
            return f(*args, **keywords)

        return evaluated


BUILTINS = {"range": range, "float": float, "slice": slice}
"""All that emitted code may use of Python's own names."""


@dataclass(frozen=True)
class Module:
    """The functions of an emitted module, bound to a namespace; their names are explained in emit.py."""

    functions: dict[str, Callable[..., Any]]
    emitted: Emitted
    file: str

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(name) from None

    def span_of(self, error: BaseException) -> Span | None:
        """Where in the program an exception came from: the innermost emitted line on its way."""
        frames = traceback.walk_tb(error.__traceback__)  # for each rejected point: extract_tb reads files
        lines = [line for frame, line in frames if frame.f_code.co_filename == self.file]
        spans = [self.emitted.spans[line - 1] for line in lines if line is not None]
        return next((s for s in reversed(spans) if s is not None), None)

    def variables_of(self, error: BaseException) -> Mapping[str, Any]:
        """The variables of the innermost emitted function on an exception's way."""
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        own = [frame for frame in frames if frame.f_code.co_filename == self.file]
        return own[-1].f_locals if own else {}

    def text_of(self, error: BaseException) -> tuple[str, str]:
        """The emitted line that an exception came from, and the part of it that was being computed."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == self.file]
        if not frames or frames[-1].lineno is None:
            return "", ""
        line = self.emitted.text.split("\n")[frames[-1].lineno - 1]
        return line.strip(), line[frames[-1].colno : frames[-1].end_colno]


@dataclass(frozen=True, eq=False)
class Code:
    """An emitted module as Python's code object, for any namespace; its text comes from the checked IR alone.

    `file` is what tracebacks call it, `softplus` the map to the positive reals.
    """

    emitted: Emitted
    file: str
    softplus: bool = False

    @classmethod
    def of(cls, emitted: Emitted, name: str, softplus: bool = False) -> Self:
        """That of a text that comes from the program of this name."""
        return cls(emitted, f"<emitted from {name}>", softplus)

    @cached_property
    def compiled(self) -> CodeType:
        """Compiled when it is first loaded: a fit loads few of the forms."""
        return compile(self.emitted.text, self.file, "exec")

    def solve(self, *args: Any) -> Any:
        """`lib.solve`: what solvers of equations find for functions of the program (`optimise/solve.py`)."""
        raise NotImplementedError("no solver is plugged in")


def load(
    code: Code,
    xp: Namespace,
    wrap: Wrap | None = None,
    builtins: Mapping[str, Any] = BUILTINS,
    **replaced: Any,
) -> Module:
    """The module bound to `xp`; `wrap` is library's, `replaced` overrides functions of `lib` by name.

    `builtins` are all that the module sees of Python.
    """
    lib: SimpleNamespace = library(xp, code.emitted.bindings, code.softplus, wrap)
    lib.solve = code.solve
    for name, function in replaced.items():
        setattr(lib, name, function)
    scope: dict[str, Any] = {"__builtins__": dict(builtins), "lib": lib}
    exec(code.compiled, scope)
    functions = {k: v for k, v in scope.items() if callable(v)}
    if "lib.print(" in code.emitted.text:
        printing = Printing(lib.print)
        lib.print = printing.print
        functions = {k: printing.evaluation(f) for k, f in functions.items()}
    return Module(functions, code.emitted, code.file)
