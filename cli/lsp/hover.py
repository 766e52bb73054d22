"""The text an editor shows for the word or the expression under the cursor."""

from collections.abc import Iterator, Sequence

from lsprotocol import types

from ppl.cli.commands.explain import page_text
from ppl.cli.lsp.analysis import Analysis
from ppl.cli.lsp.diagnostics import visible_findings
from ppl.cli.lsp.documents import View
from ppl.cli.lsp.pages import as_markdown, page
from ppl.cli.lsp.symbols import Name, declaration, definition, signature
from ppl.kernel.language import ast
from ppl.kernel.language.scope import Symbol, UserFunction
from ppl.kernel.language.walk import walk
from ppl.programs.pages import pages


def hover(views: Sequence[View]) -> types.Hover | None:
    """The text of the first view that knows the place, and the pages of the messages about it."""
    shown = next((text for view in views if (text := known(view))), None)
    parts = [*([shown] if shown else []), *troubles(views[0])]
    if not parts:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)))


def known(view: View) -> str | None:
    """The text on the name there, or on the word, or on the expression around the place."""
    name = view.name
    if name is not None and name.meaning is not None:
        return of_meaning(view.analysis, name)
    if (text := page(view.word)) is not None:
        return as_markdown(text)
    if not view.earlier and (e := expression_at(view)) is not None:
        return f"```stan\n{' '.join(e.span.text.split())}\n```\n{view.analysis.facts.types[e]}"
    return None


def of_meaning(analysed: Analysis, name: Name) -> str:
    """A variable or a function of the program: its declaration, its type and where that stands."""
    declared = definition(analysed.names, name) or name
    match name.meaning:
        case Symbol(kind="loop", type=t, span=span):
            return f"```stan\n{t} {name.text}\n```\nloop variable, line {span.line}"
        case Symbol(kind=kind, type=t, block=block, span=span):
            what = "argument of a function" if kind == "argument" else f"{t}, of the {block.value} block"
            return f"```stan\n{declaration(declared)}\n```\n{what}, line {span.line}"
        case UserFunction(definition=f):
            return f"```stan\n{signature(f)}\n```\nfunction of this program, line {f.span.line}"
        case _:
            return name.text


def expression_at(view: View) -> ast.Expr | None:
    """The innermost expression around a place whose type is known."""
    types_of, inner = view.analysis.facts.types, None
    for node in walk(view.analysis.program):
        in_file = node in types_of and node.span.source.name == view.file
        if in_file and node.span.holds(view.line, view.column):
            inner = node
    return inner  # type: ignore[return-value]


def troubles(view: View) -> Iterator[str]:
    """The pages of the messages about this place."""
    for each in visible_findings(view.analysis, pedantic=False):
        span = each.span
        inside = span.source.name == view.file and span.holds(view.line, view.column)
        if inside and each.code in pages():
            yield as_markdown(page_text(pages()[each.code]))
