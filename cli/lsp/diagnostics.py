"""Errors and warnings as the editor shows them, and the changes that they propose."""

from collections.abc import Iterator

from lsprotocol import types

from ppl.cli.lsp.analysis import Analysis
from ppl.cli.lsp.positions import Positions, uri_of
from ppl.errors import Fix, ModelError
from ppl.programs.lints import Lint

UNUSED = ("PPL002", "PPL003")
"""The codes that editors show faded."""


def diagnostics(
    analysed: Analysis, positions: Positions, pedantic: bool
) -> dict[str, list[types.Diagnostic]]:
    """Those of a program by file: mistakes in what it includes stand there."""
    by_file: dict[str, list[types.Diagnostic]] = {file: [] for file in analysed.files}
    for each in visible_findings(analysed, pedantic):
        by_file.setdefault(each.span.source.name, []).append(diagnostic(each, positions))
    return by_file


def visible_findings(analysed: Analysis, pedantic: bool) -> Iterator[ModelError | Lint]:
    yield from analysed.errors
    yield from (lint for lint in analysed.lints if lint.likely or pedantic)


def diagnostic(each: ModelError | Lint, positions: Positions) -> types.Diagnostic:
    return types.Diagnostic(
        range=positions.range(each.span),
        message="\n".join(filter(None, (each.message, each.hint))),
        severity=severity(each),
        code=each.code,
        source="ppl",
        tags=[types.DiagnosticTag.Unnecessary] if each.code in UNUSED else None,
    )


def severity(each: ModelError | Lint) -> types.DiagnosticSeverity:
    if isinstance(each, ModelError):
        return types.DiagnosticSeverity.Error
    return types.DiagnosticSeverity.Warning if each.likely else types.DiagnosticSeverity.Information


def actions(
    analysed: Analysis, file: str, at: types.Range, positions: Positions, pedantic: bool
) -> list[types.CodeAction]:
    """The fixes of what is wrong in a range; that of a warning is for the user to choose."""
    actions = []
    for each in visible_findings(analysed, pedantic):
        if each.fix is None or each.span.source.name != file:
            continue
        place = positions.range(each.span)
        if overlap(place, at):
            actions.append(
                types.CodeAction(
                    title=each.fix.title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic(each, positions)],
                    is_preferred=isinstance(each, ModelError),
                    edit=workspace_edit([each.fix], positions),
                )
            )
    return actions


def overlap(a: types.Range, b: types.Range) -> bool:
    """Whether two ranges have a place in common, their ends among them."""
    return before(a.start, b.end) and before(b.start, a.end)


def before(a: types.Position, b: types.Position) -> bool:
    return (a.line, a.character) <= (b.line, b.character)


def workspace_edit(fixes: list[Fix], positions: Positions) -> types.WorkspaceEdit:
    """Changes by file."""
    changes: dict[str, list[types.TextEdit]] = {}
    for fix in fixes:
        uri = uri_of(fix.span.source.name)
        changes.setdefault(uri, []).append(types.TextEdit(positions.range(fix.span), fix.text))
    return types.WorkspaceEdit(changes=changes)
