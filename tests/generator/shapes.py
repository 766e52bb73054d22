"""Types with their sizes, and what is in scope while a program is made."""

from typing import Literal

from ppl.records import dataclass, field, replace

Base = Literal[
    "int",
    "real",
    "vector",
    "row_vector",
    "matrix",
    "complex",
    "complex_vector",
    "complex_row_vector",
    "complex_matrix",
]
CORE = {"int": 0, "real": 0, "vector": 1, "row_vector": 1, "matrix": 2}
CORE |= {"complex": 0, "complex_vector": 1, "complex_row_vector": 1, "complex_matrix": 2}
"""How many axes one value of each has."""


@dataclass(frozen=True)
class Shape:
    """`sizes` are texts, the array axes first: array[N] vector[K] is ("vector", ("N", "K"))."""

    base: Base
    sizes: tuple[str, ...] = ()

    @property
    def dims(self) -> int:
        return len(self.sizes) - CORE[self.base]

    @property
    def declared(self) -> str:
        """As a declaration has it."""
        return self.constrained("")

    def constrained(self, bounds: str, keyword: str = "", sizes: tuple[str, ...] | None = None) -> str:
        array = f"array[{', '.join(self.sizes[: self.dims])}] " if self.dims else ""
        own = self.sizes[self.dims :] if sizes is None else sizes
        return f"{array}{keyword or self.base}{bounds}{'[' + ', '.join(own) + ']' if own else ''}"

    @property
    def is_complex(self) -> bool:
        return self.base.startswith("complex")

    @property
    def unsized(self) -> str:
        """As a function's argument has it."""
        return f"array[{',' * (self.dims - 1)}] {self.base}" if self.dims else self.base


INT, REAL = Shape("int"), Shape("real")


def vector(n: str) -> Shape:
    return Shape("vector", (n,))


def row_vector(n: str) -> Shape:
    return Shape("row_vector", (n,))


def matrix(rows: str, cols: str) -> Shape:
    return Shape("matrix", (rows, cols))


@dataclass(frozen=True)
class Variable:
    """`support` is a name of stdlib/supports, or "index:N" for ints within 1..N."""

    name: str
    shape: Shape
    support: str = "real"
    writable: bool = False


@dataclass
class Scope:
    """What may be read; `indices` are ints within 1..size, by size; `loops` is how deep in loops."""

    variables: list[Variable] = field(default_factory=list)
    indices: dict[str, list[str]] = field(default_factory=dict)
    ints: list[str] = field(default_factory=list)
    counters: tuple[str, ...] = ()
    """The variables of the loops around."""
    loops: int = 0
    closed: bool = False
    """No new data or parameters may be declared for it: the body of a function."""

    def counter(self) -> str:
        """A name for the variable of one more loop, which is one."""
        name = next(n for n in ("i", "j", "k", "h", "g", "f", "e", "d") if n not in self.counters)
        self.counters = (*self.counters, name)
        self.loops += 1
        return name

    def inner(self) -> "Scope":
        return replace(
            self,
            variables=list(self.variables),
            indices={k: list(v) for k, v in self.indices.items()},
            ints=list(self.ints),
        )
