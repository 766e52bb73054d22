"""The server: each request of the protocol handed to the function that answers it."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from ppl.cli.lsp.completion import completions, documented, signature_help
from ppl.cli.lsp.diagnostics import actions, diagnostics, workspace_edit
from ppl.cli.lsp.documents import Document, Documents, View, corresponding_line
from ppl.cli.lsp.expected import in_comment
from ppl.cli.lsp.hover import hover
from ppl.cli.lsp.outline import outline
from ppl.cli.lsp.positions import Positions, file_of, uri_of
from ppl.cli.lsp.rename import renamed
from ppl.cli.lsp.symbols import Name, definition, same
from ppl.errors import ArgumentError, ModelError, PPLError
from ppl.kernel.language.include import read_text
from ppl.programs.format import format_program
from ppl.source import SourceText, Span
from ppl.system.distribution import VERSION

PAUSE = 0.15
"""Seconds without a key until a text is checked."""
PART = ".stanfunctions"
"""The suffix of a file that is no program: it is checked as part of those that include it."""


class Server(LanguageServer):
    """The open texts, and the files that have diagnostics now by the text that these are of."""

    def __init__(self, pedantic: bool):
        super().__init__("ppl", VERSION, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.pedantic = pedantic
        self.documents = Documents()
        self.published: dict[str, frozenset[str]] = {}

    @property
    def positions(self) -> Positions:
        return Positions(self.workspace.position_codec.client_num_units)

    def document(self, uri: str) -> Document:
        return self.documents.at(file_of(uri))

    def views(self, uri: str, position: types.Position) -> list[View]:
        file = file_of(uri)
        source = self.documents.at(file).source
        place, offset = self.positions.place(source, position), self.positions.offset(source, position)
        return list(self.documents.views(file, *place, word_around(source.text, offset)))

    def named(self, uri: str, position: types.Position) -> tuple[View, Name] | None:
        """The first view in which a name there means something of a program."""
        views = ((view, view.name) for view in self.views(uri, position))
        return next(((v, name) for v, name in views if name is not None and name.meaning is not None), None)

    def location(self, view: View, span: Span, uri: str) -> types.Location:
        """Where a span is; in a text that has changed since, on the line that was the same."""
        file = span.source.name
        if file == file_of(uri):
            return types.Location(uri, self.positions.range(self.now(view, span)))
        return types.Location(uri_of(file), self.positions.range(span))

    def now(self, view: View, span: Span) -> Span:
        """A span of an earlier version in the present one."""
        present = self.documents.at(view.file).source
        line = span.line if span.source is present else corresponding_line(span.source, present, span.line)
        shift = (line or span.line) - span.line
        return Span(present, span.line + shift, span.column, span.end_line + shift, span.end_column)

    def publish(self, file: str) -> None:
        """The diagnostics of a text, unless it is part of an open program, which then has them."""
        document = self.documents.open.get(file)
        if document is None:
            return
        outer = self.documents.includers(file)
        if not outer and file.endswith(PART):
            self.send(file, [])
            return
        for owner in outer or [document]:
            own = owner.source.name
            by_file = diagnostics(owner.analysis, self.positions, self.pedantic)
            for each in self.published.get(own, frozenset()) - by_file.keys():
                self.send(each, [])
            for each, of_file in by_file.items():
                self.send(each, of_file)
            self.published[own] = frozenset(by_file)

    def send(self, file: str, of_file: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri_of(file), of_file))


def made(pedantic: bool) -> Server:
    """A server that waits for its first message; `pedantic` warns of everything doubtful."""
    server = Server(pedantic)
    synchronisation(server)
    looking(server)
    writing(server)
    changing(server)
    return server


# --- What is open --------------------------------------------------------------------------------


def synchronisation(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        file = file_of(params.text_document.uri)
        ls.documents.update(file, params.text_document.text)
        ls.publish(file)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        file = file_of(params.text_document.uri)
        ls.documents.update(file, params.content_changes[-1].text)
        document = ls.documents.open[file]
        await asyncio.sleep(PAUSE)
        if ls.documents.open.get(file) is document:  # no later version has come
            ls.publish(file)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        file = file_of(params.text_document.uri)
        if ls.documents.includers(file):
            ls.documents.refresh()
            ls.publish(file)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        file = file_of(params.text_document.uri)
        ls.documents.close(file)
        for each in ls.published.pop(file, frozenset()):
            ls.send(each, [])


# --- Looking -------------------------------------------------------------------------------------


def looking(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(ls: Server, params: types.HoverParams) -> types.Hover | None:
        return hover(ls.views(params.text_document.uri, params.position))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def defined(ls: Server, params: types.DefinitionParams) -> types.Location | None:
        uri = params.text_document.uri
        if (named := ls.named(uri, params.position)) is None:
            return None
        view, name = named
        place = definition(view.analysis.names, name)
        return ls.location(view, place.span, uri) if place else None

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def referenced(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        uri = params.text_document.uri
        if (named := ls.named(uri, params.position)) is None:
            return []
        view, name = named
        with_declaration = params.context.include_declaration
        every = (n for n in same(view.analysis.names, name) if with_declaration or not n.declares)
        return [ls.location(view, n.span, uri) for n in every]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return outline(ls.document(params.text_document.uri).analysis, ls.positions)


def word_around(text: str, offset: int) -> str:
    """The word that an offset is in or at the end of; an empty one in a comment."""
    if in_comment(text, offset):
        return ""
    before, after = re.search(r"\w*\Z", text[:offset]), re.match(r"\w*", text[offset:])
    return (before[0] if before else "") + (after[0] if after else "")


# --- Writing -------------------------------------------------------------------------------------


def writing(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(resolve_provider=True))
    def completed(ls: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
        view, source, offset = in_scope(ls, params.text_document.uri, params.position)
        return completions(view, source, offset)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolved(ls: Server, item: types.CompletionItem) -> types.CompletionItem:
        return documented(item)

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ",", "|"])
    )
    def called(ls: Server, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        view, source, offset = in_scope(ls, params.text_document.uri, params.position)
        return signature_help(view, source, offset, ls.positions)


def in_scope(ls: Server, uri: str, position: types.Position) -> tuple[View, SourceText, int]:
    """The present view where it has a program, else the last good one; the text and the offset in it."""
    views, source = ls.views(uri, position), ls.document(uri).source
    best = next((view for view in views if view.analysis.names), views[0])
    return best, source, ls.positions.offset(source, position)


# --- Changing ------------------------------------------------------------------------------------


def changing(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(ls: Server, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        _, name = to_rename(ls, params.text_document.uri, params.position)
        return types.PrepareRenamePlaceholder(ls.positions.range(name.span), name.text)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit:
        view, name = to_rename(ls, params.text_document.uri, params.position)
        analysed = view.analysis
        try:
            fixes = renamed(analysed.program, analysed.facts, name, params.new_name)
        except ArgumentError as error:
            raise refused(str(error)) from None
        refuse_unsaved(ls, {fix.span.source.name for fix in fixes})
        return workspace_edit(fixes, ls.positions)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(ls: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        source = ls.document(params.text_document.uri).source
        try:
            text = format_program(source, [Path(source.name).parent])
        except ModelError:
            return None  # its diagnostics say why
        whole = types.Range(types.Position(0, 0), types.Position(len(source.lines), 0))
        return [types.TextEdit(whole, text)] if text != source.text else []

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def mended(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        file = file_of(uri)
        programs: Sequence[Document] = ls.documents.includers(file) or [ls.document(uri)]
        return [
            a for d in programs for a in actions(d.analysis, file, params.range, ls.positions, ls.pedantic)
        ]


def to_rename(ls: Server, uri: str, position: types.Position) -> tuple[View, Name]:
    """The name there, in a program without errors: a use in a wrong statement would be missed."""
    if (named := ls.named(uri, position)) is None:
        raise refused("There is no variable or function of the program here.")
    view, name = named
    own = view.analysis.source.name == view.file
    errors = ls.document(uri).analysis.errors if own else view.analysis.errors
    if errors:
        raise refused(f"Fix the errors first, such as that on line {errors[0].line}: {errors[0].message}")
    return view, name


def refuse_unsaved(ls: Server, files: set[str]) -> None:
    """Included files are read as they are on the disk."""
    for file in files:
        document = ls.documents.open.get(file)
        if document is not None and ls.documents.includers(file):
            try:
                saved = read_text(Path(file)).text
            except (PPLError, OSError):
                saved = None
            if saved != document.source.text:
                raise refused(f"Save {file} first: other programs include it.")


def refused(message: str) -> JsonRpcInvalidParams:
    return JsonRpcInvalidParams(message[0].upper() + message[1:])
