"""The fixes of what `ppl doctor` finds, each tried on the data before it is applied."""

from collections.abc import Collection
from typing import NamedTuple

from ppl.cli.examined import examined
from ppl.cli.fixes import FixedProgram
from ppl.data import Inputs
from ppl.errors import PPLError
from ppl.methods.diagnose.level import Level
from ppl.records import dataclass
from ppl.results.doctor.doctor import PRIORS, Examination, tier
from ppl.results.doctor.finding import Finding
from ppl.results.files.read_csv import DrawsFile
from ppl.source import SourceText

MOST_STEPS = 4
"""Changes that are made one after the other until a finding is gone."""
AGAIN = "the changed program has the finding, too"
SKIPPED = "--codes omits it"
LATER = "its change leaves {}, which may be its cause; --codes {} changes it all the same"


class Examined(NamedTuple):
    """A program, what `ppl doctor` finds in it, and the findings whose changes it has."""

    source: SourceText
    found: Examination
    applied: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Trials:
    """How changes are tried: the data, a seed, and the codes to fix, all if there are none."""

    inputs: Inputs
    codes: Collection[str]
    seed: int

    def fixable(self, program: Examined) -> list[Finding]:
        """The findings that have a fix, of a code that was not fixed before."""
        fixed = {f.code for f in program.applied}
        some = (f for f in program.found.findings if f.fixes and f.code not in fixed)
        return [f for f in some if not self.codes or f.code in self.codes]

    def causes(self, program: Examined, f: Finding) -> set[str]:
        """The codes of findings that may be the cause of another; those of priors are of one another."""
        others = (g for g in program.found.findings if not self.codes)
        return {g.code for g in others if tier(g) < tier(f) or {f.code, g.code} <= set(PRIORS)}

    def changed(self, program: Examined, f: Finding) -> Examined:
        """The program with the change of a finding."""
        source = f.fixed_source
        assert source is not None
        return Examined(source, examined(source, self.inputs, self.seed), (*program.applied, f))

    def without(self, program: Examined, f: Finding) -> Examined | str:
        """The program changed until it has neither a finding nor its causes; why that does not serve.

        The changed program may have the finding of another column, or of a prior that is too narrow still.
        """
        gone, now, step = {f.code, *self.causes(program, f)}, program, f
        for _ in range(MOST_STEPS):
            try:
                now = self.changed(now, step)
            except PPLError as error:
                return f"the changed program fails: {getattr(error, 'message', error)}".rstrip(".")
            if now.found.level is Level.POOR:
                return "the fit of the changed program is poor"
            left = gone & {g.code for g in now.found.findings}
            if not left:
                return now
            known = {subject(g) for g in now.applied if g.code not in PRIORS}
            others = (g for g in now.found.findings if g.code == f.code and g.fixes)
            again = next((g for g in others if subject(g) not in known), None)
            if again is None:
                break
            step = again
        return AGAIN if f.code in left else LATER.format(", ".join(sorted(left)), f.code)

    def best(self, program: Examined) -> tuple[Examined | None, dict[str, str]]:
        """The program with one finding fixed, and why others were not: a fix that leaves nothing to fix comes
        first, then that of the first finding.
        """
        first, refused = None, dict[str, str]()
        for f in self.fixable(program):
            tried = self.without(program, f)
            if isinstance(tried, str):
                refused[f.code] = tried
            elif not self.fixable(tried):
                return tried, refused
            else:
                first = first or tried
        return first, refused


def subject(f: Finding) -> tuple[str, str]:
    """The subject of a finding: a statistic, and the variable whose statement changes."""
    return f.reference.label, f.change.subject if f.change else ""


def fixed_with(
    program: FixedProgram, inputs: Inputs, codes: Collection[str], seed: int, run: DrawsFile | None = None
) -> FixedProgram:
    """The program with the fix of each finding that removes it, of `codes` alone where some are given.

    The first examination is at the draws of `run`, else of a fit. After each fix the program is fitted and
    examined again. Without `codes` a fix has to remove the findings that may be the cause of its own, too.

    Raises:
        PPLError: the program as it is cannot be fitted to the data.
    """
    trials = Trials(inputs, codes, seed)
    now = Examined(program.source, examined(program.source, inputs, seed, run))
    better, refused = trials.best(now)
    while better:
        now = better
        better, refused = trials.best(now)
    applied = {subject(f): f for f in now.applied}
    otherwise = SKIPPED if codes else AGAIN
    left = [
        f"{f.span.place}: {f.code}: not changed: {refused.get(f.code) or f.no_fix or otherwise}."
        for f in now.found.findings
    ]
    return FixedProgram(
        now.source, (*program.applied, *applied.values()), program.errors, (*now.found.notes, *left)
    )
