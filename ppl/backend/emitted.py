"""An emitted module, before it is loaded."""

from dataclasses import dataclass

from ppl.backend.text import Binding
from ppl.ir.nodes import AtPoints
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
