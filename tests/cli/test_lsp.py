"""`ppl lsp` as an editor meets it: a process that a client of the protocol talks to."""

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest

from ppl.cli.main import main

pygls = pytest.importorskip("pygls", reason='needs pygls: pip install "pygls>=2"')
from lsprotocol import types  # noqa: E402
from pygls.exceptions import JsonRpcException  # noqa: E402
from pygls.lsp.client import LanguageClient  # noqa: E402

START = [sys.executable, "-c", "import sys; from ppl.cli.main import main; main(sys.argv[1:])", "lsp"]
PATIENCE = 60
"""Seconds until an answer is taken for lost, on a machine with much else to do."""

MODEL = """\
functions {
  real twice(real x) {
    return 2 * x;
  }
  real mine_lpdf(real y, real mu) {
    return -square(y - mu);
  }
}
data {
  int<lower=0> N;
  vector[N] y; // 😀 smile
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  real scaled = twice(mu);
  mu ~ mine(0);
  sigma ~ mine(scaled);
  for (i in 1:N) {
    y[i] ~ normal(mu, sigma);
  }
}
"""


class Editor:
    """A client with its own event loop; `call` waits for an answer, `said` keeps what the server sends."""

    def __init__(self, folder, *options, encodings=None):
        self.folder, self.published, self.versions = folder, {}, {}
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.client = LanguageClient("editor", "1")
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.hear(params))
        self.wait(self.client.start_io(*START, *options))
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        self.server = self.wait(
            self.client.initialize_async(
                types.InitializeParams(types.ClientCapabilities(general=general), root_uri=folder.as_uri())
            )
        )
        self.client.initialized(types.InitializedParams())

    def wait(self, answer):
        return asyncio.run_coroutine_threadsafe(answer, self.loop).result(PATIENCE)

    def hear(self, params):
        self.published.setdefault(params.uri, []).append(list(params.diagnostics))

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, text, name="program.stan"):
        """The text as diagnosed; the file is written, as an editor finds it."""
        (self.folder / name).write_text(text, encoding="utf-8")
        before = len(self.published.get(self.uri(name), []))
        item = types.TextDocumentItem(self.uri(name), "stan", 1, text)
        self.notify(self.client.text_document_did_open, types.DidOpenTextDocumentParams(item))
        return self.diagnosed(name, before + 1)

    def change(self, text, name="program.stan"):
        uri = self.uri(name)
        self.versions[uri] = self.versions.get(uri, 1) + 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        before = len(self.published.get(uri, []))
        params = types.DidChangeTextDocumentParams(document, [whole])
        self.notify(self.client.text_document_did_change, params)
        return self.diagnosed(name, before + 1)

    def notify(self, method, params):
        self.loop.call_soon_threadsafe(method, params)

    def diagnosed(self, name="program.stan", times=1):
        """What was said of a file, once it has been that often."""
        end = time.monotonic() + PATIENCE
        while len(self.published.get(self.uri(name), [])) < times:
            assert time.monotonic() < end, "no diagnostics came"
            time.sleep(0.005)
        return self.published[self.uri(name)][-1]

    def ask(self, method, kind, position=None, name="program.stan", **more):
        document = types.TextDocumentIdentifier(self.uri(name))
        where = {} if position is None else {"position": position}
        return self.wait(getattr(self.client, method)(kind(text_document=document, **where, **more)))

    def hover(self, position, name="program.stan"):
        found = self.ask("text_document_hover_async", types.HoverParams, position, name)
        return found.contents.value if found else None

    def definition(self, position, name="program.stan"):
        return self.ask("text_document_definition_async", types.DefinitionParams, position, name)

    def completion(self, position):
        return self.ask("text_document_completion_async", types.CompletionParams, position)

    def labels(self, text):
        """What is offered at the @ of a text."""
        at = place(text, "@")
        self.change(text.replace("@", ""))
        return {item.label: item for item in self.completion(at)}

    def rename(self, position, new, name="program.stan"):
        return self.ask("text_document_rename_async", types.RenameParams, position, name, new_name=new)

    def actions(self, span, name="program.stan"):
        context = types.CodeActionContext([])
        params = {"range": span, "context": context}
        return self.ask("text_document_code_action_async", types.CodeActionParams, None, name, **params)

    def close(self):
        self.wait(self.client.shutdown_async(None))
        self.notify(self.client.exit, None)
        self.wait(asyncio.wait_for(self.ended(), PATIENCE))
        self.loop.call_soon_threadsafe(self.loop.stop)

    async def ended(self):
        await self.client._server.wait()


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    editor = Editor(tmp_path_factory.mktemp("editor"))
    yield editor
    editor.close()


