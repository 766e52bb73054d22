"""A finding: what is wrong between model and data, where, and what to write."""

from typing import NamedTuple

from ppl.errors import Fix
from ppl.floats import Floats
from ppl.kernel.language.include import with_fixes
from ppl.programs.lints import Lint
from ppl.records import dataclass, field
from ppl.results.doctor.change import NO_FIX, Change, Rescaling
from ppl.source import SourceText


class Reference(NamedTuple):
    """A picture's content: a distribution (n,), most often of a statistic over replications, and a value."""

    label: str
    observed: float
    replicated: Floats


@dataclass(frozen=True, eq=False)
class Finding(Lint):
    """A warning about a program with its data: `span` is the statement to change, `hint` what to write.

    `p` is the probability of data as extreme under the model, for all hypotheses of the check; 0 if the
    finding is no matter of chance. `reference` is what its picture shows. `change` is what `hint` says, for
    `ppl fix`; None if it is left to you.

    Example:
        >>> fit.doctor().findings
        ()
    """

    p: float = 0.0
    reference: Reference = field(repr=False, kw_only=True)
    change: Change | Rescaling | None = field(default=None, repr=False)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """The changes of the text, which belong together; none if the change is left to you."""
        return self.change.edits[0] if self.change else ()

    @property
    def fixed_source(self) -> SourceText | None:
        """The program after its `fixes`; None if there are none."""
        if not self.fixes:
            return None
        source: SourceText = self.fixes[0].span.source  # that of `span` may be an included file
        return SourceText(with_fixes(source.text, self.fixes), source.name)

    @property
    def no_fix(self) -> str:
        """Why there are no `fixes`."""
        return self.change.edits[1] if self.change else NO_FIX
