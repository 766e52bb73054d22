"""An emitted module, before it is loaded."""

import re
from functools import cached_property

from ppl.kernel.emit.text import Binding
from ppl.kernel.ir.nodes import AtPoints
from ppl.records import dataclass
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

    @cached_property
    def prepare(self) -> tuple[str, dict[str, Binding]]:
        """The text of the module's `prepare`, and the library functions that it calls."""
        text = self.text.partition("def prepare(d):\n")[2].partition("\ndef ")[0]
        called = set(re.findall(r"\blib\.(\w+)", text))
        return text, {name: binding for name, binding in self.bindings.items() if name in called}
