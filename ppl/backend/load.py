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


@dataclass(frozen=True, eq=False)
class Code:
    """An emitted module as Python's code object, for any namespace; its text comes from the checked IR alone.

    `softplus` is the map to the positive reals.
    """

    emitted: Emitted
    compiled: CodeType
    softplus: bool = False

    @classmethod
    def of(cls, emitted: Emitted, name: str, softplus: bool = False) -> "Code":
        """Python's compilation of a text that comes from the program of this name."""
        return cls(emitted, compile(emitted.text, f"<emitted from {name}>", "exec"), softplus)

    @cached_property
    def plain_and_many(self) -> tuple[Module, Module, Module]:
        """The module in NumPy for plain numbers and for many points, and for many under autograd."""
        return load(self, NUMPY), load_per_draw(self, NUMPY), load_per_draw(self, AUTOGRAD)

    def forms(self, name: str) -> Forms:
        """A function of the module in the forms that solvers ask for."""
        return Forms(*(module.functions[name] for module in self.plain_and_many))


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
    return bound_to(lib, code, xp, builtins, **replaced)


def load_per_draw(code: Code, xp: Namespace, **replaced: Any) -> Module:
    """The module bound to `xp`, for many draws at once."""
    return bound_to(per_draw_library(xp, code.emitted.bindings, code.softplus), code, xp, **replaced)


def load_over_draws(code: Code, **replaced: Any) -> Module:
    """The module of `emit_over_draws` in NumPy."""
    return bound_to(draws_library(code.emitted.bindings, code.softplus), code, NUMPY, **replaced)


def bound_to(
    lib: SimpleNamespace, code: Code, xp: Namespace, builtins: Mapping[str, Any] = BUILTINS, **replaced: Any
) -> Module:
    """The module with this library."""
    lib.solve = partial(solve, xp, code.forms)
    for name, function in replaced.items():
        setattr(lib, name, function)
    scope: dict[str, Any] = {"__builtins__": dict(builtins), "lib": lib}
    exec(code.compiled, scope)
    functions = {k: v for k, v in scope.items() if callable(v)}
    return Module(functions, code.emitted, code.compiled.co_filename)