@pytest.fixture
def editor(process, tmp_path):
    """The one process, in a folder of its own, with nothing open before and after."""
    process.folder = tmp_path
    yield process
    for uri in process.published:
        document = types.TextDocumentIdentifier(uri)
        params = types.DidCloseTextDocumentParams(document)
        process.notify(process.client.text_document_did_close, params)
    process.published = {}


def place(text, what, times=1, inside=0):
    """Where a word stands, the so many-th time, in the positions of the protocol."""
    at = -1
    for _ in range(times):
        at = text.index(what, at + 1)
    at += inside
    line = text.count("\n", 0, at)
    begin = text.rfind("\n", 0, at) + 1
    return types.Position(line, len(text[begin:at].encode("utf-16-le")) // 2)


def applied(text, edits):
    """The text with the edits made, the last first; positions count UTF-16, as the client does."""
    lines = text.split("\n")

    def offset(position):
        if position.line >= len(lines):
            return len(text)
        units = lines[position.line].encode("utf-16-le")[: 2 * position.character]
        return sum(len(line) + 1 for line in lines[: position.line]) + len(units.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


# --- Diagnostics ---------------------------------------------------------------------------------


def test_a_right_program_has_none(editor):
    assert editor.open(MODEL) == []


def test_errors_as_one_types(editor):
    editor.open(MODEL)
    found = editor.change(MODEL.replace("sigma);", "sgma);").replace("real mu;", "real mu"))
    assert [(d.code, d.severity, d.source) for d in found] == [
        ("PPL173", types.DiagnosticSeverity.Error, "ppl"),
        ("PPL201", types.DiagnosticSeverity.Error, "ppl"),
    ]
    assert found[1].message == "`sgma` is not declared.\nDid you mean `sigma`?"
    start = place(MODEL, "sigma);")
    assert found[1].range == types.Range(start, types.Position(start.line, start.character + 4))
    assert editor.change(MODEL) == []


def test_keys_in_quick_succession_are_checked_once(editor):
    editor.open(MODEL)
    uri = editor.uri("program.stan")
    for k in range(10):
        document = types.VersionedTextDocumentIdentifier(2 + k, uri)
        whole = types.TextDocumentContentChangeWholeDocument(MODEL + "//" * k)
        params = types.DidChangeTextDocumentParams(document, [whole])
        editor.notify(editor.client.text_document_did_change, params)
    editor.diagnosed(times=2)
    time.sleep(0.5)
    assert len(editor.published[uri]) <= 4


@pytest.mark.rotate
def test_warnings_and_what_is_doubtful(editor, tmp_path):
    text = "data { int N; }\nparameters {\n  real mu;\n}\nmodel {\n  mu ~ normal(1 / 2, 1);\n}\n"
    pedantic = Editor(tmp_path, "--pedantic")
    for each, codes in ((editor, ["PPL005"]), (pedantic, ["PPL003", "PPL005"])):
        found = each.open(text)
        assert [d.code for d in found] == codes
        assert found[-1].severity is types.DiagnosticSeverity.Warning
    pedantic.close()


def test_mistakes_in_an_included_file_stand_there(editor):
    (editor.folder / "lib.stanfunctions").write_text("real f(real x) { return y; }\n")
    assert editor.open("functions {\n#include lib.stanfunctions\n}\nmodel {}\n") == []
    (found,) = editor.diagnosed("lib.stanfunctions")
    assert found.code == "PPL201" and found.range.start == types.Position(0, 24)
    opened = editor.open("real f(real x) { return y; }\n", "lib.stanfunctions")
    assert [d.code for d in opened] == ["PPL201"]


def test_functions_alone_are_no_wrong_program(editor):
    library = "real f(real x) { return y; }\n"
    assert editor.open(library, "lib.stanfunctions") == []
    editor.open("functions {\n#include lib.stanfunctions\n}\nmodel {}\n")
    (found,) = editor.diagnosed("lib.stanfunctions", times=2)
    assert found.code == "PPL201"


def test_a_missing_include_is_said(editor):
    (found,) = editor.open("#include nowhere.stan\nmodel {}\n")
    assert found.code == "PPL180" and found.range.start == types.Position(0, 0)


@pytest.mark.rotate
def test_places_count_utf16_or_as_the_client_wants(editor, tmp_path):
    text = "model { /* 😀 */ real a = b; }\n"
    others = [Editor(tmp_path, encodings=[encoding]) for encoding in ("utf-32", "utf-8")]
    for each, column in zip((editor, *others), (26, 25, 28), strict=True):
        (found,) = each.open(text)
        assert found.code == "PPL201" and found.range.start.character == column
        assert "PPL201" in each.hover(found.range.start)
    for each in others:
        each.close()


# --- Looking -------------------------------------------------------------------------------------


def test_hover(editor):
    editor.open(MODEL)
    assert "```stan\nreal<lower=0> sigma;\n```\nreal, of the parameters block, line 15" in editor.hover(
        place(MODEL, "sigma);")
    )
    assert "vector, of the data block" in editor.hover(place(MODEL, "y[i]"))
    assert "```stan\nreal twice(real x)\n```" in editor.hover(place(MODEL, "twice(mu)", inside=5))
    assert "real mine_lpdf(real y | real mu)" in editor.hover(place(MODEL, "mine(0)"))
    assert "loop variable" in editor.hover(place(MODEL, "i]"))
    assert "argument of a function" in editor.hover(place(MODEL, "x;"))
    page = editor.hover(place(MODEL, "normal"))
    assert "normal with mean mu and standard deviation sigma" in page and "sigma    is positive" in page
    assert "x * x" in editor.hover(place(MODEL, "square")) or "square" in editor.hover(place(MODEL, "square"))
    assert "2 * x\n```\nreal" in editor.hover(place(MODEL, "* x"))
    assert editor.hover(place(MODEL, "smile")) is None


def test_a_closed_text_is_an_empty_one(editor):
    editor.open("parameters { real mu; } model { mu ~ normal(0, 1); }")
    editor.diagnosed()
    at = types.Position(0, 40)
    assert "normal" in editor.hover(at)
    closed = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri("program.stan")))
    editor.notify(editor.client.text_document_did_close, closed)
    assert editor.hover(at) is None and editor.definition(at) is None
    assert editor.ask("text_document_document_symbol_async", types.DocumentSymbolParams) == []
    options = {"options": types.FormattingOptions(tab_size=2, insert_spaces=True)}
    assert editor.ask("text_document_formatting_async", types.DocumentFormattingParams, **options) == ()
    assert editor.completion(at)
    with pytest.raises(JsonRpcException, match="no variable or function"):
        editor.rename(at, "nu")


