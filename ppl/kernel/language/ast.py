"""The abstract syntax of a program: what was written, nothing inferred.

Nodes are frozen and compared by identity, so a later phase can hang what it learns about a node in a
table keyed by the node (see check.py).  Every node has a span.  A grammar rule `for_each` builds the
class `ForEach`: the builder looks classes up by that law, so grammar and tree cannot drift apart.
"""

from typing import Any, ClassVar, Literal, Union, dataclass_transform

from ppl.records import Field, dataclass, field
from ppl.source import Span


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Record:
    """Makes each class below it a frozen dataclass that is compared by identity."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)


class Node(Record):
    span: Span = field(repr=False)


# --- Expressions ---------------------------------------------------------------------------------


class IntLiteral(Node):
    value: int


class RealLiteral(Node):
    text: str


class ImaginaryLiteral(Node):
    text: str


class StringLiteral(Node):
    """Only print, reject, fatal_error and profile take one."""

    value: str


class Variable(Node):
    name: str


class Call(Node):
    """`f(a, b)`, or `f(a | b, c)` when `bar`."""

    name: str
    args: tuple["Expr", ...]
    bar: bool = False


class Binary(Node):
    """`op` as written: + - * / %/% % \\ .* ./ ^ .^ == != < <= > >= && ||"""

    op: str
    left: "Expr"
    right: "Expr"


class Unary(Node):
    op: Literal["-", "+", "!"]
    operand: "Expr"


class Transpose(Node):
    operand: "Expr"


class Ternary(Node):
    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"


class Indexed(Node):
    """`base[i, j]`; `x[i][j]` is an Indexed of an Indexed."""

    base: "Expr"
    indices: tuple["Index", ...]


class Projection(Node):
    """`t.2`: an item of a tuple, 1-based."""

    base: "Expr"
    item: int


class ArrayLiteral(Node):
    items: tuple["Expr", ...]


class RowVectorLiteral(Node):
    """`[a, b]`: a row vector of reals, or a matrix of row vectors."""

    items: tuple["Expr", ...]


class TupleLiteral(Node):
    items: tuple["Expr", ...]


Expr = Union[
    IntLiteral, RealLiteral, ImaginaryLiteral, StringLiteral, Variable, Call, Binary, Unary, Transpose,
    Ternary, Indexed, Projection, ArrayLiteral, RowVectorLiteral, TupleLiteral,
]  # fmt: skip


# --- Indices -------------------------------------------------------------------------------------


class SingleIndex(Node):
    """`x[e]`; an array-valued `e` picks several entries."""

    value: Expr


class RangeIndex(Node):
    """`x[a:b]`, `x[a:]`, `x[:b]`, `x[:]` and the empty index of `x[, j]`."""

    lower: Expr | None
    upper: Expr | None


Index = Union[SingleIndex, RangeIndex]


# --- Types as written ----------------------------------------------------------------------------


class Bounds(Node):
    """`<lower=a, upper=b>` or `<offset=m, multiplier=s>`; names and values in the order written."""

    items: tuple[tuple[str, Expr], ...]


class SizedType(Node):
    """`array[dims] keyword<bounds>[sizes]`; `keyword` is int, real, vector, simplex, cov_matrix, ..."""

    keyword: str
    bounds: Bounds | None
    sizes: tuple[Expr, ...]
    dims: tuple[Expr, ...] = ()


class SizedTuple(Node):
    """`array[dims] tuple(...)`, which has no bounds and sizes of its own."""

    items: tuple["DeclaredType", ...]
    dims: tuple[Expr, ...] = ()
    keyword: ClassVar[str] = "tuple"
    bounds: ClassVar[None] = None
    sizes: ClassVar[tuple[()]] = ()


DeclaredType = Union[SizedType, SizedTuple]


def limits(t: DeclaredType) -> dict[str, Expr]:
    """The bounds by their words: lower, upper, offset, multiplier."""
    return dict(t.bounds.items) if t.bounds else {}


def all_sizes(t: DeclaredType) -> tuple[Expr, ...]:
    """Of the array axes, then of one value, as written."""
    return (*t.dims, *t.sizes)


class UnsizedType(Node):
    """A type in a function's signature: `array[,] vector`; `items` only for `tuple(...)`."""

    keyword: str
    dims: int = 0
    items: tuple["UnsizedType", ...] = ()


# --- Statements ----------------------------------------------------------------------------------


class Annotation(Node):
    """`@name` or `@name(arguments)` before a declaration or a function: a hint that changes no meaning."""

    text: str


DIMS = "dims("
"""How `@dims(clinic, sex)` begins, which names the factors that index the axes of a variable."""


class Declaration(Node):
    """One name; `real x = 1, y;` is two of these."""

    type: DeclaredType
    name: str
    name_span: Span = field(repr=False)
    value: Expr | None = None
    annotations: tuple[Annotation, ...] = ()


class Assignment(Node):
    """`target op value` with op one of = += -= *= /= .*= ./=; a tuple target destructures."""

    target: Expr
    op: str
    value: Expr


class Truncation(Node):
    lower: Expr | None
    upper: Expr | None


class Tilde(Node):
    """`left ~ distribution(args) T[lower, upper];`"""

    left: Expr
    distribution: str
    name_span: Span = field(repr=False)
    args: tuple[Expr, ...] = ()
    truncation: Truncation | None = None


class TargetIncrement(Node):
    value: Expr


class JacobianIncrement(Node):
    value: Expr


class CallStatement(Node):
    call: Call


class For(Node):
    variable: str
    lower: Expr
    upper: Expr
    body: "Statement"
    name_span: Span = field(repr=False)


class ForEach(Node):
    variable: str
    iterable: Expr
    body: "Statement"
    name_span: Span = field(repr=False)


class While(Node):
    condition: Expr
    body: "Statement"


class If(Node):
    condition: Expr
    then: "Statement"
    otherwise: "Statement | None" = None


class Block(Node):
    statements: tuple["Statement", ...]


class Profile(Node):
    name: str
    statements: tuple["Statement", ...]


class Return(Node):
    value: Expr | None


class Break(Node):
    pass


class Continue(Node):
    pass


class Skip(Node):
    """A lone `;`."""


class Print(Node):
    args: tuple[Expr, ...]


class Reject(Node):
    """`reject(...)`, or `fatal_error(...)` when `fatal`."""

    args: tuple[Expr, ...]
    fatal: bool = False


Statement = Union[
    Declaration, Assignment, Tilde, TargetIncrement, JacobianIncrement, CallStatement, For, ForEach,
    While, If, Block, Profile, Return, Break, Continue, Skip, Print, Reject,
]  # fmt: skip


# --- Program -------------------------------------------------------------------------------------


class Argument(Node):
    type: UnsizedType
    name: str
    name_span: Span = field(repr=False)
    data_only: bool = False


class FunctionDef(Node):
    """`body` is None for a forward declaration."""

    returns: UnsizedType
    name: str
    name_span: Span = field(repr=False)
    args: tuple[Argument, ...] = ()
    body: Block | None = None
    annotations: tuple[Annotation, ...] = ()


class Program(Node):
    """A block that was not written is empty."""

    functions: tuple[FunctionDef, ...] = ()
    data: tuple[Declaration, ...] = ()
    transformed_data: tuple[Statement, ...] = ()
    parameters: tuple[Declaration, ...] = ()
    transformed_parameters: tuple[Statement, ...] = ()
    model: tuple[Statement, ...] = ()
    generated_quantities: tuple[Statement, ...] = ()
