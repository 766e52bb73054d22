"""The resolved program: every name decided, every overload chosen, every promotion explicit.

What a value varies over stands in its type: one for each iteration of a loop that became arrays has the
type `T over n`, where n names the index set of the loop, and with an axis of the draws `T over draw__, n`.
No flag of a node repeats it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Union

from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.stdlib.record import Distribution, Impl, LeadingAxis
from ppl.types import INT, Type, axes_of, entry, rank

DRAW = "draw__"
"""The axis of the draws."""

DataIf = frozenset[str] | None
"""The arguments of the enclosing function that must be data for a value to be data; None if it never is."""


def union(*axes: tuple[str, ...]) -> tuple[str, ...]:
    """All axes of several values, in an order that each of them keeps."""
    out: list[str] = []
    rest = [each for each in axes if each]
    while rest:
        first = next(each[0] for each in rest if not any(each[0] in other[1:] for other in rest))
        out.append(first)
        rest = [left for each in rest if (left := each[1:] if each[0] == first else each)]
    return tuple(out)


def loops_of(t: Type) -> tuple[str, ...]:
    """The axes of a value, except that of the draws."""
    return tuple(axis for axis in axes_of(t) if axis != DRAW)


# --- Expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Const:
    """An int, a float or a complex number, as `type` says."""

    value: Any
    type: Type


@dataclass(frozen=True)
class Var:
    name: str
    type: Type


@dataclass(frozen=True)
class Callee:
    """A function of the standard library, one overload: `name` is what the program called.

    Densities are summed, and cdfs multiplied, over what they return for each element: `reduce`.
    """

    name: str
    impl: Impl = field(repr=False)
    batch: LeadingAxis
    reduce: Literal["", "sum", "prod"] = ""
    implicit: Literal["", "rng", "jacobian"] = ""
    """The implicit first argument: the rng, or the list to which it adds its log-Jacobian."""
    family: Distribution | None = field(default=None, compare=False, repr=False)
    compares: bool = field(default=False, compare=False, repr=False)
    """Whether it compares the sizes of its arguments when it runs: data do not tell that they match."""
    rejects: bool = field(default=False, compare=False, repr=False)
    """Whether it rejects a point at which it is nan."""

    @property
    def cores(self) -> tuple[int, ...]:
        """Those that a density names for its own arguments, which those of its rng are not."""
        return self.family.cores if self.family is not None and self.implicit != "rng" else ()


@dataclass(frozen=True)
class Apply:
    """A call of the standard library, once for each entry along the axes of its arguments.

    The result has these axes, except those that a reduction sums over. A callee of batch "whole" takes its
    arguments with all their axes.
    """

    callee: Callee
    args: tuple["Expr", ...]
    type: Type
    data_if: tuple[DataIf, ...] | None = None
    """Of a density that drops constants under `propto`: when each argument is data. None of other calls."""

    @property
    def axes(self) -> tuple[str, ...]:
        """All axes that the call varies over: those of the result, then those that it reduces."""
        if self.callee.batch == "whole":
            return ()
        return union(axes_of(self.type), *(axes_of(a.type) for a in self.args))

    @property
    def ranks(self) -> tuple[int, ...]:
        """Axes of each argument at one place."""
        return tuple(rank(entry(a.type)) for a in self.args)


@dataclass(frozen=True)
class CallUser:
    """A call of a function of the program, by its emitted name.

    `batch` says how it takes the axes of its arguments: "whole" as they are, "none" in a call for each entry,
    and "shards" (`map_rect`) in one for each element of the arrays after the first argument; these it joins.
    """

    name: str
    args: tuple["Expr", ...]
    type: Type
    implicit: tuple[str, ...] = ()
    """Implicit arguments of the function: "target", "jacobian", "rng"."""
    batch: Literal["whole", "none", "shards"] = "whole"
    data_if: tuple[DataIf, ...] | None = None
    """As of Apply, for the densities in the function; () if it takes no argument."""


@dataclass(frozen=True)
class Solve:
    """A differential or algebraic equation, an integral or a marginal, given by a function of the program.

    `args` are the arguments of the function at the start; for Laplace's functions, the covariance of theta in
    place of theta. `settings` are those of the solver.
    """

    solver: str
    function: str
    args: tuple["Expr", ...]
    settings: tuple["Expr", ...]
    type: Type
    points: int = 1
    """How many first arguments of the function are the point, which the solver chooses."""


@dataclass(frozen=True)
class Logical:
    """`&&` and `||`: the right side is evaluated only if needed."""

    op: Literal["and", "or"]
    left: "Expr"
    right: "Expr"
    type: Type


@dataclass(frozen=True)
class Select:
    """`c ? a : b`."""

    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"
    type: Type


@dataclass(frozen=True)
class At:
    """One entry (the axis goes), or with an array of ints several (it stays)."""

    index: "Expr"


@dataclass(frozen=True)
class Between:
    """Entries lower to upper, both included; None is the end of the axis."""

    lower: "Expr | None"
    upper: "Expr | None"

    @property
    def is_closed(self) -> bool:
        """Whether both ends are said."""
        return self.lower is not None and self.upper is not None

    @property
    def ends(self) -> "tuple[Expr, Expr]":
        """The first and the last index, of one that says both."""
        assert self.lower is not None and self.upper is not None
        return self.lower, self.upper


IndexItem = Union[At, Between]


def drops_axis(item: IndexItem) -> bool:
    """Whether it is an index of one entry."""
    return isinstance(item, At) and item.index.type == INT


@dataclass(frozen=True)
class Index:
    base: "Expr"
    items: tuple[IndexItem, ...]
    type: Type


@dataclass(frozen=True)
class Gather:
    """An Index for each entry along the axes of the base and of the indices.

    `picks` has an index for each axis of the base; None takes the entry at the same position.
    """

    base: "Expr"
    picks: tuple["Expr | None", ...]
    items: tuple[IndexItem, ...]
    type: Type


@dataclass(frozen=True)
class MakeArray:
    """`{a, b}`, and `[a, b]` for row vectors and matrices."""

    items: tuple["Expr", ...]
    type: Type


@dataclass(frozen=True)
class MakeTuple:
    items: tuple["Expr", ...]
    type: Type


@dataclass(frozen=True)
class Item:
    """Item `number` of a tuple, from 1."""

    base: "Expr"
    number: int
    type: Type


@dataclass(frozen=True)
class Promote:
    """Ints made real, or either complex, as the core of `type` says; within arrays of tuples each item."""

    value: "Expr"
    type: Type


@dataclass(frozen=True)
class TargetSoFar:
    type: Type


@dataclass(frozen=True)
class Text:
    """A string for print and reject."""

    value: str


Call = Apply | CallUser | Solve
Expr = Union[
    Const, Var, Call, Logical, Select, Index, Gather, MakeArray, MakeTuple, Item, Promote, TargetSoFar
]

# --- Statements ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declare:
    """A variable without a value yet: nan where real."""

    name: str
    type: Type
    shape: "DeclaredSizes"
    span: Span = field(repr=False)


@dataclass(frozen=True)
class TupleShape:
    """The shapes of a tuple's items, and the array axes around it."""

    dims: tuple[Expr, ...]
    items: tuple["DeclaredSizes", ...]


