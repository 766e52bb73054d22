"""Facts about a program: tables keyed by the nodes of the tree.

The tree with its facts is the typed AST: lowering reads both and decides nothing about types itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ppl.errors import Fix, ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.messages import Message
from ppl.kernel.language.scope import AdLevel, Binder, BindingKind, BlockName, Scope, Symbol, UserFunction
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.stdlib.library import Library, standard
from ppl.stdlib.signatures import Match
from ppl.types import INT, Type, element_type


@dataclass(frozen=True)
class UserMatch:
    """A call of a function that the program defines."""

    function: UserFunction
    returns: Type


ResolvedCall = Match | UserMatch
"""The callee of a resolved call: an overload of the library, or a function of the program."""


@dataclass
class Facts:
    """`types` and `levels` of expressions, `symbols` of variables and declarations, `calls` for everything
    that calls a function: Call, Binary, Unary, Transpose, Tilde and compound Assignment, and the name of a
    log likelihood that is given to a Laplace function; `cumulative` for the bounds of truncations; `library`
    is what the program may call."""

    library: Library = field(default_factory=standard)
    types: dict[ast.Expr, Type] = field(default_factory=dict)
    levels: dict[ast.Expr, AdLevel] = field(default_factory=dict)
    symbols: dict[ast.Node, Symbol] = field(default_factory=dict)
    calls: dict[ast.Node, ResolvedCall] = field(default_factory=dict)
    cumulative: dict[ast.Expr, ResolvedCall] = field(default_factory=dict)
    functions: dict[ast.FunctionDef, UserFunction] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckContext:
    """Where the code being checked stands, and so what it may do."""

    block: BlockName
    suffix: str = ""
    returns: Type | None = None
    in_loop: bool = False

    @property
    def may_use_target(self) -> bool:
        return self.block is BlockName.MODEL or self.suffix == "lp"

    @property
    def may_call_target(self) -> bool:
        """Functions ending in _lp and `target()`: Stan has them in transformed parameters too."""
        return self.may_use_target or self.block is BlockName.TRANSFORMED_PARAMETERS

    @property
    def may_use_jacobian(self) -> bool:
        return self.block is BlockName.TRANSFORMED_PARAMETERS or self.suffix == "jacobian"

    @property
    def may_draw(self) -> bool:
        return (
            self.block in (BlockName.TRANSFORMED_DATA, BlockName.GENERATED_QUANTITIES) or self.suffix == "rng"
        )

    @property
    def may_drop_constants(self) -> bool:
        return self.block is BlockName.MODEL or self.suffix in ("lpdf", "lpmf")

    @property
    def local_level(self) -> AdLevel:
        """The level of a local real: what is computed in a model may depend on parameters."""
        free = (BlockName.DATA, BlockName.TRANSFORMED_DATA, BlockName.GENERATED_QUANTITIES)
        return AdLevel.DATA if self.block in free else AdLevel.PARAMETER


class AlreadyReported(Exception):
    """Raised where an error would only repeat an earlier one."""


class Reporting(NamedTuple):
    """A context whose errors are collected; a generator would take three times as long, at every operand."""

    errors: list[ModelError]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if isinstance(error, ModelError):
            self.errors.append(error)
        return isinstance(error, ModelError | AlreadyReported)


@dataclass
class Check:
    """The state of one check: scope, facts so far, errors so far, and the present context."""

    context: CheckContext
    program: ast.Program
    scope: Scope = field(default_factory=Scope)
    facts: Facts = field(default_factory=Facts)
    errors: list[ModelError] = field(default_factory=list)
    later: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Global names and where they will be declared, to explain a use that comes too early."""
    ahead: dict[str, int] = field(default_factory=dict)
    """The same for local names of the blocks that are being checked: the lines of their declarations."""
    lost: set[str] = field(default_factory=set)
    """Words that an error has been reported about already: a name among them that is not known is no news."""

    def refuse(self, message: Message, span: Span, mended: Span | None = None) -> ModelError:
        """The error; the message's replacement takes the place of `mended`, or of what it is about."""
        at = mended or span
        fix = None if message.replacement is None else Fix(at, message.replacement.replace("...", at.text))
        return ModelError(message.text, span, message.hint, message.code, fix)

    def refuse_once(self, name: str) -> None:
        """To be called before an unknown name is refused: each is refused once."""
        if name in self.lost:
            raise AlreadyReported
        self.lost.add(name)

    def reporting(self) -> "Reporting":
        """Go on after an error at the next statement."""
        return Reporting(self.errors)

    @contextmanager
    def within(self, **changes: object) -> Iterator[None]:
        """Check under a changed context."""
        before = self.context
        self.context = replace(before, **changes)  # type: ignore[arg-type]
        try:
            yield
        finally:
            self.context = before

    @contextmanager
    def frame(self) -> Iterator[None]:
        self.scope.frames.append({})
        try:
            yield
        finally:
            self.scope.frames.pop()

    def declare(
        self, at: Binder, name: str, t: Type | None, kind: BindingKind, data_only: bool = False
    ) -> None:
        """Declare a variable in the present frame; ints are data but those of the parameters block."""
        block = self.context.block
        known = data_only or (t is not None and element_type(t) == INT and block is not BlockName.PARAMETERS)
        level = AdLevel.DATA if known else self.context.local_level
        symbol = Symbol(name, t, level, block, kind, at.name_span)
        self.scope.frames[-1][name] = self.facts.symbols[at] = symbol
