"""The parts of the language server by themselves: places, versions, and texts that are broken anyhow."""

import random
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason='needs pygls: pip install "pygls>=2"')
from lsprotocol import types

from ppl.cli.lsp.completion import completions, parameters, signature_help
from ppl.cli.lsp.diagnostics import actions, diagnostics
from ppl.cli.lsp.documents import Documents, corresponding_line
from ppl.cli.lsp.hover import hover
from ppl.cli.lsp.outline import outline
from ppl.cli.lsp.positions import Positions, file_of, uri_of
from ppl.cli.lsp.server import word_around
from ppl.cli.lsp.symbols import definition, same
from ppl.source import SourceText

PACK = Path(__file__).parents[1] / "conformance"
PROGRAMS = sorted([*PACK.glob("programs/*.stan"), *PACK.glob("bad/*.stan")])
PIECES = (
    *("", "(", "{", "}", ";", "~", "<-", "/*", '"', "😀", "f(", "\n\n"),
    *("real x[3];", "y ~ ", "#include q\n", "target += "),
)
TEXTS = 150
"""As many broken texts are tried; a seed of their own makes the same ones each time."""
UTF16 = Positions(lambda text: len(text.encode("utf-16-le")) // 2)


def test_places_there_and_back():
    source = SourceText("a😀b\r\n\nzürich 😀", "/x.stan")
    for offset in range(len(source.text) + 1):
        if source.text[offset : offset + 1] != "\n" or source.text[offset - 1] != "\r":
            assert UTF16.offset(source, UTF16.at_offset(source, offset)) == offset
    assert UTF16.position(source, 1, 3) == types.Position(0, 3)
    assert UTF16.place(source, types.Position(0, 99)) == (1, 4)
    assert UTF16.offset(source, types.Position(99, 99)) == len(source.text)


def test_uris(tmp_path):
    path = tmp_path / "a b ü.stan"
    assert file_of(uri_of(str(path))) == str(path) and uri_of(str(path)) == path.as_uri()
    assert uri_of(file_of("untitled:Untitled-1")) == "untitled:Untitled-1"


@pytest.mark.parametrize(
    ("now", "then", "lines"),
    [
        ("a b c", "a b c", [1, 2, 3]),
        ("a x b c", "a b c", [1, None, 2, 3]),
        ("a c", "a b c", [1, 3]),
        ("a x c", "a b c", [1, 2, 3]),
        ("a x y c", "a b c", [1, None, None, 3]),
    ],
)
def test_where_a_line_was(now, then, lines):
    new, old = (SourceText(text.replace(" ", "\n")) for text in (now, then))
    assert [corresponding_line(new, old, k + 1) for k in range(len(lines))] == lines


def test_the_arguments_of_a_signature():
    label = "real f(array[,] real x | vector y, (real) => real g)"
    found = [label[a:b] for a, b in parameters(label)]
    assert found == ["array[,] real x", "vector y", "(real) => real g"]
    assert parameters("void f()") == []


@pytest.mark.rotate
def test_no_text_is_too_broken():
    """Every answer to every text, whatever was cut out of it or put in."""
    random_ = random.Random(1)
    everywhere = types.Range(types.Position(0, 0), types.Position(9999, 0))
    for _ in range(TEXTS // 3):
        documents, text = Documents(), random_.choice(PROGRAMS).read_text("utf-8")
        for _ in range(3):
            begin = random_.randrange(len(text) + 1)
            text = text[:begin] + random_.choice(PIECES) + text[begin + random_.choice([0, 1, 3, 20, 200]) :]
            documents.update("/x.stan", text)
            document = documents.open["/x.stan"]
            found = document.analysis
            assert diagnostics(found, UTF16, True) and outline(found, UTF16) is not None
            assert len(actions(found, "/x.stan", everywhere, UTF16, True)) <= 99
            offset = random_.randrange(len(text) + 1)
            line, column = UTF16.place(document.source, UTF16.at_offset(document.source, offset))
            views = list(documents.views("/x.stan", line, column, word_around(text, offset)))
            hover(views)
            for view in views:
                if (name := view.name) is not None and name.meaning is not None:
                    assert name in same(view.analysis.names, name)
                    assert definition(view.analysis.names, name) is not None
            completions(views[0], document.source, offset)
            signature_help(views[0], document.source, offset, UTF16)
