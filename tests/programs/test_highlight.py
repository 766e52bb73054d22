"""The grammar of editors loses nothing of a program, and knows its words."""

from pathlib import Path

import pytest

from tests.programs.scopes import highlighted

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*/*.model"))

PROGRAM = """\
// data
data { int<lower=0> N; /* how
many */ }
parameters { real mu; }
model { mu ~ normal(0, 1.5e1); print("a < b"); target += normal_lpdf(mu | 0, 1); }
"""


def scope(word: str) -> str:
    return next(scope for text, scope in highlighted(PROGRAM) if text == word)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("// data", "comment"),
        ("/* how\nmany */", "comment"),
        ("data", "keyword.other.block"),
        ("int", "storage.type"),
        ("normal", "support.function.distribution"),
        ("normal_lpdf", "support.function.distribution"),
        ("1.5e1", "constant.numeric"),
        ('"a < b"', "string"),
        ("mu", "variable"),
    ],
)
def test_words_have_their_scope(word, kind):
    assert scope(word).startswith(kind)


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.parent.name)
def test_nothing_is_lost_of_a_program(model):
    text = model.read_text("utf-8")
    assert "".join(part for part, _ in highlighted(text)) == text


@pytest.mark.parametrize("text", ["", "\n", "/* open", '"open\n', "\x00\u2603<b>&", "1e", "#include", "~ ~"])
def test_nothing_is_lost_of_what_is_no_program(text):
    assert "".join(part for part, _ in highlighted(text)) == text
