"""Python text being written: every line remembers the place in the program it came from."""

import keyword
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

from ppl.kernel.emit.runtime import OWN_NAMES
from ppl.records import dataclass, field
from ppl.source import Span
from ppl.stdlib.record import Distribution, Impl, LeadingAxis

ReduceMode = Literal["", "total", "each", "rows", "product", "products"]
"""How a call reduces the elements that a function returns:
(empty)   they are the value
total     their sum; product, their product
each      they are the value, one or more for each entry along the axes of the call
rows      a sum for each entry along the leading axes; products, a product
"""
OWN_WORDS = (
    *("lib", "d", "u", "x", "rng", "target", "jacobian", "with_jacobian", "values"),
    *("read", "place", "declare", "places", "rows", "range", "float", "slice", "blocks", "of", "with_values"),
    "own_places",
)
RESERVED = frozenset({*keyword.kwlist, *OWN_WORDS})


def python_name(name: str) -> str:
    """A variable's name in the emitted text; no name of a program ends in two underscores."""
    if "." in name:  # an item of a tuple
        return f"{name.replace('.', '_')}__"
    return f"{name}__" if name in RESERVED else name


def tuple_text(items: Iterable[str]) -> str:
    """The text of a tuple; of one item too."""
    return f"({''.join(f'{item}, ' for item in items).rstrip()})"


@dataclass(frozen=True)
class Binding:
    """A library function as the text calls it.

    `implicit` is what it gets before its arguments; `drops` numbers the terms in `family.constants` that are
    left out.  `batch` is how it takes a leading axis, and `cores` are the core dimensions of its arguments,
    as of NumPy's generalised ufuncs: the trailing axes that one call works on.  Modes "rows" and "products"
    keep `leading_axes` axes.  A function of stdlib/batching works along the axis after `outer` others.
    """

    impl: Impl
    mode: ReduceMode
    implicit: str
    family: Distribution | None = None
    drops: tuple[int, ...] = ()
    batch: LeadingAxis = "none"
    cores: tuple[int, ...] = ()
    leading_axes: int = 0
    outer: int = 0


@dataclass
class Writer:
    """Lines so far with their spans, and the library functions they call by name."""

    lines: list[str] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    bindings: dict[str, Binding] = field(default_factory=dict)
    propto: bool = False
    by_functions: bool = False
    """Whether branches that parameters decide are functions."""
    data_arguments: frozenset[str] = frozenset()
    """Arguments of the function being written that are data."""
    changing: frozenset[str] = frozenset()
    """Variables that the function being written changes in place: of others a view does for a copy."""
    variants: dict[tuple[str, tuple[bool, ...]], str] = field(default_factory=dict)
    """Functions wanted without their constants: by name and by which arguments are data."""
    unknown: frozenset[str] | None = None
    """Variables that may differ from point to point, where a branch on them is written as functions."""
    target_readers: frozenset[str] = frozenset()
    """Functions that call target()."""
    defined: set[str] = field(default_factory=set)
    """Variables of the program that are set where the next statement stands."""
    has_target: bool = False
    """Whether what is being written adds to the target."""
    sums: tuple[str, ...] | None = None
    """The sums ("target", "jacobian") that the function of a branch returns after its values; else None."""
    packs: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The name of the list that some parameters are in together."""
    span: Span | None = None
    depth: int = 0
    temporaries: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)
        self.spans.append(self.span)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """A header line and an indented body; an empty body becomes `pass`. Outermost blocks stand apart."""
        self.line(header)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1
        if not self.depth:
            self.lines += ["", ""]
            self.spans += [None, None]

    @contextmanager
    def having(self, **fields: Any) -> Iterator[None]:
        """Fields have other values inside."""
        before = {name: getattr(self, name) for name in fields}
        vars(self).update(fields)
        yield
        vars(self).update(before)

    def at(self, span: Span | None) -> AbstractContextManager[None]:
        """Lines come from this place in the program."""
        return self.having(span=span)

    @contextmanager
    def knowing(self, names: Collection[str]) -> Iterator[set[str]]:
        """These variables are set as well, and those that are added to what is yielded by `define`."""
        new = {*names} - self.defined
        self.defined |= new
        yield new
        self.defined -= new

    def define(self, names: Collection[str], scope: set[str]) -> None:
        """These variables are set from here to the end of a scope, that of `knowing`."""
        new = {*names} - self.defined
        self.defined |= new
        scope |= new

    def bind(self, name: str, binding: Binding) -> str:
        """The text that calls a function: `lib.name`, with a number where the name is taken by another."""
        word = "each" if binding.outer else binding.mode
        base = f"{name}_{word}" if word in ("each", "rows", "products") else name
        taken, k = base, 1
        while taken in OWN_NAMES or self.bindings.setdefault(taken, binding) != binding:
            k += 1
            taken = f"{base}_{k}"
        return f"lib.{taken}"

    def temporary(self, hint: str = "part") -> str:
        """A name of a value or a function inside the function being written."""
        self.temporaries += 1
        return f"{hint}_{self.temporaries}__"
