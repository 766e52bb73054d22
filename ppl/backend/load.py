"""Emitted text to callable functions, one set for each namespace."""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import CodeType, SimpleNamespace
from typing import Any

from ppl.arrays import AUTOGRAD, NUMPY, Namespace
from ppl.backend.draws_library import draws_library
from ppl.backend.emit import Emitted
from ppl.backend.fields import Forms
from ppl.backend.library import Wrap, library
from ppl.backend.per_draw_library import per_draw_library
from ppl.backend.solve import solve
from ppl.source import Span

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

    def place_of(self, error: BaseException) -> Span | None:
        """Where in the program an exception came from: the innermost emitted line on its way."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == self.file]
        spans = [self.emitted.spans[f.lineno - 1] for f in frames if f.lineno is not None]
        return next((s for s in reversed(spans) if s is not None), None)

    def text_of(self, error: BaseException) -> tuple[str, str]:
        """The emitted line that an exception came from, and the part of it that was being computed."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == self.file]
        if not frames or frames[-1].lineno is None:
            return "", ""
        line = self.emitted.text.split("\n")[frames[-1].lineno - 1]
        return line.strip(), line[frames[-1].colno : frames[-1].end_colno]


def compile_text(emitted: Emitted, name: str) -> CodeType:
    """Emitted text as a code object; the text comes from the checked IR alone."""
    return compile(emitted.text, file_of(name), "exec")


def file_of(name: str) -> str:
    return f"<emitted from {name}>"


def load(
    emitted: Emitted,
    code: CodeType,
    xp: Namespace,
    softplus: bool = False,
    wrap: Wrap | None = None,
    builtins: Mapping[str, Any] = BUILTINS,
    **replaced: Any,
) -> Module:
    """The module bound to `xp`; `wrap` is library's, `replaced` overrides functions of `lib` by name.

    `builtins` are all that the module sees of Python.
    """
    lib: SimpleNamespace = library(xp, emitted.bindings, softplus, wrap)
    lib.solve = solver(emitted, code, xp, softplus)
    for name, function in replaced.items():
        setattr(lib, name, function)
    return bound_to(lib, emitted, code, builtins)


def load_per_draw(emitted: Emitted, code: CodeType, xp: Namespace, softplus: bool = False) -> Module:
    """The module bound to `xp`, for many draws at once."""
    lib = per_draw_library(xp, emitted.bindings, softplus)
    lib.solve = solver(emitted, code, xp, softplus)
    return bound_to(lib, emitted, code)


def load_over_draws(emitted: Emitted, code: CodeType, softplus: bool = False) -> Module:
    """The module of `emit_over_draws` in NumPy."""
    lib = draws_library(emitted.bindings, softplus)
    lib.solve = solver(emitted, code, NUMPY, softplus)
    return bound_to(lib, emitted, code)


def solver(emitted: Emitted, code: CodeType, xp: Namespace, softplus: bool = False) -> Callable[..., Any]:
    """`lib.solve` for the functions of the module."""
    return partial(solve, xp, Siblings(emitted, code, softplus).forms)


@dataclass(frozen=True)
class Siblings:
    """The same module for plain numbers and for many points, made when a solver first asks for a function."""

    emitted: Emitted
    code: CodeType
    softplus: bool

    def forms(self, name: str) -> Forms:
        return Forms(*(module.functions[name] for module in self.modules))

    @cached_property
    def modules(self) -> list[Module]:
        plain = load(self.emitted, self.code, NUMPY, self.softplus)
        many = [load_per_draw(self.emitted, self.code, xp, self.softplus) for xp in (NUMPY, AUTOGRAD)]
        return [plain, *many]


def bound_to(
    lib: SimpleNamespace, emitted: Emitted, code: CodeType, builtins: Mapping[str, Any] = BUILTINS
) -> Module:
    scope: dict[str, Any] = {"__builtins__": dict(builtins), "lib": lib}
    exec(code, scope)
    functions = {k: v for k, v in scope.items() if callable(v)}
    return Module(functions, emitted, code.co_filename)