def test_hover_on_a_mistake_has_the_page_of_its_message(editor):
    text = MODEL.replace("sigma);", "sgma);")
    editor.open(text)
    assert "PPL201: " in editor.hover(place(text, "sgma"))
    editor.change(MODEL)
    editor.change(text)
    assert editor.hover(place(text, "sgma")).startswith("PPL201: ")  # not what stood there before


def test_definition(editor):
    editor.open(MODEL)
    found = editor.definition(place(MODEL, "sigma);", inside=2))
    assert found.uri == editor.uri("program.stan")
    assert found.range == types.Range(place(MODEL, "sigma"), place(MODEL, "sigma", inside=5))
    assert editor.definition(place(MODEL, "mine(0)")).range.start == place(MODEL, "mine_lpdf")
    assert editor.definition(place(MODEL, "i]")).range.start == place(MODEL, "i in 1")
    assert editor.definition(place(MODEL, "twice(mu", inside=6)).range.start == place(
        MODEL, "real mu;", inside=5
    )
    assert editor.definition(place(MODEL, "normal")) is None


def test_definition_in_an_included_file(editor):
    library = "/* 😀 */ real f(real x) { return x; }\n"
    (editor.folder / "lib.stanfunctions").write_text(library, encoding="utf-8")
    text = "functions {\n#include lib.stanfunctions\n}\nmodel {\n  target += f(1);\n}\n"
    editor.open(text)
    found = editor.definition(place(text, "f(1)"))
    assert found.uri == editor.uri("lib.stanfunctions") and found.range.start == place(library, "f(real")
    editor.open(library, "lib.stanfunctions")
    found = editor.definition(place(library, "x; }"), "lib.stanfunctions")
    assert found.uri == editor.uri("lib.stanfunctions") and found.range.start == place(library, "x)")


