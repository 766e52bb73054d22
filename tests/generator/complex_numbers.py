"""Random expressions of complex numbers, made of real ones, and the real numbers that are made of them.

No variable of the data and no parameter is complex; locals are.  What jumps across a branch cut is called
above it, and no modulus is taken of what may be zero.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from generator.choices import Choices
from generator.shapes import CORE, INT, REAL, Scope, Shape

from ppl.stdlib.functions.table import FUNCTIONS
from ppl.stdlib.signatures import Pattern, parse_signature
from ppl.types import VOID, Tuple

if TYPE_CHECKING:
    from generator.expressions import Expressions

COMPLEX = Shape("complex")
OF_COMPLEX = re.compile(r"\bC\b|complex")
"""What the signatures of complex numbers have."""
ENTIRE = ("exp", "sin", "cos", "sinh", "cosh", "tan", "tanh")
"""Functions without branch cuts, of numbers that are not large."""
CUT = ("log", "log10", "sqrt", "asin", "acos", "atan", "asinh", "acosh", "atanh", "arg", "proj")
"""Functions with branch cuts or poles, all of them below the numbers that they are given."""
LEFT_OUT = frozenset(
    # not functions of their argument at ties, or with a factor left open; need arguments of one form
    "eigenvalues_sym eigenvectors_sym eigendecompose_sym singular_values svd_U svd_V svd eigenvalues "
    "eigenvectors eigendecompose complex_schur_decompose complex_schur_decompose_u "
    "complex_schur_decompose_t logical_eq logical_neq to_matrix mdivide_right pow divide elt_divide".split()
)
CALLABLE = [
    (f.name, o.signature)
    for f in FUNCTIONS
    if f.name not in {*LEFT_OUT, *ENTIRE, *CUT}
    for o in f.overloads
    if OF_COMPLEX.search(o.signature) and "array[,," not in o.signature
]


class Complexes:
    """Beside `Expressions` of reals."""

    def __init__(self, e: "Expressions"):
        self.e = e

    @property
    def c(self) -> Choices:
        return self.e.world.choices

    def make(self, s: Scope, t: Shape, depth: int) -> str:
        """A complex number, or a container of such."""
        if depth <= 0 or self.c.chance(0.2):
            return self.leaf(s, t)
        options: list[tuple[float, Callable[[], str]]] = [(1.0, lambda: self.of_parts(s, t, depth - 1))]
        if t.dims == 0:
            options += [(3.0, lambda: self.arithmetic(s, t, depth)), (2.0, lambda: self.call(s, t, depth))]
        return self.c.weighted(options)()

    def leaf(self, s: Scope, t: Shape) -> str:
        found = [text for v in s.variables for shape, text in self.e.reads(s, v) if shape == t]
        return self.c.one(found)() if found and self.c.chance(0.8) else self.of_parts(s, t, 0)

    def of_parts(self, s: Scope, t: Shape, depth: int) -> str:
        if t == COMPLEX and self.c.chance(0.15):
            return self.c.one(["2i", "(1.5 - 0.5i)", "(-0.3i)"])
        real = Shape(t.base.removeprefix("complex_").replace("complex", "real"), t.sizes)
        return f"to_complex({self.e.make(s, real, depth)}, {self.e.make(s, real, depth)})"

    def arithmetic(self, s: Scope, t: Shape, depth: int) -> str:
        d = depth - 1
        same = lambda: self.make(s, t, d)  # noqa: E731
        away = lambda: f"to_complex({self.e.suited(s, REAL, 'bounded', d)}, 1.5)"  # noqa: E731
        options: list[tuple[float, Callable[[], str]]] = [
            (2.0, lambda: f"({same()} {self.c.one(['+', '-'])} {same()})"),
            (1.0, lambda: f"({same()} {self.c.one(['+', '-'])} {self.one(s, d)})"),
            (1.5, lambda: f"({self.one(s, d)} * {same()})"),
            (1.0, lambda: f"({same()} / {away()})"),
            (0.5, lambda: f"(-{same()})"),
        ]
        if t == COMPLEX:
            cut = f"to_complex({self.e.make(s, REAL, d)}, {self.e.suited(s, REAL, 'above_one', 0)})"
            bound = [self.e.suited(s, REAL, "bounded", d) for _ in range(2)]
            options += [
                (1.5, lambda: f"{self.c.one([n for n in CUT if n != 'arg'])}({cut})"),
                (1.5, lambda: f"{self.c.one(ENTIRE)}(to_complex({', '.join(bound)}))"),
                (0.4, lambda: f"({cut} ^ {self.e.suited(s, REAL, 'bounded', 0)})"),
                (0.5, lambda: f"({self.e.condition(s)} ? {same()} : {same()})"),
            ]
        else:
            options.append((0.7, lambda: f"({same()} .* {same()})"))
        return self.c.weighted(options)()

    def one(self, s: Scope, depth: int) -> str:
        """A number, real or complex."""
        return (
            self.make(s, COMPLEX, depth) if self.c.chance(0.6) else self.e.suited(s, REAL, "bounded", depth)
        )

    def call(self, s: Scope, t: Shape, depth: int) -> str:
        """Of a function of the library that gives the type."""
        size = self.e.some_size(s)
        fitting = [(n, g) for n, g in CALLABLE if shape_of(parse_signature(g).result, size) == t]
        if t.sizes:
            square = len(set(t.sizes)) == 1
            fitting = [(n, g) for n, g in CALLABLE if square and of_result(g, t.sizes[0]) == t]
            size = t.sizes[0]
        fitting = [(n, g) for n, g in fitting if n not in RESIZING or t == COMPLEX]
        return self.called(s, *self.c.one(fitting), size, depth) if fitting else self.leaf(s, t)

    def called(self, s: Scope, name: str, signature: str, size: str, depth: int) -> str:
        shapes = [shape_of(p, size) or REAL for p in parse_signature(signature).args]
        args = [
            (self.e.index(s, size) if name not in COUNTING else size)
            if t == INT
            else self.e.make(s, t, min(depth - 1, 1))
            for t in shapes
        ]
        if name in PARTS:  # from the first entry to the last
            ints = [k for k, t in enumerate(shapes) if t == INT]
            for k, text in zip(ints, PARTS[name], strict=True):
                args[k] = text or size
        return f"{name}({', '.join(args)})"

    # --- Real numbers ---

    def real(self, s: Scope, depth: int) -> str:
        """A real number made of complex ones."""
        size = self.e.some_size(s)
        kind = self.c.one(["complex", "complex", "complex_vector", "complex_row_vector", "complex_matrix"])
        t = Shape(kind, (size,) * CORE[kind])
        x = self.make(s, t, depth)
        if t == COMPLEX:
            away = f"to_complex({self.e.make(s, REAL, depth - 1)}, {self.e.suited(s, REAL, 'above_one', 0)})"
            return self.c.one(
                [f"get_real({x})", f"get_imag({x})", f"norm({x})", f"abs({away})", f"arg({away})"]
            )
        inner = self.c.one(
            ["sum", "sum", "dot_self", "trace"] if kind == "complex_matrix" else ["sum", "dot_self"]
        )
        if kind == "complex_matrix" and inner == "dot_self":
            inner = "sum"
        part = self.c.one(["get_real", "get_imag"])
        return self.c.one([f"{part}({inner}({x}))", f"sum({part}({x}))", f"norm(sum({x}))"])


PARTS = {
    "block": ("1", "1", "", ""),
    "sub_row": ("1", "1", ""),
    "sub_col": ("1", "1", ""),
    "segment": ("1", ""),
}
"""The whole of what these take a part of; "" is its size."""
COUNTING = ("rep_vector", "rep_row_vector", "rep_matrix")
RESIZING = frozenset(
    "head tail append_row append_col rep_matrix to_vector to_row_vector to_array_1d to_array_2d "
    "diagonal".split()
)
"""Functions whose result is of another size than their arguments, or may be."""


def shape_of(p: Pattern, size: str) -> Shape | None:
    """The type that a pattern stands for, of complex numbers where it stands for any."""
    if p.base == "C":
        return COMPLEX
    if isinstance(p.base, str):
        return REAL
    if isinstance(p.base, Tuple):
        return None
    base = "complex" if p.base == VOID else str(p.base)
    return Shape(base, (size,) * (p.dims + CORE[base]))


def of_result(signature: str, size: str) -> Shape | None:
    return shape_of(parse_signature(signature).result, size)
