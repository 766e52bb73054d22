"""The fixes that errors and warnings of a program propose, applied to its text one after the other."""

import difflib
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ppl.cli.lsp.analysis import Analysis, analysis
from ppl.errors import Fix, ModelError
from ppl.kernel.language.include import with_fixes
from ppl.programs.lints import Lint
from ppl.source import SourceText

MOST_FIXES = 200
"""Fixes of one program that are tried."""


class FixedProgram(NamedTuple):
    """A program after its fixes: its text, what proposed those that were applied, and the errors left.

    `left` are lines on findings that were not fixed, with the reason.
    """

    source: SourceText
    applied: tuple[ModelError | Lint, ...]
    errors: tuple[ModelError, ...]
    left: tuple[str, ...] = ()


def fixed(source: SourceText, codes: Collection[str] = ()) -> FixedProgram:
    """The program with every fix applied that a message proposes, of `codes` alone where some are given.

    The fix of a warning is left out where the program has an error with it; those in included files are, too.
    """
    current, applied, tried = analysis(source), list[ModelError | Lint](), {source.text}
    while len(tried) <= MOST_FIXES:
        untried = (
            (each, text)
            for each, fix in proposals(current, codes)
            if (text := with_fixes(current.source.text, [fix])) not in tried
        )
        each, text = next(untried, (None, ""))
        if each is None:
            break
        tried.add(text)
        other = analysis(SourceText(text, source.name))
        if current.errors or not other.errors:
            current = other
            applied.append(each)
    return FixedProgram(current.source, tuple(applied), current.errors)


def proposals(analysed: Analysis, codes: Collection[str] = ()) -> Iterator[tuple[ModelError | Lint, Fix]]:
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