def test_references(editor):
    editor.open(MODEL)
    context = types.ReferenceContext(include_declaration=True)
    method = "text_document_references_async"
    found = editor.ask(method, types.ReferenceParams, place(MODEL, "mine(0)"), context=context)
    assert [f.range.start.line for f in found] == [4, 18, 19]


@pytest.mark.parametrize(
    "broken",
    [
        MODEL.replace("mu ~ mine(0);", "mu ~ mine(0"),
        MODEL.replace("model {", "model {\n  y ~ normal(("),
        MODEL.replace("data {\n", "data {{{\n"),
        MODEL.replace("normal(mu, sigma);", "normal(\n\n   mu +, sigma);"),
    ],
)
def test_a_syntax_error_leaves_the_rest_as_it_was(editor, broken):
    editor.open(MODEL)
    assert editor.change(broken) != []
    assert "real<lower=0> sigma;" in editor.hover(place(broken, "sigma);"))
    assert editor.definition(place(broken, "sigma);")).range.start == place(broken, "sigma")


def test_outline(editor):
    editor.open(MODEL)
    found = editor.ask("text_document_document_symbol_async", types.DocumentSymbolParams)
    assert [(b.name, [c.name for c in b.children]) for b in found] == [
        ("functions", ["twice", "mine_lpdf"]),
        ("data", ["N", "y"]),
        ("parameters", ["mu", "sigma"]),
        ("model", ["scaled"]),
    ]
    assert found[2].children[1].detail == "real<lower=0> sigma;"


# --- Writing -------------------------------------------------------------------------------------


def test_completion_of_words_by_block(editor):
    editor.open(MODEL)
    assert {"model", "parameters", "transformed data"} <= editor.labels("data { int N; }\n@").keys()
    assert "data" not in editor.labels("data { int N; }\n@")
    assert {"int", "vector", "simplex", "array"} <= editor.labels("data {\n  @\n}\n").keys()
    assert editor.labels("data {\n  real<@> x;\n}\n").keys() == {"lower", "upper", "offset", "multiplier"}
    local = editor.labels("model {\n  @\n}\n").keys()
    assert {"for", "if", "target", "real", "normal_lpdf"} <= local
    assert not {"simplex", "return", "jacobian", "normal_rng"} & local
    assert "normal_rng" in editor.labels("generated quantities {\n  real a = no@;\n}\n")
    assert editor.labels("model {\n  real @\n}\n") == {}
    assert editor.labels("model {\n  // real a = @\n}\n") == {}


def test_completion_of_names(editor):
    editor.open(MODEL)
    distributions = editor.labels(MODEL.replace("normal(mu, sigma);", "n@"))
    assert {"normal", "neg_binomial_2", "mine"} <= distributions.keys()
    assert not {"sigma", "exp", "normal_lpdf"} & distributions.keys()
    assert distributions["normal"].detail == "y ~ normal(mu, sigma)"
    inside = editor.labels(MODEL.replace("normal(mu, sigma);", "normal(@"))
    assert {"mu", "sigma", "y", "N", "i", "scaled", "twice", "exp"} <= inside.keys() and "x" not in inside
    assert inside["y"].detail == "vector (data)"
    assert (
        not {"scaled", "i"}
        & editor.labels(MODEL.replace("real scaled = twice", "real b = @; real c = ")).keys()
    )
    own = editor.labels(MODEL.replace("2 * x", "2 * @")).keys()
    assert "x" in own and "mu" not in own


def test_completion_shows_a_page(editor):
    editor.open(MODEL)
    normal = editor.labels(MODEL.replace("normal(mu, sigma);", "n@"))["normal"]
    resolved = editor.wait(editor.client.completion_item_resolve_async(normal))
    assert "standard deviation sigma" in resolved.documentation.value


def test_signature_help(editor):
    editor.open(MODEL)
    method, kind = "text_document_signature_help_async", types.SignatureHelpParams

    def help(text):
        at = place(text, "@")
        editor.change(text.replace("@", ""))
        found = editor.ask(method, kind, at)
        return found and (found.signatures[found.active_signature], found.active_parameter)

    signature, active = help(MODEL.replace("normal(mu, sigma);", "normal(mu, @"))
    assert (signature.label, active) == ("y ~ normal(mu, sigma)", 1)
    a, b = signature.parameters[1].label
    assert signature.label[a:b] == "sigma"
    signature, active = help(MODEL.replace("twice(mu)", "twice(@mu)"))
    assert (signature.label, active) == ("real twice(real x)", 0)
    signature, active = help(MODEL.replace("twice(mu)", "fma(1, exp(2), @)"))
    assert signature.label.startswith("T fma(") and active == 2
    signature, active = help(MODEL.replace("mine(0)", "mine(@"))
    assert (signature.label, active) == ("y ~ mine(mu)", 0)
    assert help(MODEL.replace("real mu;", "real mu@;")) is None


