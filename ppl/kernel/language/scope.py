"""Names and where they are visible."""

from enum import Enum, IntEnum
from typing import Literal

from ppl.kernel.language import ast
from ppl.records import dataclass, field
from ppl.source import Span
from ppl.types import Type


class AdLevel(IntEnum):
    """Whether a value is known before the first gradient."""

    DATA = 0
    PARAMETER = 1


class BlockName(Enum):
    """The block of the program that code stands in, by its name there."""

    FUNCTIONS = "functions"
    DATA = "data"
    TRANSFORMED_DATA = "transformed data"
    PARAMETERS = "parameters"
    TRANSFORMED_PARAMETERS = "transformed parameters"
    MODEL = "model"
    GENERATED_QUANTITIES = "generated quantities"


def blocks_of(p: ast.Program) -> dict[BlockName, tuple[ast.Statement, ...]]:
    """The statements of each block but that of functions, in the order of the program."""
    return {block: getattr(p, block.name.lower()) for block in BlockName if block is not BlockName.FUNCTIONS}


BindingKind = Literal["variable", "loop", "argument"]
Binder = ast.Declaration | ast.For | ast.ForEach | ast.Argument
"""Nodes that bind a name to a variable."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """A variable, compared by identity; `type` is None when its declaration was itself refused."""

    name: str
    type: Type | None
    level: AdLevel
    block: BlockName
    kind: BindingKind
    span: Span


@dataclass(frozen=True, eq=False)
class UserFunction:
    """One overload of a function the program defines; compared by identity, as calls refer to it."""

    definition: ast.FunctionDef
    name: str
    args: tuple[Type, ...]
    data_only: tuple[bool, ...]
    returns: Type

    @property
    def data_positions(self) -> tuple[int, ...]:
        """The arguments that must be data, from 0."""
        return tuple(k for k, data_only in enumerate(self.data_only) if data_only)


@dataclass
class Scope:
    """Nested frames of symbols, innermost last, and the program's functions."""

    frames: list[dict[str, Symbol]] = field(default_factory=lambda: [{}])
    functions: dict[str, list[UserFunction]] = field(default_factory=dict)

    def find(self, name: str) -> Symbol | None:
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return None

    def visible(self) -> list[str]:
        return [name for frame in self.frames for name in frame]