DeclaredSizes = Union[tuple[Expr, ...], TupleShape]


@dataclass(frozen=True)
class Assign:
    """`declares` when this is a declaration with a value, which must have the declared `shape`."""

    name: str
    value: Expr
    span: Span = field(repr=False)
    declares: bool = False
    shape: tuple[Expr, ...] = ()


PathStep = Union[tuple[IndexItem, ...], int]
"""One step of a path into a variable: the indices of one pair of brackets, or a tuple's item."""


@dataclass(frozen=True)
class Update:
    """`name[path] = value`; it `fits` where the sizes are known to be equal."""

    name: str
    path: tuple[PathStep, ...]
    value: Expr
    span: Span = field(repr=False)
    fits: bool = False


@dataclass(frozen=True)
class Scatter:
    """An Update for each entry along the axes of the indices; `type` is that of the variable.

    `picks` has an index for each axis of the variable; None sets the entry at the same position.
    """

    name: str
    picks: tuple[Expr | None, ...]
    items: tuple[IndexItem, ...]
    value: Expr
    type: Type
    span: Span = field(repr=False)
    fits: bool = False


@dataclass(frozen=True)
class Increment:
    """`target += value`, or `jacobian += value`; summed over all its axes except that of the draws."""

    what: Literal["target", "jacobian"]
    value: Expr
    span: Span = field(repr=False)


@dataclass(frozen=True)
class CallVoid:
    call: CallUser
    span: Span = field(repr=False)


@dataclass(frozen=True)
class For:
    variable: str
    lower: Expr
    upper: Expr
    body: "Stmts"
    span: Span = field(repr=False)


@dataclass(frozen=True)
class Scan:
    """A loop that carries state: `after` becomes the values of each state after every step.

    A step reads the state, its own entry of each of `inputs` and the `fixed` variables under their names,
    and leaves the next state in `next`.  `batch` does the same for all steps at once, each of the names
    having one more leading axis: from it come the derivatives.  In loops there is none: each step does much
    already, and derivatives go through the steps.
    """

    after: tuple[str, ...]
    carried: tuple[str, ...]
    start: tuple[Expr, ...]
    inputs: tuple[str, ...]
    entries: tuple[Expr, ...]
    fixed: tuple[Var, ...]
    step: "Stmts"
    next: tuple[Expr, ...]
    batch: "Stmts"
    batch_next: tuple[Expr, ...]
    span: Span = field(repr=False)

    @property
    def outer(self) -> tuple[str, ...]:
        """The axes of its states before that of the steps: of the draws, and of loops around it."""
        return axes_of(self.start[0].type)


@dataclass(frozen=True)
class While:
    condition: Expr
    body: "Stmts"
    span: Span = field(repr=False)


@dataclass(frozen=True)
class If:
    condition: Expr
    then: "Stmts"
    otherwise: "Stmts"
    span: Span = field(repr=False)


@dataclass(frozen=True)
class Profile:
    name: str
    body: "Stmts"
    span: Span = field(repr=False)