# --- Changing ------------------------------------------------------------------------------------


def changed(editor, text, what, new, **where):
    editor.change(text)
    edit = editor.rename(place(text, what, **where), new)
    assert list(edit.changes) == [editor.uri("program.stan")]
    return applied(text, edit.changes[editor.uri("program.stan")])


def test_rename(editor):
    editor.open(MODEL)
    assert changed(editor, MODEL, "sigma", "tau") == MODEL.replace("sigma", "tau")
    assert changed(editor, MODEL, "i in", "row") == MODEL.replace("(i in", "(row in").replace(
        "y[i]", "y[row]"
    )
    assert changed(editor, MODEL, "twice(mu)", "double_of") == MODEL.replace("twice", "double_of")
    assert changed(editor, MODEL, "mine(0)", "own") == MODEL.replace("mine", "own")
    assert changed(editor, MODEL, "mine_lpdf", "own_lpdf") == MODEL.replace("mine", "own")
    renamed = changed(editor, MODEL, "mu)", "m", times=1)
    assert "real y, real m)" in renamed and "square(y - m)" in renamed and "real mu;" in renamed
    assert changed(editor, MODEL, "y; // 😀", "z").count("z") == 2


@pytest.mark.parametrize(
    ("what", "new", "why"),
    [
        ("sigma", "for", "reserved word"),
        ("sigma", "a b", "cannot be a name"),
        ("sigma", "x__", "cannot be a name"),
        ("sigma", "mu", "`mu` is in use on line 14"),
        ("sigma", "i", "`i` is in use"),
        ("sigma", "twice", "`twice` is in use"),
        ("twice", "exp", "of the library"),
        ("twice", "mu", "is in use"),
        ("twice", "f_rng", "ends in `_rng`"),
        ("mine_lpdf", "own", "must end in `_lpdf`"),
        ("mine_lpdf", "normal_lpdf", "of the library"),
        ("normal", "gauss", "no variable or function"),
    ],
)
def test_rename_refuses(editor, what, new, why):
    editor.open(MODEL)
    with pytest.raises(JsonRpcException, match=why):
        editor.rename(place(MODEL, what), new)


def test_a_local_name_may_be_used_elsewhere(editor):
    editor.open(MODEL)
    renamed = changed(editor, MODEL, "x)", "sigma")
    assert "real twice(real sigma) {\n    return 2 * sigma;" in renamed
    assert editor.change(renamed) == []


def test_rename_wants_a_right_program(editor):
    text = MODEL.replace("mu ~ mine(0);", "mu ~ mine(0)")
    editor.open(text)
    with pytest.raises(JsonRpcException, match="Fix the errors first, such as that on line 19"):
        editor.rename(place(text, "sigma"), "tau")


def test_rename_goes_into_included_files(editor):
    library = "real f(real x) { return x; }\n"
    (editor.folder / "lib.stanfunctions").write_text(library)
    text = "functions {\n#include lib.stanfunctions\n}\nmodel {\n  target += f(1);\n}\n"
    editor.open(text)
    edit = editor.rename(place(text, "f(1)"), "g")
    assert applied(text, edit.changes[editor.uri("program.stan")]) == text.replace("f(1)", "g(1)")
    assert applied(library, edit.changes[editor.uri("lib.stanfunctions")]) == library.replace("f(", "g(")
    editor.open(library, "lib.stanfunctions")
    editor.change("\n" + library, "lib.stanfunctions")
    with pytest.raises(JsonRpcException, match=r"Save .*first"):
        editor.rename(place(text, "f(1)"), "g")


def test_prepare_rename(editor):
    editor.open(MODEL)
    method = "text_document_prepare_rename_async"
    found = editor.ask(method, types.PrepareRenameParams, place(MODEL, "sigma);", inside=3))
    assert found.placeholder == "sigma" and found.range.start == place(MODEL, "sigma);")


