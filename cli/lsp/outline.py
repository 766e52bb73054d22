"""The blocks of a program with what they declare, for the editor's outline."""

import re
from collections.abc import Iterator

from lsprotocol import types

from ppl.cli.lsp.analysis import Analysis
from ppl.cli.lsp.diagnostics import before
from ppl.cli.lsp.positions import Positions
from ppl.cli.lsp.symbols import Name, declaration, frames
from ppl.kernel.language import ast
from ppl.kernel.language.scope import BlockName
from ppl.programs.recovery import closing
from ppl.programs.syntax_rules import BLOCK
from ppl.programs.syntax_stop import blanked

HEAD = re.compile(rf"{BLOCK}\s*\{{")


def blocks(text: str) -> Iterator[tuple[BlockName, int, int, int]]:
    """Each block with the offsets where its name begins and ends and where its closing brace does."""
    code, at = blanked(text), 0
    while (head := HEAD.search(code, at)) is not None:
        at = closing(code, head.end() - 1)
        yield BlockName(" ".join(head["name"].split())), head.start(), head.end("name"), at


def outline(analysed: Analysis, positions: Positions) -> list[types.DocumentSymbol]:
    source, top = analysed.source, top_names(analysed)
    symbols = []
    for block, start, end_of_name, end in blocks(source.text):
        whole = types.Range(positions.at_offset(source, start), positions.at_offset(source, end))
        head = types.Range(whole.start, positions.at_offset(source, end_of_name))
        children = [symbol(name, positions) for name in top if inside(positions.range(name.span), whole)]
        symbols.append(
            types.DocumentSymbol(
                name=block.value,
                kind=types.SymbolKind.Namespace,
                range=whole,
                selection_range=head,
                children=children,
            )
        )
    return symbols


def top_names(analysed: Analysis) -> list[Name]:
    """The names that the blocks themselves declare, in this file."""
    around = dict(frames(analysed.program))
    return [
        name
        for name in analysed.names
        if name.declares
        and name.span.source.name == analysed.source.name
        and (
            isinstance(name.node, ast.FunctionDef)
            or (isinstance(name.node, ast.Declaration) and is_top(around[name.node]))
        )
    ]


def is_top(around: tuple[ast.Node | BlockName, ...]) -> bool:
    return isinstance(around[0], ast.Program) and (len(around) == 1 or around[1:] == (BlockName.MODEL,))


def inside(inner: types.Range, whole: types.Range) -> bool:
    return before(whole.start, inner.start) and before(inner.end, whole.end)


def symbol(name: Name, positions: Positions) -> types.DocumentSymbol:
    function = isinstance(name.node, ast.FunctionDef)
    return types.DocumentSymbol(
        name=name.text,
        detail=declaration(name),
        kind=types.SymbolKind.Function if function else types.SymbolKind.Variable,
        range=positions.range(name.node.span),
        selection_range=positions.range(name.span),
    )