@dataclass(frozen=True)
class Return:
    value: Expr | None
    span: Span = field(repr=False)


@dataclass(frozen=True)
class Jump:
    word: Literal["break", "continue"]
    span: Span = field(repr=False)


@dataclass(frozen=True)
class Message:
    """A print, reject or fatal_error statement."""

    what: Literal["print", "reject", "fatal_error"]
    args: tuple[Expr | Text, ...]
    span: Span = field(repr=False)


@dataclass(frozen=True)
class CheckDeclared:
    """The value of a transformed quantity, of every draw, must satisfy its declared constraint."""

    name: str
    declared: "Declared"
    span: Span = field(repr=False)


Setter = Declare | Assign | Update | Scatter
"""Statements that set the variable `name`, or a part of it."""
Loop = For | While
Stmt = Union[Setter, Increment, CallVoid, Loop, Scan, If, Profile, Return, Jump, Message, CheckDeclared]
Stmts = tuple[Stmt, ...]
Change = Callable[[Stmts], Stmts]
BlockChange = Callable[..., Stmts]
"""Of the statements of a block, and by keyword the names of its `outputs`."""

# --- Program -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declared:
    """A global variable: type, constraint and sizes.

    `constraint` is a keyword of stdlib/constraints ("identity" for none) with its arguments; `dims` are
    the array axes, `sizes` the shape of one value.  A tuple has `items` instead, named by position.
    """

    name: str
    type: Type
    constraint: str
    arguments: tuple[Expr, ...]
    dims: tuple[Expr, ...]
    sizes: tuple[Expr, ...]
    span: Span = field(repr=False)
    items: tuple["Declared", ...] = ()

    @property
    def allows_all(self) -> bool:
        """Whether every value of the type satisfies the constraint."""
        return self.constraint in ("identity", "complex", "offset_multiplier")


@dataclass(frozen=True)
class Function:
    name: str
    args: tuple[str, ...]
    gets: tuple[str, ...]
    body: Stmts
    span: Span = field(repr=False)


@dataclass(frozen=True)
class AtPoints:
    """A function that solvers work on: that for many points at once, and which of its arguments vary."""

    name: str
    lifted_name: str
    varies: tuple[bool, ...]


@dataclass(frozen=True)
class Program:
    """`prepared` holds what passes have moved out of the gradient: data-only assignments, in order."""

    functions: tuple[Function, ...]
    data: tuple[Declared, ...]
    transformed_data: Stmts
    parameters: tuple[Declared, ...]
    transformed_parameters: Stmts
    model: Stmts
    generated_quantities: Stmts
    transformed_data_names: tuple[Declared, ...]
    transformed_parameter_names: tuple[Declared, ...]
    generated_names: tuple[Declared, ...]
    prepared: Stmts = ()
    row_axes: tuple[tuple[str, int], ...] = ()
    """Parameters with one entry a row, and the axis along which `d.rows` picks some."""
    extra_data: tuple[str, ...] = ()
    """Further names that `d` holds."""
    at_points: tuple[AtPoints, ...] = ()
    """The functions that solvers work on."""
    packs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Scalar parameters of one constraint that the log joint has as one list, and the name of that."""

    @property
    def data_names(self) -> frozenset[str]:
        """The variables of the data, the transformed included."""
        return frozenset(d.name for d in (*self.data, *self.transformed_data_names))

    @property
    def log_density(self) -> Stmts:
        """The statements of the log density."""
        return (*self.transformed_parameters, *self.model)

    @property
    def types(self) -> dict[str, Type]:
        """Those of parameters and of the variables that blocks after them declare."""
        declared = (*self.parameters, *self.transformed_parameter_names, *self.generated_names)
        return {d.name: d.type for d in declared}

    @property
    def without_generated(self) -> "Program":
        """The program without generated quantities."""
        return replace(self, generated_quantities=(), generated_names=())

    def with_functions(self, change: Change) -> "Program":
        """The program with each body of a function changed."""
        return replace(self, functions=tuple(replace(f, body=change(f.body)) for f in self.functions))

    def with_density(self, change: Change, functions: bool = False) -> "Program":
        """The program with the blocks of its log density changed, and the bodies of functions if so said."""
        p = self.with_functions(change) if functions else self
        variables, model = change(p.transformed_parameters), change(p.model)
        return replace(p, transformed_parameters=variables, model=model)

    def with_bodies(self, change: BlockChange, function: Change, data: bool = False) -> "Program":
        """The program with its blocks changed, transformed data if `data`, and each body of a function.

        A change is also told what the block declares for those after it: these `outputs` stay.
        """

        def changed(body: Stmts, declared: Sequence[Declared] = ()) -> Stmts:
            return change(body, outputs=frozenset(d.name for d in declared))

        p = self.with_functions(function)
        if data:
            p = replace(p, transformed_data=changed(p.transformed_data, p.transformed_data_names))
        return replace(
            p,
            transformed_parameters=changed(p.transformed_parameters, p.transformed_parameter_names),
            model=changed(p.model),
            generated_quantities=changed(p.generated_quantities, p.generated_names),
        )