def test_format(editor):
    untidy = "parameters{real mu;} // 😀\nmodel{mu~normal( 0,1 );}"
    editor.open(untidy)
    options = {"options": types.FormattingOptions(tab_size=2, insert_spaces=True)}
    method, kind = "text_document_formatting_async", types.DocumentFormattingParams
    edits = list(editor.ask(method, kind, **options))
    path = editor.folder / "program.stan"
    words = [*START[:-1], "format", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=True)
    assert applied(untidy, edits) == done.stdout and done.stdout != untidy
    editor.change(done.stdout)
    assert list(editor.ask(method, kind, **options)) == []
    editor.change("parameters { real")
    assert not editor.ask(method, kind, **options)


@pytest.mark.parametrize(
    ("right", "wrong", "title"),
    [
        ("sigma);", "sgma);", "Change `sgma` to `sigma`"),
        ("real mu;", "real mu", "Insert `;`"),
        ("real scaled = twice(mu);", "real scaled; scaled <- twice(mu);", "Change `<-` to `=`"),
        ("vector[N] y;", "real y[N];", "Change `real y[N]` to `array[N] real y`"),
    ],
)
def test_fixes(editor, right, wrong, title):
    editor.open(MODEL)
    text = MODEL.replace(right, wrong)
    (found,) = editor.change(text)
    (action,) = editor.actions(found.range)
    assert action.title == title and action.is_preferred and list(action.diagnostics) == [found]
    mended = applied(text, action.edit.changes[editor.uri("program.stan")])
    assert editor.change(mended) == []
    start = types.Position(0, 0)
    assert list(editor.actions(types.Range(start, start))) == []


# --- The process ---------------------------------------------------------------------------------


def test_hostile_text_ends_nothing(editor):
    editor.open(MODEL)
    deep = "model { real x = " + "-" * 400 + "1" + " + 1" * 900 + "; }"
    for text in ("{" * 5000, "model { " + "(" * 3000, "\x00\ufffd\u2028model {", "real x = '" * 50, deep, ""):
        editor.change(text)
        editor.completion(types.Position(0, len(text)))
        editor.hover(types.Position(0, 0))
        editor.hover(types.Position(99, 99))
    assert editor.change(MODEL) == []


def test_a_text_that_is_no_file_yet(editor):
    item = types.TextDocumentItem("untitled:Untitled-1", "stan", 1, "parameters { real x }")
    editor.notify(editor.client.text_document_did_open, types.DidOpenTextDocumentParams(item))
    end = time.monotonic() + PATIENCE
    while "untitled:Untitled-1" not in editor.published and time.monotonic() < end:
        time.sleep(0.01)
    assert [d.code for d in editor.published["untitled:Untitled-1"][-1]] == ["PPL173"]


@pytest.mark.rotate
def test_it_ends_with_its_client():
    """Nothing but the protocol on standard output, and the end of input is the end."""
    done = subprocess.run(START, input=b"", capture_output=True, timeout=PATIENCE, env={**os.environ})
    assert done.returncode == 0 and done.stdout == b""


@pytest.mark.rotate
def test_a_header_without_an_end_ends_it_with_a_sentence():
    done = subprocess.run(START, input=b"X: y\r\n" * 100_000, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 1 and done.stdout == b""
    assert b"no message behind 1000 lines of a header" in done.stderr and b"Traceback" not in done.stderr


@pytest.mark.rotate
@pytest.mark.parametrize(("length", "status"), [(99999999999, 1), ("9" * 5000, 0)])
def test_a_length_that_no_message_has_ends_it_with_a_sentence(length, status):
    message = f"Content-Length: {length}\r\n\r\n{{}}".encode()
    done = subprocess.run(START, input=message, capture_output=True, timeout=PATIENCE)
    assert done.returncode == status and done.stdout == b"" and b"Traceback" not in done.stderr
    assert (b"announces a message of 99999999999 bytes" in done.stderr) == bool(status)


@pytest.mark.rotate
def test_without_pygls(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    monkeypatch.setattr("ppl.system.distribution._origin", lambda: ("", {}))
    with pytest.raises(SystemExit) as exit:
        main(["lsp"])
    assert exit.value.code == 1
    says = " ".join(capsys.readouterr().err.split())
    assert says.startswith("ppl: The language server needs pygls")
    assert says.endswith('which is not installed: pip install "pygls>=2".')
