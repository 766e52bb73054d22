"""The short loop over Lark's tables makes Lark's trees."""

from pathlib import Path

import pytest
from lark import Token, Tree
from lark.exceptions import UnexpectedInput
from laws.every import every

from ppl.frontend.tables import fast, parser

ROOT = Path(__file__).parents[2]
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
    """What of a tree the builder looks at."""
    if isinstance(node, Tree):
        place = None if node.meta.empty else (node.meta.start_pos, node.meta.end_pos)
        return node.data, place, [shape(child) for child in node.children]
    return (node.type, str(node), node.start_pos, node.end_pos) if isinstance(node, Token) else node


@every("path", PROGRAMS)
def test_trees_of_programs(path):
    text = path.read_text()
    try:
        wanted = parser().parse(text)
    except UnexpectedInput:
        assert fast().run(text) is None
    else:
        assert shape(fast().run(text)) == shape(wanted)


@pytest.mark.parametrize("text", TEXTS)
def test_trees_of_texts(text):
    assert shape(fast().run(text)) == shape(parser().parse(text))


@every("cut", range(0, 150, 3))
def test_what_is_not_of_the_language_is_left_to_lark(cut):
    text = TEXTS[3] + TEXTS[2]
    for wrong in (text[:cut], text[:cut] + "§" + text[cut:], text[:cut] + text[cut + 1 :]):
        try:
            wanted = shape(parser().parse(wrong))
        except UnexpectedInput as error:
            assert fast().run(wrong) is None
            with pytest.raises(type(error)):
                fast().parse(wrong)
        else:
            assert shape(fast().run(wrong)) == wanted
