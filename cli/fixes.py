"""The fixes that errors and warnings of a program propose, applied to its text one after the other."""

import difflib
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ppl.cli.lsp.analysis import Analysis, analysis
from ppl.errors import Fix, ModelError
from ppl.kernel.language.include import with_fixes
from ppl.programs.lints import Lint
from ppl.records import dataclass, field
from ppl.source import SourceText

MOST_TRIED = 200
"""Texts of one program that are checked."""

Finding = ModelError | Lint
Proposal = tuple[Finding, Fix]


class FixedProgram(NamedTuple):
    """A program after its fixes: its text, what proposed those that were applied, and the errors left.

    `left` are lines on findings that were not fixed, with the reason.
    """

    source: SourceText
    applied: tuple[Finding, ...]
    errors: tuple[ModelError, ...]
    left: tuple[str, ...] = ()


def fixed(source: SourceText, codes: Collection[str] = ()) -> FixedProgram:
    """The program with every fix applied that a message proposes, of `codes` alone where some are given.

    The fix of a warning is left out where the program has an error with it; those in included files are, too.
    """
    trial = Trial(analysis(source), {source.text})
    while trial.together(apart(proposals(trial.current, codes))):
        pass
    return FixedProgram(trial.current.source, tuple(trial.applied), trial.current.errors)


@dataclass
class Trial:
    """The program as fixed so far, the texts that were checked, and what proposed the fixes."""

    current: Analysis
    tried: set[str]
    applied: list[Finding] = field(default_factory=list)

    def together(self, batch: list[Proposal]) -> bool:
        """Apply fixes at once; where that is no improvement, the later half, then the earlier one."""
        source = self.current.source
        text = with_fixes(source.text, [fix for _, fix in batch])
        if text not in self.tried and len(self.tried) <= MOST_TRIED:
            self.tried.add(text)
            other = analysis(SourceText(text, source.name))
            if improved(self.current, other, batch):
                self.current = other
                self.applied += [each for each, _ in batch]
                return True
        half = len(batch) // 2  # the places of the earlier half stay as they are
        return half > 0 and any([self.together(batch[half:]), self.together(batch[:half])])


def improved(before: Analysis, after: Analysis, batch: list[Proposal]) -> bool:
    """Whether fixes of warnings leave no error, and fixes of several errors remove as many.

    Errors are counted up to the last one with a fix, for a limited number is reported.
    """
    if not before.errors or len(batch) == 1:
        return bool(before.errors) or not after.errors
    last = max(each.span.line for each, _ in batch)
    added = after.source.text.count("\n") - before.source.text.count("\n")
    return errors_until(after, last + added) <= errors_until(before, last) - len(batch)


def errors_until(analysed: Analysis, line: int) -> int:
    own = analysed.source.name
    return sum(each.span.source.name == own and each.line <= line for each in analysed.errors)


def apart(proposed: Iterable[Proposal]) -> list[Proposal]:
    """Proposals in the order of their places, without those that touch one before them."""
    chosen, end = list[Proposal](), (0, 0)
    for each, fix in sorted(proposed, key=lambda pair: (pair[1].span.line, pair[1].span.column)):
        if (fix.span.line, fix.span.column) > end:
            chosen.append((each, fix))
            end = fix.span.end_line, fix.span.end_column
    return chosen


def proposals(analysed: Analysis, codes: Collection[str] = ()) -> Iterator[Proposal]:
    """Findings that propose a change of the program's own text, errors first, with the change."""
    for each in (*analysed.errors, *analysed.lints):
        own = each.fix is not None and each.fix.span.source.name == analysed.source.name
        if own and each.fix and (not codes or each.code in codes):
            yield each, each.fix


def difference(before: SourceText, after: SourceText) -> str:
    """The unified diff from one text to another, which `patch` reads; "" where they are the same."""
    lines = (each.text.splitlines(keepends=True) for each in (before, after))
    lines_of_diff = difflib.unified_diff(*lines, before.name, after.name)
    whole = (
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines_of_diff
    )
    return "".join(whole)
