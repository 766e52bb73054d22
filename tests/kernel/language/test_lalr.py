"""The short loop over Lark's tables reads what Lark reads, in the same places."""

from pathlib import Path

import lark
import pytest
from lark.exceptions import UnexpectedInput, UnexpectedToken
from laws.every import every

from ppl.kernel.language.lalr import GrammarRule, Refusal, Token, fast, parser, reduced

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted([*ROOT.glob("models/**/*.model"), *ROOT.glob("tests/conformance/programs/**/*.stan")])
TEXTS = [
    "",
    "// nothing\n",
    "parameters { real x; } model { x ~ normal((((1)) + 2) * 3, -(4)); }",
    "model { real x = a ? b : c ? (d) : e; x[1, , 2:, :3] += (1, 2).1'; {} ; if (a) ; else b = {1, 2}; }",
    "functions { real f(data array[,] real x, tuple(int, real) t); void g() { return; } }",
    'data { array[2] int<lower=(1), upper=2> x; } generated quantities { print("a", 1); profile("p") { } }',
]


def shape(node):
    """What of Lark's tree the builder looks at; rules that begin with _ have given their symbols away."""
    if isinstance(node, lark.Tree):
        start, end = (0, 1) if node.meta.empty else (node.meta.start_pos, node.meta.end_pos)
        return str(node.data), start, end, [shape(child) for child in node.children]
    return node and (str(node), node.start_pos, node.end_pos)


def read(text):
    """The same as the loop makes it; where it reads no program, the offset and what could stand there."""
    try:
        return fast().run(text, lambda *parts: (*parts[:3], [*map(place, parts[3])]))
    except Refusal as refusal:
        return refusal.offset, refusal.accepts


def refused(text, error):
    """The same by Lark."""
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    return len(text) if ended else error.pos_in_stream, error.interactive_parser.accepts()


def place(child):
    return (str(child), child.start, child.end) if isinstance(child, Token) else child


@pytest.mark.rotate
@every("path", PROGRAMS)
def test_trees_of_programs(path):
    text = path.read_text()
    try:
        wanted = parser().parse(text)
    except UnexpectedInput as error:
        assert read(text) == refused(text, error)
    else:
        assert read(text) == shape(wanted)


@pytest.mark.parametrize("text", TEXTS)
def test_trees_of_texts(text):
    assert read(text) == shape(parser().parse(text))


@every("cut", range(0, 150, 3))
def test_what_is_not_of_the_language_is_refused_as_by_lark(cut):
    text = TEXTS[3] + TEXTS[2]
    for wrong in (text[:cut], text[:cut] + "§" + text[cut:], text[:cut] + text[cut + 1 :]):
        try:
            wanted = shape(parser().parse(wrong))
        except UnexpectedInput as error:
            assert read(wrong) == refused(wrong, error)
        else:
            assert read(wrong) == wanted


def test_statements_read_so_far_are_not_copied_for_the_next():
    repetition = GrammarRule("items", "items", 2, ((0, True), (1, True)), False, False, True)
    before = ["first"]
    items, start, end = reduced(repetition, [(0, before, 0, 5), (0, ["second"], 6, 12)], lambda *_: None)
    assert items is before and items == ["first", "second"] and (start, end) == (0, 12)
