"""Names, scopes, renaming and what is expected at a place, over whole programs."""

import re
from pathlib import Path

import pytest

from ppl.cli.lsp.expected import WORDS, NamePlace, call_at, expected, stands_for, terminals
from ppl.cli.lsp.outline import blocks
from ppl.cli.lsp.rename import renamed
from ppl.cli.lsp.symbols import definition, names, place, same, visible
from ppl.errors import ArgumentError
from ppl.kernel.language import ast
from ppl.kernel.language.scope import BlockName
from ppl.programs.checked import analyse, examine
from ppl.source import SourceText

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    [
        *ROOT.glob("models/*/*.model"),
        *list((ROOT / "tests" / "conformance").glob("programs/*.stan"))[::3],
        *(ROOT / "tests" / "benchmarks").glob("verdicts/*/*.stan"),
    ]
)


def read(path):
    source = SourceText(path.read_text("utf-8"), str(path))
    return source, *analyse(source)


def applied(text, fixes):
    """The text with several changes made, the last first."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    for fix in sorted(fixes, key=lambda f: (f.span.line, f.span.column), reverse=True):
        at = fix.span
        text = (
            text[: starts[at.line - 1] + at.column - 1]
            + fix.text
            + text[starts[at.end_line - 1] + at.end_column - 1 :]
        )
    return text


def shape(program, facts):
    """Which names mean the same, by the number of the first of them; and the types of all expressions."""
    found = names(program, facts)
    first = {}
    for k, name in enumerate(found):
        if name.meaning is not None:
            for other in same(found, name):
                first.setdefault(place(other.span), k)
    return [first.get(place(name.span)) for name in found], [str(t) for t in facts.types.values()]


@pytest.mark.rotate
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_name_can_be_changed_and_the_program_stays_the_same(path):
    source, program, facts = read(path)
    found = names(program, facts)
    before, done = shape(program, facts), set()
    for name in [n for n in found if n.declares][:12]:
        if name.text in done:
            continue
        done.add(name.text)
        ending = re.search(r"(_(lu?p[dm]f|l?c?cdf|rng|lp|jacobian))?$", name.text)[0]
        new = f"another_name{ending}"
        text = applied(source.text, renamed(program, facts, name, new))
        assert shape(*analyse(SourceText(text))) == before


@pytest.mark.rotate
@pytest.mark.parametrize("path", PROGRAMS[::3], ids=lambda path: path.stem)
def test_a_name_that_is_in_use_is_refused_or_changes_nothing(path):
    """Whatever name of the program another one is given: what is not refused means the same."""
    source, program, facts = read(path)
    before = shape(program, facts)
    declared = [n for n in names(program, facts) if n.declares][:8]
    for name in declared:
        for other in declared:
            try:
                fixes = renamed(program, facts, name, other.text)
            except ArgumentError:
                continue
            assert shape(*analyse(SourceText(applied(source.text, fixes)))) == before


@pytest.mark.rotate
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_use_has_a_definition_that_is_visible_there(path):
    source, program, facts = read(path)
    found = names(program, facts)
    for name in found:
        assert name.span.text == name.text
        if name.meaning is None:
            continue
        declared = definition(found, name)
        assert declared is not None and declared.declares
        if isinstance(name.node, ast.Variable) and isinstance(declared.node, ast.Declaration):
            block = block_around(source.text, name.span)
            seen = visible(program, facts, block, source.name, name.span.line, name.span.column)
            assert declared.node in [node for _, node in seen]


def block_around(text, span):
    at = sum(len(line) + 1 for line in text.split("\n")[: span.line - 1]) + span.column - 1
    return next(block for block, start, _, end in blocks(text) if start <= at < end)


@pytest.mark.rotate
@pytest.mark.parametrize("path", PROGRAMS[::5], ids=lambda path: path.stem)
def test_what_stands_there_is_expected_there(path):
    """A word of the grammar among the words, a name where a name of its kind may stand."""
    source, program, facts = read(path)
    known = {place(n.span)[1:]: n for n in names(program, facts)}
    reserved = {part for word in WORDS for part in word.split()}
    for found in list(re.finditer(r"(?<![\w.#])[A-Za-z]\w*", source.text))[::4]:
        may, word = expected(source, found.start()), found[0]
        if may is None:  # in a comment or a string
            continue
        line = source.text.count("\n", 0, found.start()) + 1
        name = known.get((line, found.start() - source.text.rfind("\n", 0, found.start())))
        if name is not None and word != "target":
            assert may.place is kind(name), (word, may)
        elif word in reserved and word != "quantities":
            assert any(word in expected_word.split() for expected_word in may.words) or word in (
                "data",
                "parameters",
            )


def kind(name):
    if isinstance(name.node, ast.Tilde):
        return NamePlace.DISTRIBUTION
    return NamePlace.NOTHING if name.declares else NamePlace.VALUE


def test_every_word_of_the_grammar_is_offered():
    matched = {t for t in terminals() if any(stands_for(t, word) for word in WORDS)}
    left = {t for t, pattern in terminals().items() if re.search(r"[a-z]{3}", pattern.pattern)} - matched
    assert not left
    assert all(any(stands_for(t, word) for t in terminals()) for word in WORDS)


def test_what_is_expected_after_a_mistake():
    text = "data {\n  int N\n  real y;\n}\nmodel {\n  real a = b c;\n  y ~ "
    may = expected(SourceText(text), len(text))
    assert may.place is NamePlace.DISTRIBUTION and may.block is BlockName.MODEL and may.words == ()


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("model { y ~ normal(1, f(2, 3), ", ("normal", True, 2)),
        ("model { y ~ normal(1, f(2, {3, 4}, ", ("f", False, 2)),
        ("model { target += normal_lpdf(y | ", ("normal_lpdf", False, 1)),
        ("model { x = (1, ", None),
        ("model { f(1); ", None),
        ("model { f(1, // (\n ", ("f", False, 1)),
    ],
)
def test_the_call_around_a_place(text, call):
    assert call_at(SourceText(text), len(text)) == call


def test_a_program_with_errors_has_the_names_that_could_be_read():
    text = "data { int N; vector[N] y; }\nmodel { real a = N +; y ~ normal(N, 1); }\n"
    c = examine(SourceText(text))
    assert c.errors and [n.text for n in names(c.program, c.facts)][:3] == ["N", "y", "N"]
    assert {n.text for n in names(c.program, c.facts) if n.span.line == 2} == {"y", "normal", "N"}
